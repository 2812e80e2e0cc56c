import Glibc
import OwnFiles
import Platform

/// A folder of comics (docs/design/comic-archives.md, "The library").
///
/// Paths are relative to the library's folder and cannot leave it, neither by `..` nor by a symlink. Nothing blocks the
/// caller: all work runs on the library's own threads.
package final class ComicLibrary: Sendable {
    package let root: BytePath
    private let pool = BlockingPool("comics.library")

    /// - Parameter root: absolute; it need not exist yet.
    package init(root: BytePath) { self.root = root }

    /// Every comic below `folder`, not counting folders of pictures. Files that cannot be read are listed too.
    package func allComics(in folder: BytePath = "") async throws -> (files: [ComicFile], unreadable: [BytePath]) {
        try await pool.run {
            var files: [ComicFile] = []
            var unreadable: [BytePath] = []
            var open = [folder]
            // A link may lead to a parent folder.
            var seen: Set<[UInt64]> = []
            while let next = open.popLast() {
                do {
                    let status = try self.locate(next).status()
                    guard seen.insert([status.device, status.inode]).inserted else { continue }
                    for file in try self.listBlocking(next) {
                        if file.type == .folder { open.append(file.path) } else { files.append(file) }
                    }
                } catch {
                    if next == folder { throw error }
                    unreadable.append(next)
                }
            }
            return (ComicFile.sorted(files, by: .name), unreadable)
        }
    }

    /// Moves a file or a folder of pictures into or within the library; a name that is taken becomes `name (1).ext`.
    /// Nothing is ever overwritten, and no symlink is followed out of the library.
    ///
    /// - Parameters:
    ///   - source: absolute. A folder must be on the library's file system.
    ///   - destination: below the library's folder.
    ///   - record: as in `Mover.Record`.
    /// - Returns: its final path, below the library's folder.
    /// - Throws: `ComicError.fileSystem`; the source is in place then.
    package func moveFile(
        from source: BytePath, to destination: BytePath,
        record: @escaping @Sendable (BytePath, FileIdentity?) throws -> Void = { _, _ in }
    ) async throws -> BytePath {
        try await pool.run {
            let target = try self.confined(destination)
            do {
                try Durable.makeDirectory(self.root)
                let folder = try LibraryFolder(destination.parent, root: self.root)
                let placed =
                    try Self.isFolder(source)
                    ? try Self.moveFolder(source, to: target)
                    : try Mover.move(
                        source, expecting: ContentHash.ofFile(source), to: Mover.alternatives(target), record: record
                    ).path
                try folder.check(placed, from: source)
                return placed.relative(to: self.root) ?? placed
            } catch {
                throw Self.problem(error, source)
            }
        }
    }

    /// How a file leaves the library. Receives its absolute path and the hash of the examined content.
    package typealias Disposal = @Sendable (BytePath, ContentHash) throws -> Void

    /// Removes a file, if its content is still the one that was examined.
    ///
    /// - Parameter dispose: puts it into the trash, as commands do by default; nil removes it for good.
    /// - Throws: `ComicError.fileSystem`; the file is in place then.
    package func deleteFile(
        _ path: BytePath, expecting hash: ContentHash, by dispose: Disposal? = nil
    ) async throws {
        try await pool.run {
            let full = self.root.appending(path)
            let status = try self.locate(path).status()
            guard status.kind == .file else {
                throw ComicError.fileSystem(
                    .deletionFailed(underlying: Fault(.refused, "\(path) is not a file; remove its files", path: full)))
            }
            do {
                guard try ContentHash.ofFile(full) == hash else {
                    throw Fault(.superseded, "\(path) has changed since it was looked at", path: full)
                }
                if let dispose { try dispose(full, hash) } else { try Mover.removeSource(full, expecting: hash) }
                if try FileStatus.of(full) != nil {
                    throw Fault(
                        .transient, "\(path) is in use or was replaced in the meantime; it was left", path: full)
                }
            } catch {
                throw ComicError.fileSystem(.deletionFailed(underlying: error))
            }
        }
    }

    // MARK: Blocking

    /// The files in a folder, without hidden files, programs' temporary files and files of unknown types.
    private func listBlocking(_ folder: BytePath) throws -> [ComicFile] {
        let directory = try locate(folder)
        let entries: [ListedEntry]
        do {
            guard try directory.status().kind == .directory else {
                throw Fault.system("list", directory.path, errno: ENOTDIR)
            }
            // By descriptor, so that the listed folder is the one found inside the library.
            entries = try listDirectory(BytePath("/proc/self/fd/\(directory.raw)/."))
        } catch {
            throw Self.problem(error, directory.path)
        }
        return try entries.compactMap { entry in
            let path = folder.appending(name: entry.name)
            if entry.name.first == UInt8(ascii: ".") || entry.name.starts(with: "__MACOSX".utf8) { return nil }
            do {
                let found = try locate(path)
                let status = try found.status()
                guard status.kind == .file || status.kind == .directory else { return nil }
                let type = try typeBlocking(path, found)
                if type == .unknown { return nil }
                return ComicFile(
                    path: path, type: type, size: status.kind == .file ? status.size : 0,
                    modified: status.fingerprint.modified)
            } catch ComicError.fileSystem(.fileNotFound) {
                return nil
            } catch ComicError.fileSystem(.permissionDenied) {
                // The file exists and its name gives its type; opening it will tell why it cannot be read.
                let type = ComicFileType(name: entry.name)
                return type == .unknown ? nil : ComicFile(path: path, type: type, size: 0, modified: 0)
            }
        }
    }

    private func typeBlocking(_ path: BytePath, _ found: Descriptor) throws -> ComicFileType {
        do {
            let status = try found.status()
            if status.kind == .directory { return .folder }
            guard status.kind == .file else { return .unknown }
            let head = try SafePath.open(path, beneath: root).read(at: 0, count: ComicFileType.headLength)
            return ComicFileType.detect(head: head, name: path.name, isDirectory: false)
        } catch {
            throw Self.problem(error, root.appending(path))
        }
    }

    private func locate(_ path: BytePath) throws -> Descriptor {
        let full = try confined(path)
        do {
            let directory = try Descriptor(root, O_RDONLY | O_DIRECTORY, follow: true)
            return try SafePath.locate(path, beneath: directory)
        } catch {
            throw Self.problem(error, full)
        }
    }

    private func confined(_ path: BytePath) throws -> BytePath {
        guard !path.isAbsolute, !path.components.contains(where: { $0.elementsEqual("..".utf8) }) else {
            throw ComicError.fileSystem(.permissionDenied(path))
        }
        return root.appending(path)
    }

    private static func isFolder(_ path: BytePath) throws -> Bool {
        guard let status = try FileStatus.of(path) else {
            throw ComicError.fileSystem(.fileNotFound(path))
        }
        return status.kind == .directory
    }

    private static func moveFolder(_ source: BytePath, to target: BytePath) throws -> BytePath {
        guard !target.isWithin(source) else {
            throw Fault(.usage, "\(source) cannot be moved into itself; choose another folder", path: source)
        }
        do {
            for free in Mover.alternatives(target) where try Durable.renameNew(source, to: free) { return free }
        } catch let fault as Fault where fault.errno == EXDEV {
            throw Fault(
                .failed, "\(source) is a folder on another file system than the library; copy it there, then remove it",
                path: source)
        }
        throw Fault(.failed, "no free name for \(source) in the folder it should go to", path: source)
    }

    /// Translates a system error into the library's own.
    static func problem(_ error: any Error, _ path: BytePath) -> any Error {
        guard let fault = error as? Fault else { return error }
        switch fault.errno {
        case ENOTDIR where (try? FileStatus.of(path)) ?? nil != nil:
            return Fault(.failed, "\(path) is not a folder; name its folder", path: path, errno: ENOTDIR)
        case ENOENT, ENOTDIR: return ComicError.fileSystem(.fileNotFound(path))
        case EACCES, EPERM, EXDEV, ELOOP: return ComicError.fileSystem(.permissionDenied(path))
        case ENOSPC, EDQUOT: return ComicError.fileSystem(.insufficientStorage)
        default:
            return fault.kind == .superseded ? ComicError.fileSystem(.fileNotFound(path)) : fault
        }
    }
}
