import Glibc
import Platform

/// The manifest of an unlocked vault: its state in memory, and the only way to change it. Not thread-safe; everything
/// blocks.
package final class Manifest {
    package private(set) var state: ManifestState
    package private(set) var head: ManifestHead
    package private(set) var freshness: ManifestFreshness
    /// An incomplete record that was dropped when the manifest was read, if any.
    package let tornTail: (log: LogName, bytes: Int)?

    /// Earlier logs that end in bytes that are not a record.
    package let junk: [LogName]

    private let folder: SealedVaultFolder
    private let keys: VaultKeys
    private let host: HostState
    private let isReadOnly: Bool
    private var log: RecordLog?
    private var nextLog: UInt64
    private var recordCount: Int
    private var hasRemovals: Bool
    private var earlierHeads: [ManifestHead]
    private var leftovers: [BytePath]
    /// A log holds bytes that are not a record.
    private var isUneven: Bool
    /// The mark could not be replaced after a record; that must be done first.
    private var markIsBehind = false

    /// The size, in bytes, at which the next log is begun.
    private static let logSize: Int64 = 8 << 20

    /// Reads and checks the manifest. Nothing is changed on disk: see ``reconcile()``.
    ///
    /// - Parameter dropsTornTail: the answer to ``ManifestDamage/tornTail(_:bytes:)``.
    /// - Throws: ``VaultError``.
    package convenience init(
        _ folder: SealedVaultFolder, keys: VaultKeys, host: HostState, dropsTornTail: Bool = false
    ) throws {
        let reading = try ManifestReading(folder, keys: keys, mark: try host.mark(), dropsTornTail: dropsTornTail)
        self.init(reading, folder, keys, host, isReadOnly: false)
    }

    /// A read-only view of the manifest on disk.
    convenience init(lookingAt folder: SealedVaultFolder, keys: VaultKeys, host: HostState, mark: HighWaterMark?) throws
    {
        let reading = try ManifestReading(folder, keys: keys, mark: mark, dropsTornTail: true)
        self.init(reading, folder, keys, host, isReadOnly: true)
    }

    private init(
        _ reading: ManifestReading, _ folder: SealedVaultFolder, _ keys: VaultKeys, _ host: HostState, isReadOnly: Bool
    ) {
        self.folder = folder
        self.keys = keys
        self.host = host
        self.isReadOnly = isReadOnly
        state = reading.state
        head = reading.head
        freshness = reading.freshness
        tornTail = reading.tornTail
        junk = reading.junk
        isUneven = reading.tornTail != nil || !reading.junk.isEmpty
        nextLog = reading.nextLog
        recordCount = reading.recordCount
        hasRemovals = reading.hasRemovals
        earlierHeads = reading.content.heads
        leftovers = reading.leftovers
    }

    /// The manifest of a vault under construction: an empty snapshot, its log, and the mark.
    package static func create(_ folder: SealedVaultFolder, keys: VaultKeys, host: HostState) throws -> Manifest {
        guard try folder.names(in: VaultLayout.manifest).isEmpty else {
            throw Fault(
                .refused, "\(folder.full(VaultLayout.manifest)) has a manifest already; nothing was changed there",
                path: folder.full(VaultLayout.manifest))
        }
        let content = SnapshotContent(gen: 1, heads: [], state: ManifestState())
        let head = try Snapshot.write(content, folder, keys: keys)
        let manifest = Manifest(content, head: head, folder, keys, host)
        try manifest.beginLog()
        return manifest
    }

    private init(
        _ content: SnapshotContent, head: ManifestHead, _ folder: SealedVaultFolder, _ keys: VaultKeys,
        _ host: HostState
    ) {
        self.folder = folder
        self.keys = keys
        self.host = host
        isReadOnly = false
        self.head = head
        state = content.state
        freshness = .known
        tornTail = nil
        junk = []
        isUneven = false
        nextLog = 0
        recordCount = 0
        hasRemovals = false
        earlierHeads = content.heads
        leftovers = []
    }

    /// Advances the host's mark to the manifest, and finishes an interrupted consolidation.
    ///
    /// - Throws: ``VaultError/rolledBack(mark:disk:)`` if the manifest is not the one that this host remembers.
    package func reconcile() throws {
        try requireKnown()
        if try host.mark()?.head != head { try raiseMark() }
        freshness = .known
        try removeLeftovers()
    }

    /// Makes a change durable, then part of the state.
    ///
    /// - Throws: `Fault` if it does not fit, before anything is written, or if it cannot be written; after the latter
    ///   the next call begins with a new snapshot. ``VaultError/rolledBack(mark:disk:)``.
    package func append(_ record: ManifestRecord) throws {
        try requireKnown()
        try state.check(record)
        let log = try logForWriting()
        try log.append(record)
        try state.apply(record)
        if case .removed = record { hasRemovals = true }
        head = log.head
        recordCount += 1
        try raiseMark()
    }

    /// Retries replacing the mark if that failed after a record; the record's change is complete only then.
    package func confirm() throws {
        if markIsBehind { try raiseMark() }
    }

    /// Whether a snapshot is due: the logs have grown long, a removal was not followed by one, or a log holds bytes
    /// that are not a record.
    package var isDueForConsolidation: Bool {
        hasRemovals || isUneven || recordCount > 1024 + 4 * state.comics.count || nextLog > 64
    }

    /// Writes a new snapshot and a new log and removes the old ones, so that no file holds removed or former names any
    /// more.
    package func consolidate() throws {
        try requireKnown()
        try consolidate(to: head.gen + 1)
    }

    /// Accepts an older copy of the vault, after a person has decided so. The next generation is newer than both, so
    /// that the other branch is recognised if it comes back.
    package func acceptRollback() throws {
        guard case .rolledBack(let mark, let disk) = freshness else { return }
        try consolidate(to: max(mark.gen, disk.gen) + 1)
        freshness = .known
    }

    private func consolidate(to gen: UInt64) throws {
        let content = SnapshotContent(gen: gen, heads: earlierHeads + [head], state: state)
        let old = try ManifestFiles(folder).leftovers(before: gen)
        let start = try Snapshot.write(content, folder, keys: keys)
        log = nil
        head = start
        earlierHeads = content.heads
        nextLog = 0
        recordCount = 0
        hasRemovals = false
        isUneven = false
        leftovers = old
        try beginLog()
        try removeLeftovers()
    }

    /// Call before writing anything that a record will name: if no record may be written, nothing else is either.
    ///
    /// - Throws: ``VaultError/rolledBack(mark:disk:)``.
    package func requireKnown() throws {
        guard !isReadOnly else {
            throw Fault(.failed, "the vault is open to be looked at, and cannot be changed; please report this")
        }
        if case .rolledBack(let mark, let disk) = freshness { throw VaultError.rolledBack(mark: mark, disk: disk) }
    }

    /// Rereads the manifest from disk.
    ///
    /// - Throws: ``VaultError``.
    func onDisk(_ mark: HighWaterMark?) throws -> ManifestReading {
        try ManifestReading(folder, keys: keys, mark: mark, dropsTornTail: true)
    }

    /// Rereads the manifest from disk and checks it against this host's mark.
    ///
    /// - Throws: ``VaultError``, also if the state on disk differs from this one.
    func requireOnDisk() throws {
        let mark = try host.mark()
        let reading = try onDisk(mark)
        guard mark != nil, reading.freshness == .known, reading.head == head, reading.state == state else {
            throw VaultError.rolledBack(mark: mark?.head ?? head, disk: reading.head)
        }
    }

    private func logForWriting() throws -> RecordLog {
        try confirm()
        if log?.isBroken == true { try consolidate(to: head.gen + 1) }
        if let log, log.size <= Self.logSize { return log }
        return try beginLog()
    }

    @discardableResult
    private func beginLog() throws -> RecordLog {
        let log = try RecordLog(LogName(gen: head.gen, n: nextLog), in: folder, keys: keys, after: head)
        nextLog += 1
        self.log = log
        head = log.head
        recordCount += 1
        try raiseMark()
        return log
    }

    private func raiseMark() throws {
        markIsBehind = true
        try host.replaceMark(HighWaterMark(vault: keys.id, head: head))
        markIsBehind = false
    }

    private func removeLeftovers() throws {
        guard !leftovers.isEmpty else { return }
        for (index, name) in leftovers.enumerated() {
            // A snapshot is removed only when its logs are durably gone.
            if index > 0, VaultLayout.snapshotGeneration(BytePath(bytes: name.name)) != nil {
                try folder.sync(VaultLayout.manifest)
            }
            try folder.remove(name)
        }
        try folder.sync(VaultLayout.manifest)
        leftovers = []
    }
}
