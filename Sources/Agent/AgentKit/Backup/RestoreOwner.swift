import Glibc
import OwnFiles
import Platform

/// With whose rights a restore works in a folder, and whose a restored file is to be: where root restores into what is
/// somebody else's, that user's. Everything here blocks.
struct RestoreOwner {
    private let rights: FileRights?

    /// - Parameter root: where files come to lie, or would; it need not be there.
    init(of root: BytePath) throws { rights = try FileRights(at: root) }

    private init(_ rights: FileRights) { self.rights = rights }

    /// Whoever has written a file that is open; nil where that is whoever runs this.
    static func writer(of file: Descriptor) throws -> RestoreOwner? {
        let status = try file.status()
        return geteuid() == 0 && status.owner != 0 ? RestoreOwner(FileRights(ofOwner: status)) : nil
    }

    /// Whether a file may be given to whom it was: by root, where nothing on the way is anybody else's. What root restores
    /// into somebody's folder is theirs, whatever a backup says.
    var mayGive: Bool { rights == nil && geteuid() == 0 }

    /// Gives what is open to a user and a group of these names, each as far as this machine has it; where it lies owners may
    /// not be set, or are not kept, it stays as it is.
    static func give(_ file: Descriptor, to owner: String?, _ group: String?, _ names: BackupOwners) throws {
        let (user, group) = (owner.flatMap(names.user(named:)), group.flatMap(names.group(named:)))
        guard user != nil || group != nil else { return }
        guard fchown(file.raw, user ?? uid_t.max, group ?? gid_t.max) != 0 else { return }
        // Root has no such power on some file systems, and none over numbers that its namespace lacks.
        guard [EPERM, EINVAL, EOPNOTSUPP].contains(errno) else { throw Fault.system("set the owner of", file.path) }
    }

    /// Does something with the owner's rights, and with no others; not to be nested.
    func act<R>(_ body: () throws -> R) throws -> R {
        guard let rights else { return try body() }
        return try rights.use(body)
    }

    /// Makes a folder and those above it that are missing.
    func makeFolder(_ path: BytePath) throws { try act { try Durable.makeDirectory(path, mode: 0o700) } }

    /// Opens a folder of the owner's; throws where it is another's by now.
    func openFolder(_ path: BytePath) throws -> Folder {
        let folder = try Descriptor(path, O_RDONLY | O_DIRECTORY, follow: true)
        if let rights, try !rights.own(folder.status()) {
            throw Fault(.failed, "\(path) has got another owner while it was restored; look who did that", path: path)
        }
        return Folder(folder)
    }
}
