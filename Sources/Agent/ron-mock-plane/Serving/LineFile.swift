import Glibc
import OwnFiles
import Platform
import Synchronization

/// An append-only file of lines, held by one process at a time. Everything here blocks: use it on a `BlockingPool`.
final class LineFile: Sendable {
    private let file: Descriptor
    private let end: Mutex<Int64>

    /// The lines found on opening.
    let found: [String]

    /// Opens or creates the file. An unterminated last line is cut off: a process was killed while writing it and has
    /// not acknowledged it.
    ///
    /// - Parameter path: of the file; its folder must exist.
    /// - Throws: `Fault`, also if another process holds it.
    init(_ path: BytePath) throws {
        file = try Descriptor(path, O_RDWR | O_CREAT, mode: 0o600, follow: true)
        guard try FileLock.acquireSoon(.exclusive, on: file) else {
            throw Fault(.usage, "another process writes \(path): give each mock plane its own file", path: path)
        }
        let bytes = try file.readAll(limit: 1 << 30)
        let whole = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        if whole < bytes.count { try file.truncate(to: Int64(whole)) }
        try file.sync()
        try Durable.syncDirectory(path.parent)
        found = bytes[..<whole].split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        end = Mutex(Int64(whole))
    }

    /// Appends a line.
    ///
    /// - Parameters:
    ///   - line: without the newline.
    ///   - synced: whether to flush it to disk before returning.
    /// - Throws: `Fault`; then the line is not in the file.
    func append(_ line: String, synced: Bool) throws {
        let bytes = Array(line.utf8) + [0x0A]
        try end.withLock { end in
            do {
                try file.write(bytes, at: end)
                if synced { try file.sync() }
            } catch {
                try file.truncate(to: end)
                throw error
            }
            end += Int64(bytes.count)
        }
    }
}
