import ComicVault
import Foundation
import Glibc
import JSONText
import OwnFiles
import Platform
import SQLiteFile

/// Copies all stores of an agent into a new folder while the agent works.
///
/// Large files that do not change are copied first. Then the agent pauses its steps for a moment: the backup opens read
/// snapshots of the databases (the ledger first) and copies the files that arrived meanwhile, and the agent resumes.
/// The databases are copied from the snapshots. The agent takes no part in the copying: its unit may allow it to write
/// only to its own folders.
package struct Backup {
    private let directories: Directories
    private let stores: [BackupStore]
    private let folder: BackupFolder
    private let version: String
    private let owners = BackupOwners()
    private let tell: (BackupProgress) throws -> Void

    /// - Parameters:
    ///   - folder: where backups are stored.
    ///   - forbidden: labelled folders, such as places, that must not contain `folder`.
    ///   - version: of this program.
    ///   - tell: receives progress; an error it throws ends the backup and removes it.
    /// - Throws: `Fault(.usage)` if there is nothing to back up, or if the folder is inside something to be backed up.
    package init(
        _ directories: Directories, _ stores: [BackupStore], into folder: BytePath,
        forbidden: [(what: String, path: BytePath)], version: String,
        tell: @escaping (BackupProgress) throws -> Void
    ) throws {
        (self.directories, self.stores, self.version, self.tell) = (directories, stores, version, tell)
        guard try FileStatus.of(directories.state.appending("ledger.sqlite")) != nil else {
            throw Fault(
                .usage,
                "there is no ledger in \(directories.state), so there is nothing to back up; select the state with "
                    + "STEWARD_STATE, or run this as the agent's user", path: directories.state)
        }
        guard folder.parent.real != nil else {
            throw Fault(
                .usage, "\(folder.parent) does not exist; mount the backup disk, or create the folder", path: folder)
        }
        let real = folder.real ?? folder.parent.real.map { $0.appending(name: folder.name) } ?? folder
        let all = forbidden + stores.map { ("what is backed up", $0.root) }
        if let (what, path) = all.first(where: { real.isWithin($0.path.real ?? $0.path) }) {
            throw Fault(
                .usage,
                "\(folder) lies in \(path), which is \(what): a backup there would be part of the next one, or be processed "
                    + "by the rules; name a folder elsewhere, best on another disk", path: folder)
        }
        self.folder = BackupFolder(folder)
    }

    /// Makes the backup. Blocks until it is on the disk.
    ///
    /// - Parameters:
    ///   - anew: copies everything and shares no files with the previous backup.
    ///   - keep: how many finished backups of this agent to keep, including this one; nil keeps all.
    /// - Throws: `Fault`; the unfinished backup has been removed.
    package func run(anew: Bool = false, keep: Int? = nil) throws -> BackupReport {
        let begun = ContinuousClock.now
        try Durable.makeDirectory(folder.path, mode: 0o700)
        var manifest = BackupManifest(
            version: version, time: .now(), host: hostName(), home: directories.home, consistency: .unheld, stores: [],
            listing: ContentHash(of: []))
        manifest.stores = stores.map { BackupManifest.Store(name: $0.name, lay: $0.vaultHost == nil ? $0.root : nil) }
        let last = try folder.finished().last { $0.manifest.isOfSameAgent(as: manifest) }
        var report = BackupReport(path: folder.path)
        let key = key(&report)
        // Files planted by someone else must not get into our backup.
        let isShared = try !anew && last.flatMap { last in try key.map { try last.manifest.isSealed(by: $0) } } ?? false
        let earlier = isShared ? last.flatMap { EarlierBackup($0.path, $0.manifest) } : nil
        try expectVaults(last?.manifest)
        let filling = try folder.fill(at: manifest.time, after: last?.path)
        do {
            report.earlier = earlier == nil ? nil : last?.path
            if let last, last.path.nameText > BackupFolder.name(at: manifest.time.adding(seconds: 60)) {
                report.ahead = last.path
            }
            try fill(filling.path, &manifest, earlier, key, &report)
            report.path = try filling.finish()
            report.seconds = Self.seconds(since: begun)
            report.files = manifest.files
            report.size = manifest.size
            report.consistency = manifest.consistency
            report.unnoted = note(report.path, at: manifest.time)
            if let keep { (report.removed, report.spared) = try folder.keep(keep, with: report.path, like: manifest) }
            return report
        } catch {
            // The original error matters more; leftovers are removed by the next backup.
            try? BackupFolder.remove(filling.path)
            if let fault = error as? Fault, Self.isFull(fault) {
                throw Fault(
                    .transient,
                    "there is not enough room in \(folder.path) for a backup: \(fault.message); nothing was kept of it, and "
                        + "earlier backups are unchanged. Free some space, or remove the folder of an old one by hand: --keep "
                        + "removes older ones only when a new one is finished",
                    path: folder.path, errno: fault.errno)
            }
            throw error
        }
    }

    /// Records the backup for the agent.
    ///
    /// - Returns: why that failed, if it did; the backup is still valid.
    private func note(_ backup: BytePath, at time: Timestamp) -> String? {
        do {
            try LastBackup(time: time, path: backup).note(in: directories.state)
            return nil
        } catch {
            return explain(error)
        }
    }

    private static func isFull(_ fault: Fault) -> Bool {
        [ENOSPC, EDQUOT, EFBIG].contains(fault.errno)
    }

    /// A vault whose disk is missing must not be skipped silently: in the end no kept backup would contain it.
    private func expectVaults(_ last: BackupManifest?) throws {
        for store in stores {
            guard let host = store.vaultHost,
                try FileStatus.of(store.root.appending(VaultLayout.description)) == nil
            else { continue }
            let wasBackedUp = last?.stores.contains { $0.name == store.name && $0.files > 0 } ?? false
            // If the host's record of the vault is damaged, it must have known one.
            let isKnown = try FileStatus.of(host) != nil && (try? HostState(host).pins().isEmpty) != true
            guard wasBackedUp || isKnown else { continue }
            throw Fault(
                .transient,
                "there is no vault in \(store.root), where \(store.name) should be: mount its disk and try again or, where it "
                    + "is gone for good, take it out of \(directories.configuration). Nothing was backed up, and no earlier "
                    + "backup was removed", path: store.root)
        }
    }

    private func fill(
        _ target: BytePath, _ manifest: inout BackupManifest, _ earlier: EarlierBackup?, _ key: BackupKey?,
        _ report: inout BackupReport
    ) throws {
        let mirrors = try stores.map { try BackupMirror($0, in: target.appending($0.name), earlier, owners, tell) }
        for mirror in mirrors { try mirror.look() }
        FaultPoint.reach("backup copied")
        let instant = try BackupInstant.begin(directories)
        let held = ContinuousClock.now
        var databases: [(store: BackupStore, name: String, instant: DatabaseInstant)] = []
        defer { for database in databases { try? database.instant.close() } }
        do {
            // The ledger is in the first store, and must not be newer than the files it refers to.
            for mirror in mirrors {
                let photos = try lockedPhotos(of: mirror.store)
                for name in mirror.store.databases {
                    let path = mirror.store.root.appending(name)
                    guard try FileStatus.of(path) != nil else { continue }
                    databases.append((mirror.store, name, try DatabaseInstant(of: path)))
                }
                try mirror.copyUntilStill()
                withExtendedLifetime(photos) {}
            }
        } catch {
            _ = instant.end()
            throw error
        }
        manifest.consistency = instant.end()
        report.heldSeconds = Self.seconds(since: held)
        FaultPoint.reach("backup held")
        var files = try copy(databases, to: target)
        FaultPoint.reach("backup databases")
        for mirror in mirrors { files += try mirror.finish() }
        for (index, mirror) in mirrors.enumerated() {
            manifest.stores[index].emptyFolders = mirror.emptyFolders
            manifest.stores[index].folders = mirror.toldFolders
            manifest.stores[index].rows = try BackupHoldings.rows(of: mirror.store.name, in: target)
        }
        report.linked = mirrors.reduce(0) { $0 + $1.linked }
        report.strange = mirrors.flatMap(\.strange).sorted()
        try write(files, &manifest, sealedBy: key, to: target)
    }

    /// Keeps other processes from copying in or removing a capture's files. Held until the files named in the database
    /// have been copied.
    private func lockedPhotos(of store: BackupStore) throws -> Descriptor? {
        let folder = store.root.appending("photos")
        guard store.name == BackupStore.capturesName, try FileStatus.of(folder) != nil else { return nil }
        let lock = try Descriptor(folder, O_RDONLY | O_DIRECTORY)
        if try FileLock.acquireSoon(.exclusive, on: lock, by: .whole, within: 10) { return lock }
        throw Fault(
            .transient,
            "\(folder) is being used by \(Openers.describe(folder)) for a long time; try again when that is done",
            path: folder)
    }

    private func copy(
        _ databases: [(store: BackupStore, name: String, instant: DatabaseInstant)], to target: BytePath
    ) throws -> [BackedFile] {
        try databases.map { store, name, instant in
            let path = BytePath(store.name).appending(name)
            let copy = target.appending(path)
            try instant.copy(to: copy) { try tell(.database(path: path, done: $0, total: $1)) }
            try instant.close()
            let status = try Descriptor(copy).status()
            let (owner, group) = owners.names(of: try FileStatus.of(store.root.appending(name)))
            return BackedFile(
                path: path, role: .database, size: status.size, sha256: try ContentHash.ofFile(copy), mode: 0o600,
                owner: owner, group: group, modified: status.fingerprint.modified, changed: status.fingerprint.changed)
        }
    }

    /// - Returns: nil if there is none and none can be created: an unsealed backup is better than none.
    private func key(_ report: inout BackupReport) -> BackupKey? {
        do {
            return try BackupKey.make(in: directories.state)
        } catch {
            report.unsealed = explain(error)
            return nil
        }
    }

    private func write(
        _ files: [BackedFile], _ manifest: inout BackupManifest, sealedBy key: BackupKey?, to target: BytePath
    ) throws {
        let listing = try Descriptor(target.appending(BackupManifest.listingName), O_RDWR | O_CREAT | O_EXCL)
        var (offset, part) = (Int64(0), [UInt8]())
        for (number, file) in files.enumerated() {
            part += Array((try JSONText.line(file) + "\n").utf8)
            if part.count > 1 << 18 || number == files.count - 1 {
                try listing.write(part, at: offset)
                offset += Int64(part.count)
                part = []
            }
            for index in manifest.stores.indices
            where file.path.isWithin(BytePath(manifest.stores[index].name)) {
                manifest.stores[index].files += 1
                manifest.stores[index].size += file.size
            }
        }
        try listing.sync()
        manifest.listing = try ContentHash.of(listing)
        FaultPoint.reach("backup listed")
        let bytes = try manifest.document(sealedBy: key)
        let hash = "\(ContentHash(of: bytes))  \(BackupManifest.name)\n"
        for (name, bytes) in [(BackupManifest.name, bytes), (BackupManifest.hashName, Array(hash.utf8))] {
            let file = try Descriptor(target.appending(name), O_RDWR | O_CREAT | O_EXCL)
            try file.write(bytes, at: 0)
            try file.sync()
        }
    }

    private static func seconds(since start: ContinuousClock.Instant) -> Double {
        let passed = ContinuousClock.now - start
        return Double(passed.components.seconds) + Double(passed.components.attoseconds) / 1e18
    }
}

/// The result of a backup.
package struct BackupReport: Encodable, Sendable {
    package var path: BytePath
    /// The backup whose unchanged files it shares.
    package var earlier: BytePath?
    package var files = 0
    /// In bytes.
    package var size: Int64 = 0
    /// Number of files hard-linked from the earlier backup.
    package var linked = 0
    package var consistency = BackupManifest.Consistency.unheld
    package var seconds = 0.0
    /// How long the agent's steps were held.
    package var heldSeconds = 0.0
    package var removed: [BytePath] = []
    /// An old backup kept beyond the requested number.
    package struct Spared: Encodable, Sendable {
        package let path: BytePath
        package let reason: String
    }

    package var spared: [Spared] = []
    /// Entries left out: symlinks, pipes.
    package var strange: [BytePath] = []
    /// The previous backup, if its name is dated in the future.
    package var ahead: BytePath?
    /// Why the agent was not notified of the backup.
    package var unnoted: String?
    /// Why the manifest is unsealed.
    package var unsealed: String?

    package var lines: [String] {
        let shared = earlier.map { ", \(linked) of them shared with \($0.nameText)" } ?? ""
        var lines: [String] =
            ["\(path): \(files) files, \(ComicText.bytes(size))\(shared)"]
            + [consistency.line(heldSeconds)].compactMap { $0 } + removed.map { "removed \($0)" }
            + spared.map {
                "kept \($0.path) beyond --keep: \($0.reason). If that is intended, remove the folder by hand"
            }
            + strange.map { "left out: \($0) is no file" }
            + [ahead].compactMap { $0 }.map {
                "the clock was ahead when \($0.nameText) was made: this one's name comes after that, and is not its time"
            }
        if let unnoted {
            lines.append(
                "the backup could not be recorded for the agent, which will report an older one as the last: \(unnoted). "
                    + "Give the user who makes backups write access to the agent's state folder")
        }
        if let unsealed {
            lines.append(
                "this backup has no seal, so `steward restore --verify` will not recognise it as this installation's: "
                    + "\(unsealed). Give the user who makes backups write access to the agent's state folder")
        }
        return lines
    }
}

extension BackupManifest.Consistency {
    /// Text for people, if there is anything to report.
    func line(_ held: Double) -> String? {
        switch self {
        case .held: "the agent held its steps for \(Int((held * 1000).rounded())) ms"
        case .stopped: nil
        case .stepAtWork: "a long step was running: the backup is in the state a power failure would have left"
        case .unheld:
            "the agent did not answer: the ledger is slightly older than the other stores, and steps missing from it "
                + "are recognised when they are repeated"
        }
    }
}
