import Glibc
import OwnFiles
import Platform
import Synchronization

/// A vault of comics in a folder: locked, or unlocked with its keys in memory.
///
/// Every call blocks, long ones for as long as the bytes take: use a ``BlockingPool``. Calls may come from several
/// threads; what they add is sealed side by side and recorded one after the other. Errors are ``VaultError`` and `Fault`.
package final class SealedVault: Sendable {
    package let folder: SealedVaultFolder
    package let host: HostState
    package let description: VaultDescription
    private let session = Mutex<VaultSession?>(nil)

    package var id: VaultID { description.id }
    package var isUnlocked: Bool { session.withLock { $0 != nil } }

    /// A vault that is there, locked.
    ///
    /// - Throws: ``VaultError/notAVault(_:why:)``.
    package init(at path: BytePath, host: HostState) throws {
        do {
            folder = try SealedVaultFolder(path)
            description = try VaultDescription(of: folder.open(VaultLayout.description))
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR {
            throw VaultError.notAVault(path, why: "there is no vault.json; make a vault with `steward vault init`")
        }
        self.host = host
    }

    /// Reads the keys, takes the vault's lock, checks the manifest against this host's mark and puts in order what an
    /// interrupted life has left.
    ///
    /// - Parameter dropsTornTail: the answer to ``ManifestDamage/tornTail(_:bytes:)``.
    /// - Returns: what there is to say about it; with ``UnlockReport/freshness`` rolled back the vault can only be read.
    @discardableResult
    package func unlock(_ credential: Credential, dropsTornTail: Bool = false) throws -> UnlockReport {
        try begin {
            let lock = try acquireLock()
            let slots = KeySlots(folder, description)
            let opened = try slots.open(credential)
            let isRekeyed = try followRekey(opened.secrets)
            let isPinned = try !isKnown(opened.secrets)
            // Who has opened a slot has the right key: nothing better could be compared.
            if isPinned { try host.replacePins([HostPin(vault: id, publicKey: opened.secrets.keyPair.publicKey)]) }
            try noteSlots(opened.slot)
            let isKeyReplaced = try restorePublicKey(opened.secrets)
            let manifest = try Manifest(
                folder, keys: opened.secrets.keys, host: host, dropsTornTail: dropsTornTail)
            var report = UnlockReport(
                slot: opened.slot, damagedSlots: opened.damaged, freshness: manifest.freshness,
                tornTail: manifest.tornTail?.log, junk: manifest.junk, isNewlyPinned: isPinned,
                isPublicKeyRestored: isKeyReplaced)
            if case .rolledBack = manifest.freshness {
            } else {
                let isKnown = manifest.freshness == .known
                try manifest.reconcile()
                report.recovery = try VaultRecovery(folder, host).run(manifest.state, isKnown: isKnown)
                Self.removeUnmade(beside: folder.path)
                if manifest.isDueForConsolidation { try tidy(manifest) }
            }
            if isRekeyed { report.keptOld = try finishRekey(report) } else { try forgetRekey() }
            return (VaultSession(opened.secrets, lock: lock, manifest), report)
        }
    }

    /// What a full disk has no room for is done another time: it must not keep anybody from removing something.
    private func tidy(_ manifest: Manifest) throws {
        do {
            try manifest.consolidate()
        } catch  where isFullDisk(error) {
            return
        }
    }

    /// - Parameter open: makes the session, while nobody else makes one.
    /// - Throws: `Fault(.usage)` where there is one already.
    func begin(_ open: () throws -> (VaultSession, UnlockReport)) throws -> UnlockReport {
        try session.withLock { session in
            guard session == nil else { throw Fault(.usage, "the vault \(folder.path) is unlocked already") }
            let (opened, report) = try open()
            session = opened
            return report
        }
    }

    /// Gives up the keys and the vault's lock: when it returns the keys are wiped. What is being added at the moment fails
    /// and leaves nothing; objects that are open stay readable, each with its own key, until their readers go.
    package func lock() {
        session.withLock { session in
            session?.close()
            session = nil
        }
    }

    /// Takes an older copy of the vault, as it lies there, for the vault; objects that only the other branch knew go to
    /// the quarantine.
    package func acceptRollback() throws -> RecoveryReport {
        let session = try unlocked()
        return try session.withManifest { manifest in
            try manifest.acceptRollback()
            return try VaultRecovery(folder, host).run(manifest.state, isKnown: false)
        }
    }

    /// - Throws: ``VaultError/locked``.
    func unlocked() throws -> VaultSession {
        guard let session = session.withLock({ $0 }) else { throw VaultError.locked }
        return session
    }

    /// Takes over a session that exists already: that of a vault which has just been made.
    func begin(_ new: VaultSession) { session.withLock { $0 = new } }

    /// The lock of the one that may change the vault (fcntl(2), an open file's lock on `vault.json`).
    func acquireLock() throws -> Descriptor {
        let file = try folder.open(VaultLayout.description, O_RDWR)
        guard try FileLock.acquireSoon(.exclusive, on: file) else {
            let found = Openers.processes(holding: file.path).first ?? host.holder()
            throw VaultError.inUse(
                folder.path, holder: found.map { "\($0.name) (process \($0.id))" } ?? "another process")
        }
        host.noteHolder()
        return file
    }

    /// - Returns: false where this host knows no vault here.
    /// - Throws: ``VaultError/strangeVault(expected:found:)``.
    func isKnown(_ secrets: VaultSecrets) throws -> Bool {
        let pins = try host.pins()
        if pins.contains(HostPin(vault: id, publicKey: secrets.keyPair.publicKey)) { return true }
        if let other = pins.first { throw VaultError.strangeVault(expected: other.vault, found: id) }
        return false
    }

    /// Whether `vault.pub` holds the vault's own key.
    func isPublicKeyRight(_ own: [UInt8]) -> Bool {
        (try? folder.open(VaultLayout.publicKey).read(at: 0, count: own.count + 1)) == own
    }

    /// - Returns: whether another key had been put in place of the vault's.
    private func restorePublicKey(_ secrets: VaultSecrets) throws -> Bool {
        let own = secrets.keyPair.publicKey
        if isPublicKeyRight(own) { return false }
        let temporary = try VaultTemporary(folder)
        try temporary.file.write(own, at: 0)
        try temporary.file.sync()
        try temporary.replace(VaultLayout.publicKey)
        return true
    }
}

/// What unlocking has found and done.
package struct UnlockReport: Sendable {
    /// The slot that opened.
    package let slot: SlotID
    package let damagedSlots: [VaultError]
    package let freshness: ManifestFreshness
    /// The log of which an incomplete last record was dropped.
    package let tornTail: LogName?
    /// Logs with bytes of no record after their last one, though others follow: not the vault's doing.
    package let junk: [LogName]
    /// The host knew no vault here until now.
    package let isNewlyPinned: Bool
    /// `vault.pub` had been replaced or lost: deposits of other hosts since then may be sealed to somebody else.
    package let isPublicKeyRestored: Bool
    package internal(set) var recovery = RecoveryReport()
    /// The vault of before a rekey, which was not removed: the new one is not known to be whole.
    package internal(set) var keptOld: BytePath?
}

/// The keys of an unlocked vault, its lock, and its manifest. Keys are lent for single steps, never for the time that an
/// object takes: whoever closes the session waits for those steps, and then nobody has them.
final class VaultSession: Sendable {
    let publicKey: [UInt8]
    let end = SessionEnd()
    private let lock: Descriptor
    private let secrets: Mutex<VaultSecrets?>
    private let state: Mutex<State>

    private struct State {
        var manifest: Manifest?
    }

    init(_ secrets: VaultSecrets, lock: Descriptor, _ manifest: sending Manifest) {
        publicKey = secrets.keyPair.publicKey
        self.secrets = Mutex(secrets)
        self.lock = lock
        state = Mutex(State(manifest: manifest))
    }

    /// No more changes and no more keys, whoever still holds the session: they are wiped, and the lock is free, when this
    /// returns.
    func close() {
        end.reach()
        state.withLock { $0.manifest = nil }
        secrets.withLock { $0 = nil }
        try? FileLock.release(lock)
    }

    /// One at a time.
    ///
    /// - Throws: ``VaultError/locked`` once the vault has been locked.
    func withManifest<R: Sendable>(_ body: (Manifest) throws -> R) throws -> R {
        try state.withLock { state in
            guard let manifest = state.manifest else { throw VaultError.locked }
            return try body(manifest)
        }
    }

    /// Lends the keys, to one at a time: for as long as it takes to open or begin an object. No key may leave `body`, and
    /// the manifest must not be asked for within it.
    ///
    /// - Throws: ``VaultError/locked`` once the vault has been locked.
    func withSecrets<R: Sendable>(_ body: (VaultSecrets) throws -> R) throws -> R {
        try secrets.withLock { secrets in
            guard let secrets else { throw VaultError.locked }
            return try body(secrets)
        }
    }

    /// See ``VaultKeys/duplicateTag(_:)``.
    func duplicateTag(_ content: ContentHash) throws -> [UInt8] {
        try withSecrets { try $0.keys.duplicateTag(content) }
    }
}

/// Whether a session has ended, for long work that holds none of its keys.
final class SessionEnd: Sendable {
    private let isReached = Atomic<Bool>(false)

    func reach() { isReached.store(true, ordering: .releasing) }

    /// - Throws: ``VaultError/locked``.
    func check() throws { if isReached.load(ordering: .acquiring) { throw VaultError.locked } }
}
