import CLinux
import Glibc

/// Locks of an open file. The kernel releases them when the last descriptor is closed, however the process ends.
package enum FileLock {
    package enum Mode: Sendable { case shared, exclusive }

    /// The kernel has two kinds of locks, which do not see each other.
    package enum Kind: Sendable {
        /// fcntl(2), F_OFD_SETLK: works over NFS. An exclusive lock requires a file open for writing, so a folder
        /// cannot have one.
        case record
        /// flock(2): also for folders, and visible to flock(1).
        case whole
    }

    /// Acquires the lock without waiting.
    ///
    /// - Returns: false if there is a conflicting lock.
    package static func acquire(_ mode: Mode, on file: Descriptor, by kind: Kind = .record) throws -> Bool {
        Blocking.call()
        let isExclusive = mode == .exclusive
        let result =
            switch kind {
            case .record: steward_lock_file(file.raw, isExclusive ? 1 : 0)
            case .whole: flock(file.raw, (isExclusive ? LOCK_EX : LOCK_SH) | LOCK_NB)
            }
        if result == 0 { return true }
        if errno == EAGAIN || errno == EACCES { return false }
        throw Fault.system("lock", file.path)
    }

    /// Acquires the lock, waiting briefly: a newly forked process keeps a copy of every open file, and its locks, until
    /// it calls exec. Blocks.
    ///
    /// - Parameter seconds: how long to wait at most.
    /// - Returns: false if there is still a conflicting lock.
    package static func acquireSoon(
        _ mode: Mode, on file: Descriptor, by kind: Kind = .record, within seconds: Double = 0.5
    ) throws -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        while try !acquire(mode, on: file, by: kind) {
            guard ContinuousClock.now < end else { return false }
            poll(nil, 0, 25)
        }
        return true
    }

    /// Acquires an exclusive lock with flock(2). Blocks until no one else holds one.
    package static func wait(on file: Descriptor) throws {
        Blocking.call()
        while flock(file.raw, LOCK_EX) != 0 {
            guard errno == EINTR else { throw Fault.system("lock", file.path) }
        }
    }

    /// The error for a file locked by another process.
    package static func held(_ file: Descriptor) -> Fault {
        Fault(.transient, "another process has locked \(file.path); try again when it is done", path: file.path)
    }

    /// Whether another open file holds a lock of either kind on this one. It need only be open.
    package static func isHeldElsewhere(_ file: Descriptor) throws -> Bool {
        Blocking.call()
        let found = steward_is_file_locked(file.raw)
        guard found >= 0 else { throw Fault.system("ask for the locks of", file.path) }
        return found == 1
    }

    /// Releases a lock before the file is closed.
    package static func release(_ file: Descriptor, by kind: Kind = .record) throws {
        let result = kind == .record ? steward_unlock_file(file.raw) : flock(file.raw, LOCK_UN)
        guard result == 0 else { throw Fault.system("unlock", file.path) }
    }
}
