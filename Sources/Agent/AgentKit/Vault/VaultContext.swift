import ComicVault
import Platform

/// An unlocked vault as seen by a command: in the agent, or in the command's own process, which opened it.
package struct VaultContext {
    let place: VaultPlace
    let sealed: SealedVault
    /// What the command needs in addition to the unlocked vault; an old secret comes first.
    let secrets: [Credential]
    /// Why deposits were not taken in; only an agent knows.
    let refusals: [ObjectID: String]
    /// Ends the work if the vault is locked in the meantime.
    let outlet: VaultOutlet

    init(
        _ place: VaultPlace, _ sealed: SealedVault, _ secrets: [Credential], refusals: [ObjectID: String] = [:],
        _ outlet: VaultOutlet
    ) {
        (self.place, self.sealed, self.secrets, self.refusals) = (place, sealed, secrets, refusals)
        self.outlet = outlet.ending { if !sealed.isUnlocked { throw Self.lockedMeanwhile } }
    }

    /// Not ``VaultError/locked``: part of the answer has been sent, and the caller must not retry automatically.
    static let lockedMeanwhile = Fault(
        .failed, "the vault was locked before this was finished; unlock it, and try again")

    /// Finds a comic by name, id, or the beginning of its id.
    ///
    /// - Throws: `VaultError` if there is none; `Fault(.usage)` if there are several.
    func comic(_ text: String) throws -> ComicEntry {
        for name in [BytePath(text), BytePath(bytes: BytePath.unescape(text))] {
            if let entry = try sealed.comic(named: name) { return entry }
        }
        let found = try sealed.list().filter { Self.isAbbreviated($0.id, by: text) }
        guard let first = found.first else { throw VaultError.noSuchComic(Self.quote(text)) }
        guard found.count == 1 else {
            throw Fault(.usage, "\(found.count) comics have ids that begin with \(text); give more of its characters")
        }
        return first
    }

    /// The one of `ids` that begins with `text`.
    ///
    /// - Throws: `Fault(.usage)` unless exactly one matches.
    static func object(_ text: String, among ids: [ObjectID]) throws -> ObjectID {
        try ids.filter { isAbbreviated($0, by: text) }
            .only("deposit", beginning: quote(text), shownBy: "steward vault quarantine")
    }

    /// Whether the text is a long enough beginning of the id.
    static func isAbbreviated(_ id: some CustomStringConvertible, by text: String) -> Bool {
        text.count >= 4 && id.description.hasPrefix(text.lowercased())
    }

    /// User input, escaped for display.
    static func quote(_ text: String) -> String { BytePath(text).description }

    static let countedFromOne = Fault(.usage, "pages are counted from 1")
}

/// Receives progress and output while a command runs. Both closures may throw to end the work.
package struct VaultOutlet {
    package let progress: (_ done: Int64, _ total: Int64, _ text: String) throws -> Void
    /// Receives a comic's bytes, in order; they are valid only during the call.
    package let bytes: (UnsafeRawBufferPointer) throws -> Void

    package init(
        progress: @escaping (Int64, Int64, String) throws -> Void = { _, _, _ in },
        bytes: @escaping (UnsafeRawBufferPointer) throws -> Void = { _ in }
    ) {
        self.progress = progress
        self.bytes = bytes
    }

    /// Wraps the outlet with a check that may end the work.
    fileprivate func ending(_ check: @escaping () throws -> Void) -> VaultOutlet {
        let (progress, bytes) = (progress, bytes)
        return VaultOutlet(
            progress: {
                try check()
                try progress($0, $1, $2)
            },
            bytes: {
                try check()
                try bytes($0)
            })
    }
}
