import ComicArchive
import ComicVault
import Platform

/// Sealed content as a source for the worker. Bytes are decrypted as the worker asks for them, so no plaintext reaches
/// a disk and only a few chunks are in memory.
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
    ///   - name: the archive's name in messages.
    ///   - progress: called with the bytes decrypted so far, if all of it is needed before the worker starts.
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

    /// A PDF is loaded into memory whole, because the program that renders it reads a file.
    ///
    /// - Throws: `Fault(.transient)` with ``MemoryFile/tooLarge`` if a PDF does not fit into memory; errors of `read`
    ///   and `stream`.
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
