import Glibc
import OwnFiles
import Platform

/// Copies the files of one store into a backup in progress. It scans repeatedly until nothing changes between two
/// scans; then the copy shows a single moment between them. Everything here blocks.
///
/// A file that is unchanged since the previous backup is hard-linked from there instead of copied, since files in
/// backups are never written again. Files of the store itself are never hard-linked, because they may be written to.
final class BackupMirror {
    let store: BackupStore
    private let target: BytePath
    private let earlier: EarlierBackup?
    private let owners: BackupOwners
    private let tell: (BackupProgress) throws -> Void

    private struct Taken {
        /// The original's fingerprint when its copy was started.
        var fingerprint: Fingerprint
        var file: BackedFile
        var look: Int
    }

    private var taken: [BytePath: Taken] = [:]
    private var looks = 0
    private var hasChanged = false
    private var folders: Set<BytePath> = []
    /// All folders of the store seen by the last scan.
    private var seenFolders: [BytePath: BackupManifest.Folder] = [:]
    private var lock: Descriptor?
    private(set) var linked = 0
    /// Symlinks, pipes and the like, which backups omit.
    private(set) var strange: Set<BytePath> = []

    /// How often to scan a store that keeps changing.
    private static let mostLooks = 12

    /// - Parameter target: the store's folder in the backup; must not exist yet.
    init(
        _ store: BackupStore, in target: BytePath, _ earlier: EarlierBackup?, _ owners: BackupOwners,
        _ tell: @escaping (BackupProgress) throws -> Void
    ) throws {
        (self.store, self.target, self.earlier, self.owners, self.tell) = (store, target, earlier, owners, tell)
        if let name = store.lockedFile, try FileStatus.of(store.root.appending(name)) != nil {
            let file = try Descriptor(store.root.appending(name))
            guard try FileLock.acquireSoon(.shared, on: file) else {
                throw Fault(
                    .transient,
                    "\(store.root) cannot be copied while \(Openers.describe(file.path)) is rewriting it; try again when that "
                        + "is done", path: store.root)
            }
            lock = file
        }
        try Durable.makeDirectory(target, mode: 0o700)
        folders.insert(target)
    }

    /// Copies files that are new or changed since the last scan, and removes those that are gone.
    ///
    /// - Returns: whether anything changed.
    @discardableResult
    func look() throws -> Bool {
        looks += 1
        hasChanged = false
        seenFolders = [:]
        if try FileStatus.of(store.root) != nil || store.followsLinks { try walk("") }
        for (path, found) in taken where found.look != looks {
            try Durable.remove(target.appending(path))
            taken[path] = nil
            hasChanged = true
        }
        return hasChanged
    }

    /// Scans until nothing changes between two scans.
    func copyUntilStill() throws {
        for _ in 0..<Self.mostLooks where try !look() { return }
        throw Fault(
            .transient,
            "\(store.root) keeps changing, and cannot be copied consistently; try again later",
            path: store.root)
    }

    /// Flushes the folders to disk and returns the files, sorted by path.
    func finish() throws -> [BackedFile] {
        lock = nil
        for folder in folders { try Durable.syncDirectory(folder) }
        return taken.values.map(\.file).sorted { $0.path < $1.path }
    }

    /// Folders of the store that contain no files.
    var emptyFolders: [BytePath] {
        var full: Set<BytePath> = []
        for path in taken.keys {
            var folder = path.parent
            while !folder.isEmpty, full.insert(folder).inserted { folder = folder.parent }
        }
        return seenFolders.keys.filter { !full.contains($0) && !$0.isEmpty }.sorted()
    }

    /// The store's root, and folders that differ from it in owner or group or that others may enter.
    var toldFolders: [BackupManifest.Folder] {
        let root = seenFolders[""]
        let differing = seenFolders.values.filter { folder in
            let isAlike = folder.owner == root?.owner && folder.group == root?.group
            return folder.path.isEmpty || folder.mode & 0o077 != 0 || !isAlike
        }
        return differing.sorted { $0.path < $1.path }
    }

    private func told(_ path: BytePath, _ status: FileStatus) -> BackupManifest.Folder {
        let (owner, group) = owners.names(of: status)
        return BackupManifest.Folder(path: path, mode: status.mode & 0o777, owner: owner, group: group)
    }

    private func walk(_ folder: BytePath) throws {
        for entry in try names(in: folder) {
            let path = folder.appending(name: entry)
            guard store.takes(path), !store.isDatabase(path), !store.isCompanion(path) else { continue }
            let whole = store.root.appending(path)
            guard let status = try status(whole) else { continue }
            switch status.kind {
            case .directory:
                seenFolders[path] = told(path, status)
                try walk(path)
            case .file: try take(path, status)
            case .link, .other: strange.insert(whole)
            }
        }
    }

    private func names(in folder: BytePath) throws -> [[UInt8]] {
        do {
            let opened = try Descriptor(
                store.root.appending(folder), O_RDONLY | O_DIRECTORY, follow: store.followsLinks || folder.isEmpty)
            if folder.isEmpty { seenFolders[folder] = told(folder, try opened.status()) }
            return try Folder(opened).entries().map(\.name)
        } catch let fault as Fault where fault.errno == ENOENT {
            return []
        }
    }

    private func status(_ path: BytePath) throws -> FileStatus? {
        guard let status = try FileStatus.of(path) else { return nil }
        guard status.kind == .link, store.followsLinks else { return status }
        do {
            return try Descriptor(path, follow: true).status()
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ELOOP {
            return status
        }
    }

    private func take(_ path: BytePath, _ status: FileStatus) throws {
        if taken[path]?.fingerprint == status.fingerprint {
            taken[path]?.look = looks
            return
        }
        hasChanged = true
        let copy = target.appending(path)
        try place(for: copy)
        if taken.removeValue(forKey: path) != nil { try Durable.remove(copy) }
        let name = BytePath(store.name).appending(path)
        if var known = try earlier?.link(name, status, to: copy) {
            linked += 1
            (known.owner, known.group) = owners.names(of: status)
            taken[path] = Taken(fingerprint: status.fingerprint, file: known, look: looks)
            return
        }
        do {
            let source = try Descriptor(store.root.appending(path), follow: store.followsLinks)
            let opened = try source.status()
            let file = try self.copy(source, opened, to: copy, as: name)
            taken[path] = Taken(fingerprint: opened.fingerprint, file: file, look: looks)
            try tell(.file(path: name, size: file.size))
        } catch let fault as Fault where fault.errno == ENOENT && fault.path == store.root.appending(path) {
            // It disappeared after it was seen.
        }
    }

    private static let cloneFile: UInt = 0x4004_9409

    private func copy(
        _ source: Descriptor, _ status: FileStatus, to target: BytePath, as name: BytePath
    ) throws -> BackedFile {
        let copy = try Descriptor(target, O_RDWR | O_CREAT | O_EXCL)
        let hash: ContentHash
        if ioctl(copy.raw, Self.cloneFile, source.raw) == 0 {
            // A reflink: the file system shares the blocks until either file is written to.
            hash = try ContentHash.of(copy)
        } else {
            hash = try SparseFile.copy(source, to: copy)
        }
        try copy.sync()
        let (owner, group) = owners.names(of: status)
        return BackedFile(
            path: name, role: .file, size: try copy.status().size, sha256: hash, mode: status.mode & 0o777,
            owner: owner, group: group, modified: status.fingerprint.modified, changed: status.fingerprint.changed)
    }

    private func place(for file: BytePath) throws {
        var folder = file.parent
        while folder.isWithin(target), folders.insert(folder).inserted {
            try Durable.makeDirectory(folder, mode: 0o700)
            folder = folder.parent
        }
    }
}

/// Progress of a backup or a restore.
package enum BackupProgress: Sendable {
    case file(path: BytePath, size: Int64)
    case database(path: BytePath, done: Int, total: Int)
}

/// The previous finished backup of the same agent. Everything here blocks.
struct EarlierBackup {
    private let folder: BytePath
    private let files: [BytePath: BackedFile]

    /// - Returns: nil if there is none, or none that can be trusted.
    init?(_ folder: BytePath, _ manifest: BackupManifest) {
        var files: [BytePath: BackedFile] = [:]
        do {
            guard try ContentHash.ofFile(folder.appending(BackupManifest.listingName)) == manifest.listing else {
                return nil
            }
            var listing = try BackupListing(in: folder)
            while let file = try listing.next() { if file.role == .file { files[file.path] = file } }
        } catch {
            // Then everything is copied.
            return nil
        }
        self.folder = folder
        self.files = files
    }

    /// Hard-links an unchanged file.
    ///
    /// - Returns: nil if it must be copied.
    func link(_ name: BytePath, _ status: FileStatus, to target: BytePath) throws -> BackedFile? {
        guard var known = files[name], known.size == status.size, known.modified == status.fingerprint.modified,
            known.changed == status.fingerprint.changed
        else { return nil }
        let source = folder.appending(name)
        guard let there = try FileStatus.of(source), there.kind == .file, there.size == known.size,
            source.withCString({ from in target.withCString { Glibc.link(from, $0) } }) == 0
        else { return nil }
        known.mode = status.mode & 0o777
        return known
    }
}
