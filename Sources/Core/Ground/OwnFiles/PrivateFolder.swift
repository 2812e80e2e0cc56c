import Glibc
import Platform

/// A folder for what only this process may read and nothing may keep: pages on their way out of a comic.
///
/// The kernel knows who uses it (flock(2)). What a process that was killed has left there is removed when the next one
/// makes a folder of the same purpose. Everything here blocks.
package final class PrivateFolder: Sendable {
    package let path: BytePath
    private let lock: Descriptor

    /// - Parameters:
    ///   - purpose: part of its name.
    ///   - parent: of temporary files; on a local file system.
    package init(_ purpose: String, in parent: BytePath) throws {
        let prefix = "steward-\(purpose)-"
        Self.sweep(parent, Array(prefix.utf8))
        path = parent.appending("\(prefix)\(randomHex(8))")
        guard path.withCString({ mkdir($0, 0o700) }) == 0 else { throw Fault.system("make the folder", path) }
        lock = try Descriptor(path, O_RDONLY | O_DIRECTORY)
        guard try FileLock.acquire(.exclusive, on: lock, by: .whole) else { throw FileLock.held(lock) }
    }

    /// Removes it with the files in it.
    package func remove() throws { try Self.remove(path) }

    private static func remove(_ path: BytePath) throws {
        for entry in try listDirectory(path) { try Durable.remove(path.appending(name: entry.name)) }
        guard path.withCString({ rmdir($0) }) == 0 else { throw Fault.system("remove the folder", path) }
    }

    /// Seconds after which a folder that nobody has locked is not one that is being made.
    private static let youth = 60.0

    /// What cannot be removed now is no reason to go without a folder: the next one tries again.
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
