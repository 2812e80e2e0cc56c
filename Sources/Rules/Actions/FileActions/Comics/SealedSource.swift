import ComicArchive
import ComicVault
import Platform

/// What lies sealed, as the worker gets it: it asks for bytes, and they are opened as it does. Nothing of it lies on a disk
/// in the clear, and no more of it in memory than a few chunks.
extension ArchiveSource {
    /// A deposit's archive.
    ///
    /// - Throws: as ``sealed(_:_:read:stream:)``.
    package static func sealed(_ deposit: DropContent) throws -> ArchiveSource {
        try sealed(deposit.path, deposit.length, read: deposit.read) { try deposit.stream($0) }
    }

    /// A comic's archive in a vault.
    ///
    /// - Parameters:
    ///   - name: what messages call it.
    ///   - progress: told the bytes that are opened, where all of it has to be before the worker begins.
    /// - Throws: as ``sealed(_:_:read:stream:)``.
    package static func sealed(
        _ reader: ObjectReader, _ name: BytePath, progress: (_ done: Int64) throws -> Void
    ) throws -> ArchiveSource {
        try sealed(name, reader.length, read: reader.read) { put in
            var done: Int64 = 0
            try reader.stream { part in
                try put(part)
                done += Int64(part.count)
                try progress(done)
            }
        }
    }

    /// A PDF lies whole in memory: the program that draws it reads a file by itself.
    ///
    /// - Throws: `Fault(.transient)` with ``MemoryFile/tooLarge`` for a PDF that memory has no room for; what `read` and
    ///   `stream` throw.
    private static func sealed(
        _ path: BytePath, _ size: Int64,
        read: @Sendable @escaping (_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws -> Int,
        stream: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> ArchiveSource {
        let archive = AskedArchive(path: path, size: size) { buffer, offset in
            guard try read(buffer, offset) == buffer.count else {
                throw Fault(.failed, "\(path) has fewer bytes than it says; please report it", path: path)
            }
        }
        guard try archive.isPdf() else { return .asked(archive) }
        return .file(try MemoryFile.filled(size, path, stream))
    }
}
