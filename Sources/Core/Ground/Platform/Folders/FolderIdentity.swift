import CLinux
import Glibc

/// Which folder stands at a path: tells an unmounted disk's bare mount point, or a folder that was made anew, from the
/// folder that was there.
package struct FolderIdentity: Hashable, Sendable, Codable {
    package var device: UInt64
    package var inode: UInt64
    /// The file system's own number (f_fsid of statvfs(2)): with ext4 or btrfs the same after a reboot, unlike the
    /// device's; 0 where it has none.
    package var fileSystem: UInt64
    /// Whether a file system is mounted just there.
    package var isMount: Bool

    package init(device: UInt64, inode: UInt64, fileSystem: UInt64, isMount: Bool) {
        self.device = device
        self.inode = inode
        self.fileSystem = fileSystem
        self.isMount = isMount
    }

    /// Of an open folder. Blocks.
    package init(_ folder: Descriptor) throws {
        let status = try folder.status()
        var found = statvfs()
        guard fstatvfs(folder.raw, &found) == 0 else { throw Fault.system("look at the file system of", folder.path) }
        self.init(
            device: status.device, inode: status.inode, fileSystem: UInt64(found.f_fsid),
            isMount: steward_is_mount_root(folder.raw) == 1)
    }

    /// Whether both are surely the same folder. Where they are not, they may be all the same: some file systems are
    /// numbered anew with each mount.
    package func isSame(as other: FolderIdentity) -> Bool {
        inode == other.inode && fileSystem == other.fileSystem && (device == other.device || fileSystem != 0)
    }

    /// Whether the same folder may have been mounted anew, under another number.
    package func mayBeRemounted(as other: FolderIdentity) -> Bool { inode == other.inode && isMount == other.isMount }

    /// Opens the folder that a place, or the agent itself, is configured to have: only to name it and what is below it,
    /// which needs no permission to read it. Links are followed, here and nowhere else, and only those that root or the
    /// agent's own user has made: whoever may write above a place must not lead the agent elsewhere.
    ///
    /// - Returns: nil where none is there: no folder of that name, a link of somebody else's, or a folder whose disk or
    ///   server is gone.
    /// - Throws: `Fault` where that cannot be told.
    package static func open(_ path: BytePath) throws -> Descriptor? {
        do {
            return try TrustedPath.folder(path)
        } catch let fault as Fault {
            switch fault.errno {
            case ENOENT, ENOTDIR, ELOOP, ENOTCONN, ESTALE, ENODEV, ENXIO, EHOSTDOWN, EHOSTUNREACH: return nil
            default: throw fault
            }
        }
    }
}
