import CLinux
import Glibc

/// Identifies the folder at a path: distinguishes the original from an unmounted disk's bare mount point, or from a
/// folder created again.
package struct FolderIdentity: Hashable, Sendable, Codable {
    package var device: UInt64
    package var inode: UInt64
    /// The file system's id (f_fsid of statvfs(2)); 0 if it has none. Unlike the device number, it survives a reboot
    /// with ext4 or btrfs.
    package var fileSystem: UInt64
    /// Whether the folder is a mount point.
    package var isMount: Bool

    package init(device: UInt64, inode: UInt64, fileSystem: UInt64, isMount: Bool) {
        self.device = device
        self.inode = inode
        self.fileSystem = fileSystem
        self.isMount = isMount
    }

    /// The identity of an open folder. Blocks.
    package init(_ folder: Descriptor) throws {
        let status = try folder.status()
        var found = statvfs()
        guard fstatvfs(folder.raw, &found) == 0 else { throw Fault.system("look at the file system of", folder.path) }
        self.init(
            device: status.device, inode: status.inode, fileSystem: UInt64(found.f_fsid),
            isMount: steward_is_mount_root(folder.raw) == 1)
    }

    /// Whether both are certainly the same folder. If not, they still may be: some file systems get a new number with
    /// each mount.
    package func isSame(as other: FolderIdentity) -> Bool {
        inode == other.inode && fileSystem == other.fileSystem && (device == other.device || fileSystem != 0)
    }

    /// Whether the same folder may have been remounted under another number.
    package func mayBeRemounted(as other: FolderIdentity) -> Bool { inode == other.inode && isMount == other.isMount }

    /// Opens the configured folder of a place, or of the agent itself, only as a base for names (O_PATH), which needs
    /// no read permission. Links are followed, only here, and only if they belong to root or the agent's own user:
    /// others with write access above a place must not redirect the agent.
    ///
    /// - Returns: nil if there is no folder of that name, it is a link of another user, or its disk or server is gone.
    /// - Throws: `Fault` if that cannot be determined.
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
