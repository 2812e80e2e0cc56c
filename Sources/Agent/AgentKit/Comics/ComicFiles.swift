import ComicArchive
import FileActions
import OwnFiles
import Platform
import Synchronization

/// A library file that was moved: `steward comics move` and `delete`.
package struct ComicMoved: Encodable, Sendable {
    package let from: BytePath
    package let to: BytePath
}

/// A file's type: `steward comics type`.
package struct ComicTyped: Encodable, Sendable {
    package let file: BytePath
    package let type: ComicFileType
    /// The type by the name's extension.
    package let named: ComicFileType

    package var line: String {
        let isOther = named.family != type.family && named != .unknown
        return "\(file): \(type.rawValue)"
            + (isOther ? "  (its name says \(named.rawValue); the type follows its content)" : "")
    }
}

extension ComicOperations {
    /// By content, then by name. Symlinks are followed.
    func type(of path: BytePath) async throws -> ComicFileType {
        try await named(path) {
            try await pool.run {
                let target = Self.canonical(path)
                guard let status = try FileStatus.of(target) else {
                    throw ComicError.fileSystem(.fileNotFound(path))
                }
                if status.kind == .directory { return .folder }
                guard status.kind == .file else { throw Fault(.usage, "\(path) is not a file", path: path) }
                let head = try Descriptor(target).read(at: 0, count: ComicFileType.headLength)
                return ComicFileType.detect(head: head, name: path.name, isDirectory: false)
            }
        }
    }

    package func typed(_ path: BytePath) async throws -> ComicTyped {
        let type = try await type(of: path)
        return ComicTyped(
            file: path, type: type, named: type == .folder ? .folder : ComicFileType(name: path.name))
    }

    /// Moves a comic or a folder within the library. If the name is taken, ` (1)` is appended; nothing is overwritten.
    /// Its reading state moves along.
    ///
    /// - Parameters:
    ///   - target: its new path, or the folder to move it into.
    ///   - isFolder: whether `target` is a folder even if it does not exist yet.
    package func move(_ source: BytePath, to target: BytePath, isFolder: Bool) async throws -> ComicMoved {
        let from = root.appending(try inside(source))
        // The target may be the library's own folder.
        let within = Self.canonical(target) == root ? "" : try inside(target)
        let goesInto = try await pool.run { try FileStatus.of(Self.canonical(target))?.kind == .directory }
        let destination = goesInto || isFolder ? within.appending(name: from.name) : within
        return try await named(from) {
            guard destination != from.relative(to: root) else {
                throw Fault(.usage, "\(from) exists already", path: from)
            }
            let service = try await progressIfAny()
            let isComic = try await pool.run { try FileStatus.of(from)?.kind == .file }
            let content = isComic && service != nil ? try await content(of: from).0 : nil
            let placed = root.appending(try await library.moveFile(from: from, to: destination))
            if let service, let content { try await service.relocate(content, to: placed) }
            return ComicMoved(from: from, to: placed)
        }
    }

    /// Moves a comic of the library to the trash. Its reading progress is kept in case it comes back; it only
    /// disappears from the list of recently read comics.
    package func delete(_ path: BytePath) async throws -> ComicMoved {
        let relative = try inside(path)
        let file = root.appending(relative)
        return try await named(file) {
            let (content, _) = try await content(of: file)
            let placed = Mutex<BytePath?>(nil)
            let trash = trash
            let files = HeldFiles(below: [root, trash.home])
            try await library.deleteFile(relative, expecting: content) { file, hash in
                let slot = try trash.put(file, expecting: hash, mark: hash.description.prefix(8), files).path
                placed.withLock { $0 = slot }
            }
            if let service = try await progressIfAny() { try await service.forgetRecent(content) }
            return ComicMoved(from: file, to: placed.withLock { $0 } ?? file)
        }
    }
}
