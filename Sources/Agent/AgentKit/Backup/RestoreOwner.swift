import Glibc
import OwnFiles
import Platform

/// The rights with which a restore works in a folder, and the owner of restored files: when root restores into another
/// user's folder, that user. Everything here blocks.
struct RestoreOwner {
    private let rights: FileRights?

    /// - Parameter root: the target folder; it need not exist.
    init(of root: BytePath) throws { rights = try FileRights(at: root) }

    private init(_ rights: FileRights) { self.rights = rights }

    /// The writer of an open file; nil if that is the current user.
    static func writer(of file: Descriptor) throws -> RestoreOwner? {
        let status = try file.status()
        return geteuid() == 0 && status.owner != 0 ? RestoreOwner(FileRights(ofOwner: status)) : nil
    }

    /// Whether a file may be given to its original owner: only by root, and only if the whole path belongs to root.
    /// Files that root restores into a user's folder belong to that user, whatever the backup says.
    var mayGive: Bool { rights == nil && geteuid() == 0 }

    /// Sets the owner and group by name, as far as they exist on this machine. A no-op if the file system does not
    /// allow or store ownership.
    static func give(_ file: Descriptor, to owner: String?, _ group: String?, _ names: BackupOwners) throws {
        let (user, group) = (owner.flatMap(names.user(named:)), group.flatMap(names.group(named:)))
        guard user != nil || group != nil else { return }
        guard fchown(file.raw, user ?? uid_t.max, group ?? gid_t.max) != 0 else { return }
        // On some file systems root lacks this right, and it always lacks it for ids outside its namespace.
        guard [EPERM, EINVAL, EOPNOTSUPP].contains(errno) else { throw Fault.system("set the owner of", file.path) }
    }

    /// Runs `body` with exactly the owner's rights; must not be nested.
    func act<R>(_ body: () throws -> R) throws -> R {
        guard let rights else { return try body() }
        return try rights.use(body)
    }

    /// Creates a folder and its missing parents.
    func makeFolder(_ path: BytePath) throws { try act { try Durable.makeDirectory(path, mode: 0o700) } }

    /// Opens a folder of the owner; throws if it has another owner by now.
    func openFolder(_ path: BytePath) throws -> Folder {
        let folder = try Descriptor(path, O_RDONLY | O_DIRECTORY, follow: true)
        if let rights, try !rights.own(folder.status()) {
            throw Fault(.failed, "\(path) got another owner during the restore; find out who did that", path: path)
        }
        return Folder(folder)
    }
}
