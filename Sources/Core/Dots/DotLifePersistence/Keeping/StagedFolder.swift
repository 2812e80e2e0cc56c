import Glibc
import OwnFiles
import Platform

/// A folder filled under a temporary name beside its target, and renamed into place when all of it is durable.
///
/// The temporary name is derived from the target's, so that the next attempt removes the leftovers of a dead process.
/// Everything here blocks.
final class StagedFolder {
    let path: BytePath
    private let target: BytePath
    private let lock: Descriptor
    private var folders: Set<BytePath> = []
    private(set) var linked = 0
    private(set) var copied = 0

    /// - Throws: `Fault(.usage)` if `target` exists already, `.transient` if another process is filling it.
    init(for target: BytePath) throws {
        guard try FileStatus.of(target) == nil else {
            throw Fault(.usage, "\(target) exists already; name a folder that does not", path: target)
        }
        try Durable.makeDirectory(target.parent, mode: 0o700)
        self.target = target
        path = target.parent.appending(Durable.temporaryName(for: ContentHash(of: target.bytes)))
        try Durable.makeDirectory(path, mode: 0o700)
        lock = try Descriptor(path, O_RDONLY | O_DIRECTORY)
        guard try FileLock.acquire(.exclusive, on: lock, by: .whole) else {
            throw Fault(.transient, "another process writes \(target) at the moment; try again later", path: target)
        }
        for entry in try listDirectory(path) { try Self.removeTree(path.appending(name: entry.name)) }
    }

    /// The path for a file of that name in this folder; its parent folders are created.
    func place(_ name: BytePath) throws -> BytePath {
        let place = path.appending(name)
        var parent = place.parent
        while parent != path, folders.insert(parent).inserted {
            try Durable.makeDirectory(parent, mode: 0o700)
            parent = parent.parent
        }
        return place
    }

    /// Adds a file of the store.
    ///
    /// - Parameter linking: as a hard link, if the disk allows it; otherwise as a copy.
    /// - Returns: false if it was here already.
    func add(_ source: BytePath, as name: BytePath, linking: Bool) throws -> Bool {
        let place = try place(name)
        if try FileStatus.of(place) != nil { return false }
        if linking, try link(source, place) {
            linked += 1
            return true
        }
        let staged = try Durable.stageCopy(of: Descriptor(source), for: place).path
        return try give(place, to: staged)
    }

    /// Adds a copy of one of the store's files, if its content is as expected.
    ///
    /// - Returns: false if it is not; the file is not added then.
    func copy(_ source: BytePath, as name: BytePath, expecting sha256: String) throws -> Bool {
        let place = try place(name)
        if try FileStatus.of(place) != nil { return true }
        let (staged, hash, _) = try Durable.stageCopy(of: Descriptor(source), for: place)
        guard hash.description == sha256 else {
            try Durable.remove(staged)
            return false
        }
        _ = try give(place, to: staged)
        return true
    }

    /// - Returns: false if a file of that name was here already.
    private func give(_ place: BytePath, to staged: BytePath) throws -> Bool {
        guard try Durable.renameNew(staged, to: place) else {
            try Durable.remove(staged)
            return false
        }
        copied += 1
        return true
    }

    /// - Returns: false if this file cannot be linked here.
    private func link(_ source: BytePath, _ place: BytePath) throws -> Bool {
        let result = source.withCString { from in place.withCString { Glibc.link(from, $0) } }
        if result == 0 { return true }
        if [EXDEV, EPERM, EMLINK, EACCES, ENOTSUP, ENOSYS].contains(errno) { return false }
        throw Fault.system("link \(source) to", place)
    }

    /// Syncs the folders and renames the whole into place.
    func finish() throws {
        for folder in folders { try Durable.syncDirectory(folder) }
        try Durable.syncDirectory(path)
        guard try Durable.renameNew(path, to: target) else {
            throw Fault(
                .usage, "\(target) was created in the meantime; name a folder that does not exist", path: target)
        }
    }

    /// Removes any existing part of it.
    func discard() throws { try Self.removeTree(path) }

    /// Links are removed, not followed.
    static func removeTree(_ path: BytePath) throws {
        guard try FileStatus.of(path)?.kind == .directory else { return try Durable.remove(path) }
        for entry in try listDirectory(path) { try removeTree(path.appending(name: entry.name)) }
        guard path.withCString({ rmdir($0) }) == 0 || errno == ENOENT else {
            throw Fault.system("remove the folder", path)
        }
    }

    /// Fills a folder using `body`; removes it if `body` throws.
    static func fill<R>(_ target: BytePath, _ body: (StagedFolder) throws -> R) throws -> R {
        Blocking.call()
        let folder = try StagedFolder(for: target)
        do {
            let result = try body(folder)
            try folder.finish()
            return result
        } catch {
            // Report the original error; the next attempt removes the leftovers.
            try? folder.discard()
            throw error
        }
    }
}
