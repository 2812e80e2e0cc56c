import Glibc

/// Whether this process may read a file, without opening it, so that no watcher sees a read.
package enum ReadAccess {
    /// False only if permission is denied. Blocks.
    package static func isGranted(_ entry: DirectoryEntry) -> Bool { entry.isAccessible(R_OK) || !isDenial(errno) }

    /// Whether a system call failed for lack of permission, which lasts until someone grants it.
    package static func isDenial(_ code: Int32?) -> Bool { code == EACCES || code == EPERM }
}
