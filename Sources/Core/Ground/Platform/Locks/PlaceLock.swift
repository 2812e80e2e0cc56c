import Glibc
import Synchronization

/// Which agent looks after a place, as its lock file says.
package struct PlaceHolder: Sendable, Equatable, CustomStringConvertible {
    /// The process, as its own host or container counts; nil where the file does not say.
    package let process: Int32?
    package let host: String
    /// The path of its state folder, for a person.
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

    /// What the file says is for people alone; it may be anybody's text.
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

/// One agent for each place: an OFD lock on a file in the place's folder, which also says who holds it. The kernel frees it
/// when the process ends, however it ends; over NFS the server keeps it, so that it holds between hosts.
///
/// The file stays open while the lock is held, and stays there afterwards: where a file system keeps names for a while, as NFS
/// and FUSE do, two could hold the lock of two files if one removed its own. Calls block.
package final class PlaceLock: Sendable {
    /// One of the names that are nobody's file (``WorkNames/own``).
    package static let name: [UInt8] = Array(".steward-lock".utf8)

    package enum Answer: Sendable {
        case taken(PlaceLock)
        case held(PlaceHolder)
        /// No lock can be had there: the folder may not be written, or its file system knows no locks.
        case impossible(Fault)
    }

    private let file: Descriptor
    private let status: FileStatus
    private let isHeld = Atomic(true)

    private init(_ file: Descriptor, _ status: FileStatus) { (self.file, self.status) = (file, status) }

    /// Takes the lock on a folder, without waiting.
    ///
    /// - Throws: `Fault` for what may pass by itself.
    package static func take(in folder: Folder, as holder: PlaceHolder) throws -> Answer {
        let spot = folder[name]
        for _ in 0..<16 {
            do {
                guard let file = try open(spot) else { continue }
                guard try file.status().kind == .file else {
                    return .impossible(Fault(.failed, "\(spot.path) is no file", path: spot.path))
                }
                flush(file)
                guard try FileLock.acquire(.exclusive, on: file) else { return .held(PlaceHolder(file)) }
                // Somebody may have removed the file since it was opened.
                let status = try file.status()
                guard try spot.status()?.isSameFile(as: status) == true else { continue }
                sign(file, holder)
                return .taken(PlaceLock(file, status))
            } catch let fault as Fault where fault.errno == ESTALE {
                // Removed on the server by another host.
                continue
            } catch let fault as Fault where impossible.contains(fault.errno ?? 0) || fault.code == Fault.link {
                return .impossible(fault)
            }
        }
        throw Fault(.transient, "\(spot.path) is made anew again and again", path: spot.path)
    }

    /// Closes a copy of the descriptor, which has a FUSE server asked to flush the file. One that has nothing to flush says so
    /// once and is not asked again: now, and not when the agent ends and the server may not answer any more.
    private static func flush(_ file: Descriptor) {
        let copy = dup(file.raw)
        if copy >= 0 { close(copy) }
    }

    /// What does not pass by itself, and a full disk, on which a lock must not stop the work that makes room.
    private static let impossible: Set<Int32> = [
        EACCES, EPERM, EROFS, EISDIR, ENXIO, ENOSPC, EDQUOT, ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL, EBADF,
    ]

    /// Nil where it has come or gone meanwhile.
    private static func open(_ spot: DirectoryEntry) throws -> Descriptor? {
        do {
            return try spot.open(O_RDWR)
        } catch let fault as Fault where fault.errno == ENOENT {
            return try make(spot)
        }
    }

    /// Whoever may write into the folder may lock it, and nobody else: an agent of another user must be able to.
    private static func make(_ spot: DirectoryEntry) throws -> Descriptor? {
        let file: Descriptor
        do {
            file = try spot.open(O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        } catch let fault as Fault where fault.errno == EEXIST {
            return nil
        }
        let folder = try spot.folder.status()
        let writers = folder.mode & 0o022
        // A file can be given to the folder's group by whoever is in it, and by root.
        let isShared = writers & 0o002 != 0 || writers != 0 && fchown(file.raw, uid_t.max, folder.group) == 0
        if isShared { fchmod(file.raw, 0o600 | writers | writers << 1) }
        return file
    }

    /// That it cannot be written, on a full disk say, leaves the lock without a name.
    private static func sign(_ file: Descriptor, _ holder: PlaceHolder) {
        let bytes = Array(holder.text.utf8)
        if ftruncate(file.raw, 0) == 0 { _ = pwrite(file.raw, bytes, bytes.count, 0) }
    }

    /// Who holds the lock of a folder, where somebody does whose lock file may be read.
    ///
    /// - Parameter own: locks of this process, which do not count.
    package static func holder(in folder: Folder, except own: [PlaceLock] = []) throws -> PlaceHolder? {
        let spot = folder[name]
        guard let status = try spot.status(), status.kind == .file,
            !own.contains(where: { $0.status.isSameFile(as: status) })
        else { return nil }
        let file: Descriptor
        do {
            file = try spot.open()
        } catch let fault as Fault where [ENOENT, EACCES, EPERM].contains(fault.errno) || fault.code == Fault.link {
            return nil
        }
        guard try file.status().kind == .file, try FileLock.isHeldElsewhere(file) else { return nil }
        return PlaceHolder(file)
    }

    /// Whether this is still the lock of the folder: its file was not removed, no other folder stands there, and it is held.
    /// Over NFS a lock is lost without a word when the server has not heard of this host for the time of a lease.
    package func stands(in folder: Folder) throws -> Bool {
        guard isHeld.load(ordering: .acquiring),
            try folder[Self.name].status()?.isSameFile(as: status) == true
        else { return false }
        // Asked for again it goes to the server. What the answer is where it was lost differs; it is then taken anew, or not.
        do {
            guard try FileLock.acquire(.exclusive, on: file) else { return false }
            if isHeld.load(ordering: .acquiring) { return true }
            // Given back meanwhile.
            try FileLock.release(file)
            return false
        } catch is Fault {
            return false
        }
    }

    /// Gives the lock back, though a thread of this process may never end and keep the file open.
    package func release() {
        isHeld.store(false, ordering: .releasing)
        // Where that fails it goes with the file.
        try? FileLock.release(file)
    }
}
