import ComicArchive
import FileActions
import Foundation
import Glibc
import OwnFiles
import Platform

/// The context of the comic commands: a library folder, reading progress, the caged worker and the trash. Each is
/// opened on first use, so that a command needs no more than it uses.
package actor ComicOperations {
    package nonisolated let library: ComicLibrary
    package nonisolated let directories: Directories
    nonisolated let pool = BlockingPool("comics.operations")
    private var opened: ProgressService?
    private var started: ArchiveWorker?

    /// The library's folder, with symlinks resolved as far as it exists.
    package nonisolated var root: BytePath { library.root }

    /// - Parameter root: absolute.
    package init(root: BytePath, directories: Directories) {
        library = ComicLibrary(root: Self.canonical(root))
        self.directories = directories
    }

    nonisolated var trash: TrashCan { TrashCan(home: directories.trash) }

    func worker() throws -> ArchiveWorker {
        if let started { return started }
        let worker = try ArchiveWorker()
        started = worker
        return worker
    }

    func validator() throws -> ComicValidator { ComicValidator(worker: try worker()) }

    func reader(_ path: BytePath) async throws -> any ArchiveReader {
        let kind = try await pool.run { try FileStatus.of(path)?.kind }
        guard [nil, .file, .directory].contains(kind) else {
            throw Fault(.usage, "\(path) is not a file", path: path)
        }
        do {
            return try await ArchiveReaderFactory(worker: try worker()).reader(for: path)
        } catch ComicError.archive(.unsupportedFormat(let format))
            where format.lowercased() == ComicFileType.unknown.rawValue
        {
            throw Fault(
                .refused,
                "\(path) is not a comic "
                    + "(\(ArchiveFormat.comicNames.joined(separator: ", ")), a picture or a folder of pictures)",
                path: path)
        }
    }

    func progress() async throws -> ProgressService {
        if let opened { return opened }
        let state = directories.state
        let service = try await pool.run { try ProgressService.open(directory: state) }
        // Another call may have opened it during the wait.
        if let opened { return opened }
        opened = service
        return service
    }

    /// nil if nothing was ever read: a read-only command must not create files.
    func progressIfAny() async throws -> ProgressService? {
        if let opened { return opened }
        let file = directories.state.appending("comics.sqlite")
        return try await pool.run { try FileStatus.of(file) } == nil ? nil : try await progress()
    }

    /// Hashes a whole file.
    ///
    /// - Throws: `Fault(.usage)` for a folder, which has no content of its own.
    func content(of path: BytePath, _ meter: ProgressMeter? = nil) async throws -> (ContentHash, Fingerprint) {
        try await pool.run {
            guard let status = try FileStatus.of(path) else { throw ComicError.fileSystem(.fileNotFound(path)) }
            guard status.kind == .file else {
                throw Fault(
                    .usage, "\(path) is not a file; progress and bookmarks are kept for comics in one file", path: path)
            }
            let file = try Descriptor(path)
            var hasher = StreamingHash()
            var offset: Int64 = 0
            while true {
                let part = try file.read(at: offset, count: 1 << 20)
                if part.isEmpty { break }
                hasher.update(part)
                offset += Int64(part.count)
                meter?.show(offset, of: status.size, "reading \(BytePath(bytes: path.name))")
            }
            return (hasher.finish(), try file.status().fingerprint)
        }
    }

    /// Checkpoints and closes the progress database. Call this last.
    package func close() async throws {
        guard let opened else { return }
        self.opened = nil
        try await pool.run { try opened.close() }
    }
}

extension ComicOperations {
    /// The path meant by an argument: relative to the working directory if not absolute. If there is no such file,
    /// `\xFF` escapes are decoded, as commands print them for names that are not UTF-8.
    package static func path(_ argument: BytePath, from folder: BytePath) -> BytePath {
        func absolute(_ path: BytePath) -> BytePath { path.isAbsolute ? path : folder.appending(path) }
        let plain = absolute(argument)
        guard let text = String(validating: argument.bytes, as: UTF8.self), text.contains("\\x"),
            (try? FileStatus.of(plain)) ?? nil == nil
        else { return tidy(plain) }
        return tidy(absolute(BytePath(bytes: BytePath.unescape(text))))
    }

    /// Without `.`, and without `..` if the preceding component is a real folder's name.
    private static func tidy(_ path: BytePath) -> BytePath {
        let parts = path.components.filter { !$0.elementsEqual(".".utf8) }
        guard parts.count != path.components.count || parts.contains(where: { $0.elementsEqual("..".utf8) }) else {
            return path
        }
        let plain = BytePath(bytes: parts.reduce(into: [UInt8]()) { $0 += [UInt8(ascii: "/")] + $1 })
        return parts.contains { $0.elementsEqual("..".utf8) } ? canonical(plain) : plain
    }

    /// Resolves symlinks in the part of the path that exists. Blocks.
    static func canonical(_ path: BytePath) -> BytePath {
        var existing = path
        var rest: [[UInt8]] = []
        while existing.components.count > 0 {
            if let base = existing.real {
                return rest.reversed().reduce(base) { $0.appending(name: $1) }
            }
            rest.append(existing.name)
            existing = existing.parent
        }
        return path
    }

    /// The path of a library file relative to the library's folder. A symlink in the last component is not resolved.
    ///
    /// - Throws: `Fault(.usage)` for a path outside.
    package nonisolated func inside(_ path: BytePath) throws -> BytePath {
        let known = path == BytePath("/") ? path : Self.canonical(path.parent).appending(name: path.name)
        guard let relative = known.relative(to: root), !relative.isEmpty else {
            throw Fault(
                .usage, "\(path) is not in the library \(root); name the library it belongs to with --library",
                path: path)
        }
        return relative
    }
}
