import Platform

/// All state of an unlocked vault, released by ``VaultService/lock(_:)``. Work that ends later still finds its own
/// session, and leaves nothing in the next one.
final class UnlockedVault {
    let vault: SealedVault
    let since = Timestamp.now()
    /// Why deposits were not ingested. May name their content.
    var refusals: [ObjectID: String] = [:]
    /// Cached findings about contents to be sealed, oldest first.
    private var kept: [(content: ContentHash, found: any Sendable)] = []
    var suspendWatch: SuspendWatch?
    var idleTimer: Task<Void, Never>?
    var ingestion: Task<Void, Never>?
    /// The backoff before failed deposits are retried.
    var retry: Task<Void, Never>?

    init(_ vault: SealedVault) { self.vault = vault }

    func keep(_ found: any Sendable, of content: ContentHash) {
        kept.removeAll { $0.content == content }
        kept = kept.suffix(63) + [(content, found)]
    }

    func takeKept(_ content: ContentHash) -> (any Sendable)? {
        kept.firstIndex { $0.content == content }.map { kept.remove(at: $0).found }
    }

    func end() {
        refusals = [:]
        kept = []
        suspendWatch = nil
        idleTimer?.cancel()
        ingestion?.cancel()
        retry?.cancel()
    }
}
