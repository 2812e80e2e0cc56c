import CLinux
import Glibc

/// Locks that belong to an open file: freed by the kernel when its last descriptor is closed, however the process ends.
package enum FileLock {
    package enum Mode: Sendable { case shared, exclusive }

    /// The kernel has two kinds of locks, which know nothing of each other.
    package enum Kind: Sendable {
        /// fcntl(2), F_OFD_SETLK: also acquired over NFS. An exclusive lock needs a file that is open for writing, so that
        /// a folder cannot have one.
        case record
        /// flock(2): on folders as well, and seen by flock(1).
        case whole
    }

    /// Acquires the lock without waiting.
    ///
    /// - Returns: false where somebody holds one that conflicts.
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

    /// Acquires the lock, waiting for a moment: a process that has just been forked keeps a copy of every open file, and the
    /// locks with them, until it executes its program. Blocks.
    ///
    /// - Parameter seconds: for which it waits at most.
    /// - Returns: false where somebody still holds one that conflicts.
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

    /// Acquires an exclusive lock by flock(2). Blocks until nobody else holds one.
    package static func wait(on file: Descriptor) throws {
        Blocking.call()
        while flock(file.raw, LOCK_EX) != 0 {
            guard errno == EINTR else { throw Fault.system("lock", file.path) }
        }
    }

    /// What is said of a file that somebody else has locked.
    package static func held(_ file: Descriptor) -> Fault {
        Fault(.transient, "another process has locked \(file.path); try again when it is done", path: file.path)
    }

    /// Whether another open file holds a lock on this one, of whatever kind. Needs no more than that it is open.
    package static func isHeldElsewhere(_ file: Descriptor) throws -> Bool {
        Blocking.call()
        let found = steward_is_file_locked(file.raw)
        guard found >= 0 else { throw Fault.system("ask for the locks of", file.path) }
        return found == 1
    }

    /// Gives a lock back before the file is closed.
    package static func release(_ file: Descriptor, by kind: Kind = .record) throws {
        let result = kind == .record ? steward_unlock_file(file.raw) : flock(file.raw, LOCK_UN)
        guard result == 0 else { throw Fault.system("unlock", file.path) }
    }
}
