import Glibc
import Platform

/// A temporary folder that only this process may read, such as for pages extracted from a comic.
///
/// The folder is locked with flock(2) while in use. The next process that creates a folder for the same purpose removes
/// those left by killed processes. Every call blocks.
package final class PrivateFolder: Sendable {
    package let path: BytePath
    private let lock: Descriptor

    /// - Parameters:
    ///   - purpose: part of its name.
    ///   - parent: a folder for temporary files on a local file system.
    package init(_ purpose: String, in parent: BytePath) throws {
        let prefix = "steward-\(purpose)-"
        Self.sweep(parent, Array(prefix.utf8))
        path = parent.appending("\(prefix)\(randomHex(8))")
        guard path.withCString({ mkdir($0, 0o700) }) == 0 else { throw Fault.system("make the folder", path) }
        lock = try Descriptor(path, O_RDONLY | O_DIRECTORY)
        guard try FileLock.acquire(.exclusive, on: lock, by: .whole) else { throw FileLock.held(lock) }
    }

    /// Removes the folder with its files.
    package func remove() throws { try Self.remove(path) }

    private static func remove(_ path: BytePath) throws {
        for entry in try listDirectory(path) { try Durable.remove(path.appending(name: entry.name)) }
        guard path.withCString({ rmdir($0) }) == 0 else { throw Fault.system("remove the folder", path) }
    }

    /// An unlocked folder older than this, in seconds, is not just being created.
    private static let youth = 60.0

    /// Failing to remove an old folder is no reason to fail: the next process tries again.
    private static func sweep(_ parent: BytePath, _ prefix: [UInt8]) {
        for entry in (try? listDirectory(parent)) ?? [] where entry.name.starts(with: prefix) {
            let path = parent.appending(name: entry.name)
            guard let status = try? FileStatus.of(path), status.kind == .directory, status.owner == geteuid(),
                Timestamp.now().seconds - Double(status.fingerprint.modified) / 1e9 > youth,
                let lock = try? Descriptor(path, O_RDONLY | O_DIRECTORY),
                (try? FileLock.acquire(.exclusive, on: lock, by: .whole)) == true
            else { continue }
            try? remove(path)
        }
    }
}
