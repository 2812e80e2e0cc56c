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
