import Glibc
import OwnFiles
import Platform

/// The folder in which backups lie, each in one of its own: `steward-20261123T180447Z`. Everything here blocks.
package struct BackupFolder: Sendable {
    package let path: BytePath

    package init(_ path: BytePath) { self.path = path }

    private static let unfinished = ".partial"

    static func name(at time: Timestamp) -> String {
        let stamp = time.description.prefix { $0 != "." }.filter { $0.isNumber || $0 == "T" }
        return "steward-\(stamp)Z"
    }

    static func isName(_ name: String) -> Bool {
        let stamp = name.dropFirst(8)
        return name.hasPrefix("steward-") && name.utf8.count == 24 && stamp.hasSuffix("Z")
            && stamp.enumerated().allSatisfy { $0 == 8 ? $1 == "T" : $0 == 15 || $1.isASCII && $1.isNumber }
    }

    /// The finished ones, oldest first.
    package func finished() throws -> [(path: BytePath, manifest: BackupManifest)] {
        guard try FileStatus.of(path) != nil else { return [] }
        return try listDirectory(path).map { BytePath(bytes: $0.name) }.filter { Self.isName($0.text) }.sorted()
            .compactMap { name in
                // What cannot be read is not ours to rely on, nor to remove.
                (try? BackupManifest.read(in: path.appending(name))).map { (path.appending(name), $0) }
            }
    }

    /// A backup that is being filled, under a name that nobody takes for a finished one.
    final class Filling {
        let path: BytePath
        private let target: BytePath
        private let lock: Descriptor

        fileprivate init(_ folder: BytePath, _ name: String) throws {
            target = folder.appending(name)
            path = folder.appending(".\(name)\(unfinished)")
            guard path.withCString({ mkdir($0, 0o700) }) == 0 else { throw Fault.system("make the folder", path) }
            lock = try Descriptor(path, O_RDONLY | O_DIRECTORY)
            guard flock(lock.raw, LOCK_EX | LOCK_NB) == 0 else { throw Fault.system("lock", path) }
        }

        /// Gives it its name, which is all that was missing.
        func finish() throws -> BytePath {
            try Durable.syncDirectory(path)
            FaultPoint.reach("backup filled")
            guard try Durable.renameNew(path, to: target) else {
                throw Fault(.failed, "\(target) has appeared meanwhile; try again", path: target)
            }
            return target
        }
    }

    /// Begins a backup, and removes what others have left that died.
    func fill(at time: Timestamp) throws -> Filling {
        try sweep()
        var time = time
        while true {
            let name = Self.name(at: time)
            if try FileStatus.of(path.appending(name)) == nil {
                do {
                    return try Filling(path, name)
                } catch let fault as Fault where fault.errno == EEXIST {}
            }
            // Another has this second.
            time = time.adding(seconds: 1)
        }
    }

    /// Removes older backups of the same agent, beyond `count` of them.
    ///
    /// - Returns: those that it has removed.
    func keep(_ count: Int, like newest: BackupManifest) throws -> [BytePath] {
        let ours = try finished().filter { $0.manifest.isOfSameAgent(as: newest) }.map(\.path)
        let old = Array(ours.dropLast(max(1, count)))
        for backup in old {
            let doomed = path.appending(".\(backup.nameText)\(Self.unfinished)")
            guard try Durable.renameNew(backup, to: doomed) else { continue }
            try Self.remove(doomed)
        }
        return old
    }

    private func sweep() throws {
        for entry in try listDirectory(path) {
            let name = BytePath(bytes: entry.name).text
            guard name.hasPrefix(".steward-"), name.hasSuffix(Self.unfinished),
                Self.isName(String(name.dropFirst().dropLast(Self.unfinished.count))),
                let lock = try? Descriptor(path.appending(name: entry.name), O_RDONLY | O_DIRECTORY),
                flock(lock.raw, LOCK_EX | LOCK_NB) == 0
            else { continue }
            try Self.remove(path.appending(name: entry.name))
        }
    }

    /// Removes a folder with all that is in it; links are removed, not followed.
    static func remove(_ path: BytePath) throws {
        guard try FileStatus.of(path)?.kind == .directory else { return try Durable.remove(path) }
        for entry in try listDirectory(path) { try remove(path.appending(name: entry.name)) }
        guard path.withCString({ rmdir($0) }) == 0 || errno == ENOENT else {
            throw Fault.system("remove the folder", path)
        }
    }
}
