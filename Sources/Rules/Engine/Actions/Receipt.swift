import Platform

/// The result of a step, committed to the ledger once its effect is durable.
package struct Receipt: Sendable, Codable, Equatable {
    /// One line for `steward log`.
    package var summary: String
    /// For the templates of later steps.
    package var values: Values
    package var effects: [FileEffect]
    /// Set if this is only a part of the step: its effects count, and the step is decided again later.
    package var wait: StepWait?

    package init(_ summary: String, values: Values = [:], effects: [FileEffect] = []) {
        self.summary = summary
        self.values = values
        self.effects = effects
    }
}

/// What a step waits for, for people.
package struct StepWait: Sendable, Codable, Equatable {
    package let reason: String
    package let path: BytePath
    /// Whether the job is woken when the wait may be over (``Runner/wake(_:)``).
    package let isWatched: Bool

    package init(_ reason: String, path: BytePath, isWatched: Bool) {
        (self.reason, self.path, self.isWatched) = (reason, path, isWatched)
    }

    /// The error that makes a job wait.
    package var fault: Fault {
        Fault(.transient, reason, path: path, code: isWatched ? Fault.watched : Fault.inEditor)
    }
}

/// An effect on a file in a place. It tells the ledger which versions are the agent's own, so that the agent does not
/// react to its own writes.
package enum FileEffect: Sendable, Codable, Equatable {
    case created(BytePath, Fingerprint, ContentHash)
    /// `base` is the previous content.
    case wrote(BytePath, base: ContentHash, Fingerprint, ContentHash)
    case moved(BytePath, to: BytePath, Fingerprint, ContentHash)
    /// A whole folder, moved by one rename; the hash is ``FolderContents/digest``.
    case movedFolder(BytePath, to: BytePath, Fingerprint, ContentHash)
    case removed(BytePath)
    /// Only attributes changed.
    case touched(BytePath, Fingerprint, ContentHash)
    /// The attributes that changed, by ``FileAttribute/digests(_:)``, so that rules do not react to them. Without it,
    /// all attribute changes until the next look count as the agent's own.
    case attributed(BytePath, [String: String])

    /// The names that were added or removed.
    var names: [BytePath] {
        switch self {
        case .created(let path, _, _), .wrote(let path, _, _, _), .removed(let path): [path]
        case .moved(let from, let to, _, _), .movedFolder(let from, let to, _, _): [from, to]
        case .touched, .attributed: []
        }
    }

    /// The former path of something that was moved; nil for any other effect.
    package var origin: BytePath? {
        switch self {
        case .moved(let from, _, _, _), .movedFolder(let from, _, _, _): from
        case .created, .wrote, .removed, .touched, .attributed: nil
        }
    }
}

package enum Recovery: Sendable {
    case done(Receipt)
    /// It left no trace: decide and perform again.
    case notDone
    /// Cannot be determined; the job is parked with this message.
    case unknown(String)
}
