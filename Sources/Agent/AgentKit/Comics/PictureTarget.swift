import Glibc
import OwnFiles
import Platform

/// The destination of a picture taken or generated from a comic.
package enum PictureTarget: Sendable, Equatable {
    case standardOutput
    /// A new file; or a folder, in which it gets a generated name.
    case path(BytePath, isFolder: Bool, replaces: Bool)

    /// Writes the picture to its destination. Blocks.
    ///
    /// - Parameters:
    ///   - name: used in a folder.
    ///   - mode: of a new file.
    ///   - write: writes the whole picture to a file or pipe.
    /// - Returns: the file's path; nil for standard output.
    /// - Throws: `Fault` if something exists there that may not be replaced.
    package func deliver(
        named name: @autoclosure () -> [UInt8], mode: mode_t = 0o644, write: (Descriptor) throws -> Void
    ) throws -> BytePath? {
        guard case .path(let path, let isFolder, let replaces) = self else {
            let copy = dup(STDOUT_FILENO)
            guard copy >= 0 else { throw Fault.system("write to standard output") }
            try write(Descriptor(owning: copy, path: "standard output"))
            return nil
        }
        let isInFolder = try isFolder || FileStatus.of(ComicOperations.canonical(path))?.kind == .directory
        let target = isInFolder ? path.appending(name: name()) : path
        try Self.save(at: target, replaces: replaces, mode, write)
        return target
    }

    /// Writes a file that appears under its name only when complete.
    private static func save(
        at target: BytePath, replaces: Bool, _ mode: mode_t, _ write: (Descriptor) throws -> Void
    ) throws {
        let exists = Fault(
            .failed, "\(target) exists already; give another name, or --force to replace it", path: target)
        let existing = try FileStatus.of(target)
        if let existing, existing.kind != .file {
            throw Fault(
                .failed, "\(target) is not a file and is left alone; give another name, or `-` for a pipe",
                path: target)
        }
        if existing != nil, !replaces { throw exists }
        let made: UnseenFile
        do {
            made = try UnseenFile(for: target, mode: mode)
        } catch let fault as Fault where fault.errno == ENOENT {
            throw Fault(.failed, "there is no folder \(target.parent); create it first", path: target, errno: ENOENT)
        }
        do {
            try write(made.file)
            guard try made.become(target, replaces: existing != nil) else { throw exists }
        } catch {
            try made.discard()
            throw error
        }
    }

    /// Writes all bytes to a file or pipe, from its current position.
    package static func write(_ bytes: [UInt8], to target: Descriptor) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let put = rest.withUnsafeBytes { Glibc.write(target.raw, $0.baseAddress, $0.count) }
            if put < 0 && errno == EINTR { continue }
            guard put > 0 else { throw Fault.system("write", target.path) }
            rest = rest.dropFirst(put)
        }
    }

    static func copy(_ source: Descriptor, to target: Descriptor) throws {
        var offset: Int64 = 0
        while true {
            let part = try source.read(at: offset, count: 262_144)
            if part.isEmpty { return }
            try write(part, to: target)
            offset += Int64(part.count)
        }
    }
}
