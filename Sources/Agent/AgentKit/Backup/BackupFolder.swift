import Foundation
import Glibc
import OwnFiles
import Platform

/// The folder that holds the backups, each in its own subfolder: `steward-20261123T180447Z`. Everything here blocks.
package struct BackupFolder: Sendable {
    package let path: BytePath

    package init(_ path: BytePath) { self.path = path }

    /// Suffix of an unfinished backup. It includes the host name because locks do not work across hosts.
    private static let unfinished = ".\(hostName()).partial"

    static func name(at time: Timestamp) -> String {
        let stamp = time.description.prefix { $0 != "." }.filter { $0.isNumber || $0 == "T" }
        return "steward-\(stamp)Z"
    }

    static func isName(_ name: String) -> Bool {
        let stamp = name.dropFirst(8)
        return name.hasPrefix("steward-") && name.utf8.count == 24 && stamp.hasSuffix("Z")
            && stamp.enumerated().allSatisfy { $0 == 8 ? $1 == "T" : $0 == 15 || $1.isASCII && $1.isNumber }
    }

    /// The time encoded in a name.
    private static func time(of name: String) throws -> Timestamp {
        let digits = name.filter { $0.isASCII && $0.isNumber }.map(String.init)
        let parts = [0..<4, 4..<6, 6..<8, 8..<10, 10..<12, 12..<14].map { digits[$0].joined() }
        let text = "\(parts[0])-\(parts[1])-\(parts[2])T\(parts[3]):\(parts[4]):\(parts[5]).000000000Z"
        return try JSONDecoder().decode(Timestamp.self, from: Data("\"\(text)\"".utf8))
    }

    /// All folders named like a finished backup, oldest first.
    private func named() throws -> [BytePath] {
        guard try FileStatus.of(path) != nil else { return [] }
        return try listDirectory(path).map { BytePath(bytes: $0.name) }.filter { Self.isName($0.text) }.sorted()
            .map { path.appending($0) }
    }

    /// The finished backups, oldest first.
    package func finished() throws -> [(path: BytePath, manifest: BackupManifest)] {
        // A backup that cannot be read is neither used nor removed.
        try named().compactMap { backup in (try? BackupManifest.read(in: backup)).map { (backup, $0) } }
    }

    /// The newest backup of the agent with this state folder on this host; if there is none, the newest of all.
    ///
    /// - Parameter key: this installation's key; nil if it has none.
    /// - Returns: nil if there are no backups.
    /// - Throws: `Fault` if a candidate is damaged or not sealed with the key: it is neither silently skipped nor used.
    func newest(of state: BytePath, _ key: BackupKey?) throws -> BytePath? {
        var (newest, damaged): ((BytePath, BackupManifest)?, (any Error)?) = (nil, nil)
        func known(_ backup: BytePath, _ manifest: BackupManifest) throws -> BytePath {
            guard let key, try !manifest.isSealed(by: key) else { return backup }
            throw Fault(
                .usage,
                "\(backup) is the newest backup in \(path), and is \(BackupOrigin.elsewhere.line(state)). Name the backup that "
                    + "you mean", path: backup)
        }
        for backup in try named().reversed() {
            let manifest: BackupManifest
            do {
                manifest = try BackupManifest.read(in: backup)
            } catch let fault as Fault where fault.errno == EACCES && isAnothers(backup) {
                continue
            } catch {
                if newest == nil { throw error }
                damaged = damaged ?? error
                continue
            }
            if manifest.isOfAgent(in: state) {
                if let damaged { throw damaged }
                return try known(backup, manifest)
            }
            newest = newest ?? (backup, manifest)
        }
        return try newest.map(known)
    }

    private func isAnothers(_ backup: BytePath) -> Bool { (try? FileStatus.of(backup)?.owner) != geteuid() }

    /// Runs `body` under a lock that keeps other processes from starting or removing a backup here.
    private func exclusively<R>(_ body: () throws -> R) throws -> R {
        let lock = try Descriptor(path, O_RDONLY | O_DIRECTORY)
        try FileLock.wait(on: lock)
        return try withExtendedLifetime(lock, body)
    }

    /// A backup in progress, under a name that marks it as unfinished.
    final class Filling {
        let path: BytePath
        private let target: BytePath
        private let lock: Descriptor

        fileprivate init(_ folder: BytePath, _ name: String) throws {
            target = folder.appending(name)
            path = folder.appending(".\(name)\(unfinished)")
            guard path.withCString({ mkdir($0, 0o700) }) == 0 else { throw Fault.system("make the folder", path) }
            lock = try Descriptor(path, O_RDONLY | O_DIRECTORY)
            guard try FileLock.acquire(.exclusive, on: lock, by: .whole) else { throw FileLock.held(lock) }
        }

        /// Renames the backup to its final name.
        func finish() throws -> BytePath {
            try Durable.syncDirectory(path)
            FaultPoint.reach("backup filled")
            guard try Durable.renameNew(path, to: target) else {
                throw Fault(.failed, "\(target) was created in the meantime; try again", path: target)
            }
            return target
        }
    }

    /// Starts a backup and removes unfinished ones whose process died.
    ///
    /// - Parameter newest: the new name must sort after this one: names determine which backup is newer.
    func fill(at time: Timestamp, after newest: BytePath?) throws -> Filling {
        try exclusively {
            try sweep()
            var time = time
            if let newest, newest.nameText >= Self.name(at: time) {
                time = try Self.time(of: newest.nameText).adding(seconds: 1)
            }
            while true {
                let name = Self.name(at: time)
                let isTaken = try listDirectory(path).contains { BytePath(bytes: $0.name).text.contains(name) }
                if !isTaken { return try Filling(path, name) }
                // Another backup has this second.
                time = time.adding(seconds: 1)
            }
        }
    }

    /// Removes older backups of the same agent beyond `count`, but never the one just made. Also kept is the backup
    /// that holds the most of something that has since shrunk: a loss must be noticed before the last copy goes.
    ///
    /// - Returns: the backups removed, and those kept for that reason.
    func keep(
        _ count: Int, with made: BytePath, like newest: BackupManifest
    ) throws -> (removed: [BytePath], spared: [BackupReport.Spared]) {
        try exclusively {
            let ours = try finished().filter { $0.manifest.isOfSameAgent(as: newest) }
            var old = ours.map(\.path).dropLast(max(1, count)).filter { $0 != made }
            guard !old.isEmpty else { return ([], []) }
            let fullest = BackupHoldings.fullest(
                of: ours.map { ($0.path, BackupHoldings($0.manifest, in: $0.path)) },
                now: BackupHoldings(newest, in: made))
            let spared = fullest.filter { old.contains($0.path) }
            old.removeAll { path in spared.contains { $0.path == path } }
            for backup in old {
                let doomed = path.appending(".\(backup.nameText)\(Self.unfinished)")
                guard try Durable.renameNew(backup, to: doomed) else { continue }
                try Self.remove(doomed)
            }
            return (old, spared)
        }
    }

    private func sweep() throws {
        for entry in try listDirectory(path) {
            let name = BytePath(bytes: entry.name).text
            guard name.hasPrefix(".steward-"), name.hasSuffix(Self.unfinished),
                Self.isName(String(name.dropFirst().dropLast(Self.unfinished.count))),
                let lock = try? Descriptor(path.appending(name: entry.name), O_RDONLY | O_DIRECTORY),
                try FileLock.acquire(.exclusive, on: lock, by: .whole)
            else { continue }
            try Self.remove(path.appending(name: entry.name))
        }
    }

    /// Removes a folder and its contents; symlinks are removed, not followed.
    static func remove(_ path: BytePath) throws {
        guard try FileStatus.of(path)?.kind == .directory else { return try Durable.remove(path) }
        for entry in try listDirectory(path) { try remove(path.appending(name: entry.name)) }
        guard path.withCString({ rmdir($0) }) == 0 || errno == ENOENT else {
            throw Fault.system("remove the folder", path)
        }
    }
}
