import Glibc
import OwnFiles
import Platform

/// One agent per state directory: flock(2) on a file that names the holder. The kernel releases it when the process
/// ends.
package final class StateLock: Sendable {
    private let file: Descriptor

    /// The marker that a restore writes into the state directory before replacing anything, and removes when done.
    package static let restoring = "restore.json"

    /// - Parameter restores: whether the caller is completing an interrupted restore.
    /// - Throws: `Fault(.failed)` naming the process that holds the directory; `.usage` if a restore into it was
    ///   interrupted.
    package init(directory: BytePath, restores: Bool = false) throws {
        try Durable.makeDirectory(directory, mode: 0o700)
        file = try Descriptor(directory.appending("lock"), O_RDWR | O_CREAT)
        guard try FileLock.acquire(.exclusive, on: file, by: .whole) else {
            let holder = String(decoding: (try? file.readAll(limit: 4096)) ?? [], as: UTF8.self)
                .split(separator: "\n").first.map(String.init)
            throw Fault(
                .failed,
                "another agent\(holder.map { " (process \($0))" } ?? "") uses the state directory \(directory); "
                    + "stop it first, or give this one a separate state directory and runtime directory "
                    + "(STEWARD_STATE, STEWARD_RUNTIME)", path: directory)
        }
        if !restores, let (trouble, remedy) = try Self.interruptedRestore(into: directory) {
            throw Fault(.usage, "\(trouble); \(remedy)", path: directory)
        }
        try file.truncate(to: 0)
        try file.write(Array("\(getpid())\n".utf8), at: 0)
    }

    /// What is wrong if a restore into the directory has begun and is not complete; nil if none has.
    package static func interruptedRestore(into directory: BytePath) throws -> (trouble: String, remedy: String)? {
        guard try FileStatus.of(directory.appending(restoring)) != nil else { return nil }
        return (
            "a restore into \(directory) was interrupted, and only part of it is there",
            "run `steward restore`, which finishes it"
        )
    }

    /// Frees the directory even if a thread of this process never ends: a call on a file system that does not answer
    /// keeps the process alive and its files open.
    package func release() {
        // If this fails, the lock goes with the file.
        try? FileLock.release(file, by: .whole)
    }

    /// The process that holds `directory` now; nil if none does.
    package static func holder(of directory: BytePath) -> Int32? {
        guard let file = try? Descriptor(directory.appending("lock"), O_RDWR) else { return nil }
        if (try? FileLock.acquire(.shared, on: file, by: .whole)) == true {
            try? FileLock.release(file, by: .whole)
            return nil
        }
        let text = String(decoding: (try? file.readAll(limit: 4096)) ?? [], as: UTF8.self)
        return Int32(text.prefix { $0.isNumber }) ?? 0
    }
}
