import Glibc

/// Whether this process may read a file, asked without opening it, so that nobody who watches takes it for a reading.
package enum ReadAccess {
    /// False only where permission is what lacks. Blocks.
    package static func isGranted(_ spot: DirectoryEntry) -> Bool { spot.isAccessible(R_OK) || !isDenial(errno) }

    /// Whether a system call failed because the process was not permitted, which lasts until somebody grants it.
    package static func isDenial(_ code: Int32?) -> Bool { code == EACCES || code == EPERM }
}
