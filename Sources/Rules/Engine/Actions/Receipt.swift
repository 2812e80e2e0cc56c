import Platform

/// What a step leaves behind: committed to the ledger after its effect is durable.
package struct Receipt: Sendable, Codable, Equatable {
    /// One line for `steward log`.
    package var summary: String
    /// For the templates of later steps.
    package var values: Values
    package var effects: [FileEffect]

    package init(_ summary: String, values: Values = [:], effects: [FileEffect] = []) {
        self.summary = summary
        self.values = values
        self.effects = effects
    }
}

/// What happened to a file of a place at the file's new and old name: the ledger learns from it which versions are
/// the agent's own, so that it never takes its own writing for news.
package enum FileEffect: Sendable, Codable, Equatable {
    case created(BytePath, Fingerprint, ContentHash)
    /// `base` is the content that was there before.
    case wrote(BytePath, base: ContentHash, Fingerprint, ContentHash)
    case moved(BytePath, to: BytePath, Fingerprint, ContentHash)
    /// A whole folder, by one rename; the hash is ``FolderContents/digest``.
    case movedFolder(BytePath, to: BytePath, Fingerprint, ContentHash)
    case removed(BytePath)
    /// Only attributes changed.
    case touched(BytePath, Fingerprint, ContentHash)
    /// Which attributes those were, by ``FileAttribute/digests(_:)``: rules that look at them do not take what the agent has
    /// set for news. Without it everything that changed until the next look counts as the agent's.
    case attributed(BytePath, [String: String])

    /// The names that have come or gone with it.
    var names: [BytePath] {
        switch self {
        case .created(let path, _, _), .wrote(let path, _, _, _), .removed(let path): [path]
        case .moved(let from, let to, _, _), .movedFolder(let from, let to, _, _): [from, to]
        case .touched, .attributed: []
        }
    }

    /// Where something lay that was moved; nil for any other effect.
    package var origin: BytePath? {
        switch self {
        case .moved(let from, _, _, _), .movedFolder(let from, _, _, _): from
        case .created, .wrote, .removed, .touched, .attributed: nil
        }
    }
}

package enum Recovery: Sendable {
    case done(Receipt)
    /// Nothing is left of it: decide and perform again.
    case notDone
    /// Nobody can know; parked for a human, who is told this.
    case unknown(String)
}
