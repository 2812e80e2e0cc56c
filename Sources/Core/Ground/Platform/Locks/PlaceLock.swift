import Glibc
import Synchronization

/// The agent that manages a place, according to the lock file.
package struct PlaceHolder: Sendable, Equatable, CustomStringConvertible {
    /// The process id on its own host or in its container; nil if the file does not say.
    package let process: Int32?
    package let host: String
    /// The path of its state folder, for display.
    package let state: String

    package init(process: Int32?, host: String, state: String) {
        self.process = process
        self.host = host
        self.state = state
    }

    /// This process.
    package init(state: BytePath) { self.init(process: getpid(), host: hostName(), state: state.description) }

    package var description: String {
        guard let process else { return "another agent" }
        return "process \(process) on host \(host) (state folder \(state))"
    }

    fileprivate var text: String { "process \(process ?? 0)\nhost \(host)\nstate \(state)\n" }

    /// For display only: the file may contain anyone's text.
    fileprivate init(_ file: Descriptor) {
        var words: [Substring: Substring] = [:]
        if let bytes = try? file.read(at: 0, count: 8_192) {
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                let parts = line.split(separator: " ", maxSplits: 1)
                if parts.count == 2 { words[parts[0]] = parts[1] }
            }
        }
        self.init(
            process: words["process"].flatMap { Int32($0) }, host: String(words["host"] ?? "?"),
            state: String(words["state"] ?? "?"))
    }
}

/// One agent per place: an OFD lock on a file in the place's folder, which also names the holder. The kernel releases
/// it when the process ends, however it ends; over NFS the server keeps it, so it works between hosts.
///
/// The file stays open while locked, and is not removed afterwards: on file systems that cache names, such as NFS and
/// FUSE, two agents could otherwise hold locks on two different files. Calls block.
package final class PlaceLock: Sendable {
    /// One of the agent's own names (``WorkNames/own``).
    package static let name: [UInt8] = Array(".steward-lock".utf8)

    package enum Answer: Sendable {
        case taken(PlaceLock)
        case held(PlaceHolder)
        /// Locking is impossible there: the folder is not writable, or its file system does not support locks.
        case impossible(Fault)
    }

    private let file: Descriptor
    private let status: FileStatus
    private let isHeld = Atomic(true)

    private init(_ file: Descriptor, _ status: FileStatus) { (self.file, self.status) = (file, status) }

    /// Tries to lock a folder, without waiting.
    ///
    /// - Throws: `Fault` for errors that may pass.
    package static func take(in folder: Folder, as holder: PlaceHolder) throws -> Answer {
        let entry = folder[name]
        for _ in 0..<16 {
            do {
                guard let file = try open(entry) else { continue }
                guard try file.status().kind == .file else {
                    return .impossible(Fault(.failed, "\(entry.path) is no file", path: entry.path))
                }
                flush(file)
                guard try FileLock.acquire(.exclusive, on: file) else { return .held(PlaceHolder(file)) }
                // The file may have been removed since it was opened.
                let status = try file.status()
                guard try entry.status()?.isSameFile(as: status) == true else { continue }
                sign(file, holder)
                return .taken(PlaceLock(file, status))
            } catch let fault as Fault where fault.errno == ESTALE {
                // Removed on the server by another host.
                continue
            } catch let fault as Fault where impossible.contains(fault.errno ?? 0) || fault.code == Fault.link {
                return .impossible(fault)
            }
        }
        throw Fault(.transient, "\(entry.path) is recreated again and again", path: entry.path)
    }

    /// Closes a duplicate of the descriptor, which makes a FUSE server flush the file. A server with nothing to flush
    /// says so once and is not asked again: let that happen now, not at exit, when it may no longer answer.
    private static func flush(_ file: Descriptor) {
        let copy = dup(file.raw)
        if copy >= 0 { close(copy) }
    }

    /// Permanent errors, and a full disk: the lock must not stop the work that frees space.
    private static let impossible: Set<Int32> = [
        EACCES, EPERM, EROFS, EISDIR, ENXIO, ENOSPC, EDQUOT, ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL, EBADF,
    ]

    /// nil if the file has appeared or disappeared in the meantime.
    private static func open(_ entry: DirectoryEntry) throws -> Descriptor? {
        do {
            return try entry.open(O_RDWR)
        } catch let fault as Fault where fault.errno == ENOENT {
            return try make(entry)
        }
    }

    /// Anyone who may write into the folder may lock it, and no one else: agents of other users must be able to.
    private static func make(_ entry: DirectoryEntry) throws -> Descriptor? {
        let file: Descriptor
        do {
            file = try entry.open(O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        } catch let fault as Fault where fault.errno == EEXIST {
            return nil
        }
        let folder = try entry.folder.status()
        let writers = folder.mode & 0o022
        // Root, and members of the folder's group, can give a file to the group.
        let isShared = writers & 0o002 != 0 || writers != 0 && fchown(file.raw, uid_t.max, folder.group) == 0
        if isShared { fchmod(file.raw, 0o600 | writers | writers << 1) }
        return file
    }

    /// If this fails, for example on a full disk, the lock does not name its holder.
    private static func sign(_ file: Descriptor, _ holder: PlaceHolder) {
        let bytes = Array(holder.text.utf8)
        if ftruncate(file.raw, 0) == 0 { _ = pwrite(file.raw, bytes, bytes.count, 0) }
    }

    /// The holder of a folder's lock, if there is one and the lock file is readable.
    ///
    /// - Parameter own: locks of this process, to be ignored.
    package static func holder(in folder: Folder, except own: [PlaceLock] = []) throws -> PlaceHolder? {
        let entry = folder[name]
        guard let status = try entry.status(), status.kind == .file,
            !own.contains(where: { $0.status.isSameFile(as: status) })
        else { return nil }
        let file: Descriptor
        do {
            file = try entry.open()
        } catch let fault as Fault where [ENOENT, EACCES, EPERM].contains(fault.errno) || fault.code == Fault.link {
            return nil
        }
        guard try file.status().kind == .file, try FileLock.isHeldElsewhere(file) else { return nil }
        return PlaceHolder(file)
    }

    /// Whether this is still the folder's lock: its file was not removed, the folder is the same, and the lock is held.
    /// Over NFS a lock is silently lost if the server has not heard from this host for the lease time.
    package func stands(in folder: Folder) throws -> Bool {
        guard isHeld.load(ordering: .acquiring),
            try folder[Self.name].status()?.isSameFile(as: status) == true
        else { return false }
        // Acquiring it again asks the server. If it was lost, the result varies: it is acquired again, or not.
        do {
            guard try FileLock.acquire(.exclusive, on: file) else { return false }
            if isHeld.load(ordering: .acquiring) { return true }
            // Released in the meantime.
            try FileLock.release(file)
            return false
        } catch is Fault {
            return false
        }
    }

    /// Releases the lock, even if a thread of this process never ends and keeps the file open.
    package func release() {
        isHeld.store(false, ordering: .releasing)
        // If this fails, the lock goes with the file.
        try? FileLock.release(file)
    }
}
