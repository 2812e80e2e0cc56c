import ComicVault
import Foundation
import Glibc
import JSONText
import OwnFiles
import Platform
import SQLiteFile

/// Copies all stores of an agent into a new folder, while the agent works.
///
/// What is large and does not change is copied first. Then, for a moment, the agent begins no step: the databases are held
/// as they are (the ledger first), what has come meanwhile is copied, and the agent goes on. The databases are copied from
/// what is held. The agent has no part in the copying: its unit may let it write nowhere but into its own folders.
package struct Backup {
    private let directories: Directories
    private let stores: [BackupStore]
    private let folder: BackupFolder
    private let version: String
    private let owners = BackupOwners()
    private let tell: (BackupProgress) throws -> Void

    /// - Parameters:
    ///   - folder: where backups lie.
    ///   - forbidden: what else must not hold it: places, with what they are called.
    ///   - version: of this program.
    ///   - tell: told how far it is; what it throws ends the backup, and nothing stays of it.
    /// - Throws: `Fault(.usage)` where there is nothing to back up, or where the folder lies in what is to be.
    package init(
        _ directories: Directories, _ stores: [BackupStore], into folder: BytePath,
        forbidden: [(what: String, path: BytePath)], version: String,
        tell: @escaping (BackupProgress) throws -> Void
    ) throws {
        (self.directories, self.stores, self.version, self.tell) = (directories, stores, version, tell)
        guard try FileStatus.of(directories.state.appending("ledger.sqlite")) != nil else {
            throw Fault(
                .usage,
                "there is no ledger in \(directories.state), so there is nothing to back up; say whose state is meant with "
                    + "STEWARD_STATE, or run this as the agent's user", path: directories.state)
        }
        guard folder.parent.real != nil else {
            throw Fault(
                .usage, "\(folder.parent) is not there; mount the disk for backups, or make the folder", path: folder)
        }
        let real = folder.real ?? folder.parent.real.map { $0.appending(name: folder.name) } ?? folder
        let all = forbidden + stores.map { ("what is backed up", $0.root) }
        if let (what, path) = all.first(where: { real.isWithin($0.path.real ?? $0.path) }) {
            throw Fault(
                .usage,
                "\(folder) lies in \(path), which is \(what): a backup there would be part of the next one, or be dealt with "
                    + "by the rules; name a folder elsewhere, best on another disk", path: folder)
        }
        self.folder = BackupFolder(folder)
    }

    /// Makes the backup. Blocks until it is on the disk.
    ///
    /// - Parameters:
    ///   - anew: whether all is copied, and nothing shared with the backup before.
    ///   - keep: how many finished backups of this agent are to stay, this one among them; nil keeps all.
    /// - Throws: `Fault`; then there is nothing left of it.
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
        // What somebody else has put there must not get into a backup of ours.
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
            // What went wrong is the news; what cannot be removed now the next backup removes.
            try? BackupFolder.remove(filling.path)
            if let fault = error as? Fault, Self.isFull(fault) {
                throw Fault(
                    .transient,
                    "there is not enough room in \(folder.path) for a backup: \(fault.message); nothing of it was kept, and "
                        + "earlier backups are as they were. Free some space, or remove the folder of an old one by hand: --keep "
                        + "removes older ones only when a new one is finished",
                    path: folder.path, errno: fault.errno)
            }
            throw error
        }
    }

    /// Has the agent know of it.
    ///
    /// - Returns: why it does not: that is no reason to have no backup.
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

    /// A vault whose disk is away must not be missing in silence: in the end it would be in no backup that is kept.
    private func expectVaults(_ last: BackupManifest?) throws {
        for store in stores {
            guard let host = store.vaultHost,
                try FileStatus.of(store.root.appending(VaultLayout.description)) == nil
            else { continue }
            let wasBackedUp = last?.stores.contains { $0.name == store.name && $0.files > 0 } ?? false
            // What this host remembers may be damaged; then it has known one.
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
            // The ledger is in the first store, and must not be newer than what it speaks of.
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

    /// While a capture's files are copied in or removed, no other process does; held until what the database names is here.
    private func lockedPhotos(of store: BackupStore) throws -> Descriptor? {
        let folder = store.root.appending("photos")
        guard store.name == BackupStore.capturesName, try FileStatus.of(folder) != nil else { return nil }
        let lock = try Descriptor(folder, O_RDONLY | O_DIRECTORY)
        if try FileLock.acquireSoon(.exclusive, on: lock, by: .whole, within: 10) { return lock }
        throw Fault(
            .transient, "\(folder) is in use by \(Openers.describe(folder)) for long; try again when that is done",
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

    /// - Returns: nil where there is none and none can be made: a backup that nobody can tell from another's is better than
    ///   none.
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

/// What a backup has come to.
package struct BackupReport: Encodable, Sendable {
    package var path: BytePath
    /// That it shares unchanged files with.
    package var earlier: BytePath?
    package var files = 0
    /// Bytes.
    package var size: Int64 = 0
    /// Files that are second names of the earlier one's.
    package var linked = 0
    package var consistency = BackupManifest.Consistency.unheld
    package var seconds = 0.0
    /// How long the agent began no step.
    package var heldSeconds = 0.0
    package var removed: [BytePath] = []
    /// An older one that stays although there are as many as are to be kept.
    package struct Spared: Encodable, Sendable {
        package let path: BytePath
        package let reason: String
    }

    package var spared: [Spared] = []
    /// What was left out: links, pipes.
    package var strange: [BytePath] = []
    /// The one before, where its name is of a time to come.
    package var ahead: BytePath?
    /// Why the agent does not know of it.
    package var unnoted: String?
    /// Why its manifest has no seal.
    package var unsealed: String?

    package var lines: [String] {
        let shared = earlier.map { ", \(linked) of them shared with \($0.nameText)" } ?? ""
        var lines: [String] =
            ["\(path): \(files) files, \(ComicText.bytes(size))\(shared)"]
            + [consistency.line(heldSeconds)].compactMap { $0 } + removed.map { "removed \($0)" }
            + spared.map {
                "kept \($0.path) beyond --keep: \($0.reason). If that is as it should be, remove the folder by hand"
            }
            + strange.map { "left out: \($0) is no file" }
            + [ahead].compactMap { $0 }.map {
                "the clock was ahead when \($0.nameText) was made: this one's name comes after that, and is not its time"
            }
        if let unnoted {
            lines.append(
                "the agent does not know of this backup, and will say that its last one is older: \(unnoted). Give whoever "
                    + "makes backups write access to its state folder")
        }
        if let unsealed {
            lines.append(
                "this backup has no seal, so `steward restore --verify` will not know it as this installation's: \(unsealed). "
                    + "Give whoever makes backups write access to its state folder")
        }
        return lines
    }
}

extension BackupManifest.Consistency {
    /// For a person, where it is worth a word.
    func line(_ held: Double) -> String? {
        switch self {
        case .held: "the agent held its steps for \(Int((held * 1000).rounded())) ms"
        case .stopped: nil
        case .stepAtWork: "a step that takes long was at work: the backup is as a power cut would have left it"
        case .unheld:
            "the agent did not answer: the ledger is a moment older than the other stores, and steps that it does not know "
                + "are recognised when they are done again"
        }
    }
}
