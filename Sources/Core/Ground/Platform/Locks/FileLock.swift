import CLinux
import Glibc

/// Locks that belong to an open file (fcntl(2), F_OFD_SETLK): freed by the kernel when its last descriptor is closed,
/// however the process ends, and unlike those of flock(2) also acquired over NFS.
package enum FileLock {
    package enum Mode: Sendable { case shared, exclusive }

    /// Acquires the lock without waiting.
    ///
    /// - Returns: false where somebody holds one that conflicts.
    package static func acquire(_ mode: Mode, on file: Descriptor) throws -> Bool {
        Blocking.call()
        if steward_lock_file(file.raw, mode == .exclusive ? 1 : 0) == 0 { return true }
        if errno == EAGAIN || errno == EACCES { return false }
        throw Fault.system("lock", file.path)
    }

    /// Acquires the lock, waiting for a moment: a process that has just been forked keeps a copy of every open file, and the
    /// locks with them, until it executes its program. Blocks for at most half a second.
    package static func acquireSoon(_ mode: Mode, on file: Descriptor) throws -> Bool {
        Blocking.call()
        for _ in 0..<20 {
            if try acquire(mode, on: file) { return true }
            poll(nil, 0, 25)
        }
        return try acquire(mode, on: file)
    }

    /// Whether another open file holds a lock on this one, of whatever kind. Needs no more than that it is open.
    package static func isHeldElsewhere(_ file: Descriptor) throws -> Bool {
        Blocking.call()
        let found = steward_is_file_locked(file.raw)
        guard found >= 0 else { throw Fault.system("ask for the locks of", file.path) }
        return found == 1
    }

    /// Gives a lock back before the file is closed.
    package static func release(_ file: Descriptor) throws {
        guard steward_unlock_file(file.raw) == 0 else { throw Fault.system("unlock", file.path) }
    }
}
