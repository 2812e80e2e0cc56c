import Glibc
import OwnFiles
import Platform
import Synchronization

/// A vault of comics in a folder: locked, or unlocked with its keys in memory.
///
/// Every call blocks, long ones for as long as the bytes take: use a ``BlockingPool``. Thread-safe: concurrent
/// additions are sealed in parallel and recorded serially. Errors are ``VaultError`` and `Fault`.
package final class SealedVault: Sendable {
    package let folder: SealedVaultFolder
    package let host: HostState
    package let description: VaultDescription
    private let session = Mutex<VaultSession?>(nil)

    package var id: VaultID { description.id }
    package var isUnlocked: Bool { session.withLock { $0 != nil } }

    /// An existing vault, locked.
    ///
    /// - Throws: ``VaultError/notAVault(_:why:)``.
    package init(at path: BytePath, host: HostState) throws {
        do {
            folder = try SealedVaultFolder(path)
            description = try VaultDescription(of: folder.open(VaultLayout.description))
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR {
            throw VaultError.notAVault(path, why: "there is no vault.json; create a vault with `steward vault init`")
        }
        self.host = host
    }

    /// Reads the keys, takes the vault's lock, checks the manifest against this host's mark and cleans up after an
    /// interrupted process.
    ///
    /// - Parameter dropsTornTail: the answer to ``ManifestDamage/tornTail(_:bytes:)``.
    /// - Returns: the findings; if ``UnlockReport/freshness`` is rolled back, the vault can only be read.
    @discardableResult
    package func unlock(_ credential: Credential, dropsTornTail: Bool = false) throws -> UnlockReport {
        try begin {
            let lock = try acquireLock()
            let slots = KeySlots(folder, description)
            let opened = try slots.open(credential)
            let isRekeyed = try followRekey(opened.secrets)
            let isPinned = try !isKnown(opened.secrets)
            // Opening a slot proves that the key is right; there is no better check.
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

    /// If the disk is full, retry this later: it must not prevent the removal of a comic.
    private func tidy(_ manifest: Manifest) throws {
        do {
            try manifest.consolidate()
        } catch  where isFullDisk(error) {
            return
        }
    }

    /// - Parameter open: makes the session, under the lock.
    /// - Throws: `Fault(.usage)` if there is one already.
    func begin(_ open: () throws -> (VaultSession, UnlockReport)) throws -> UnlockReport {
        try session.withLock { session in
            guard session == nil else { throw Fault(.usage, "the vault \(folder.path) is unlocked already") }
            let (opened, report) = try open()
            session = opened
            return report
        }
    }

    /// Wipes the keys and releases the vault's lock before it returns. Additions in flight fail and leave nothing. Open
    /// objects stay readable, each with its own key, until their readers are released.
    package func lock() {
        session.withLock { session in
            session?.close()
            session = nil
        }
    }

    /// Accepts the older copy of the vault on disk; objects known only to the other branch go to the quarantine.
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

    /// Takes over an existing session, of a vault that has just been created.
    func begin(_ new: VaultSession) { session.withLock { $0 = new } }

    /// The vault's write lock (fcntl(2), an open file's lock on `vault.json`).
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

    /// - Returns: false if this host knows no vault here.
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

    /// - Returns: whether another key had replaced the vault's.
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

/// The findings and actions of an unlock.
package struct UnlockReport: Sendable {
    /// The slot that opened.
    package let slot: SlotID
    package let damagedSlots: [VaultError]
    package let freshness: ManifestFreshness
    /// The log whose incomplete last record was dropped.
    package let tornTail: LogName?
    /// Logs with trailing bytes that are not a record, though other logs follow: not written by the vault.
    package let junk: [LogName]
    /// The host knew no vault here until now.
    package let isNewlyPinned: Bool
    /// `vault.pub` had been replaced or lost: other hosts' deposits since then may be sealed to a stranger's key.
    package let isPublicKeyRestored: Bool
    package internal(set) var recovery = RecoveryReport()
    /// The vault from before a rekey, kept because the new one is not known to be complete.
    package internal(set) var keptOld: BytePath?
}

/// The keys of an unlocked vault, its lock, and its manifest. Keys are lent for single steps, never for the duration of
/// an object: closing the session waits for those steps, and then no copy is left.
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

    /// Ends changes and wipes the keys, even if others still hold the session. When this returns, the lock is free.
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

    /// Lends the keys to one caller at a time, long enough to open or begin an object. No key may leave `body`, and
    /// `body` must not use the manifest.
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
