import Glibc
import OwnFiles
import Platform

/// Performs the operations of jobs in a folder, on a temporary file of its own. Blocks.
struct FolderProbe {
    private let folder: BytePath

    init(_ folder: BytePath) { self.folder = folder }

    /// The first operation that failed; nil if all succeeded.
    ///
    /// - Throws: `Fault` if no file can be created, for a reason that is not specific to the agent.
    func finding(_ subject: String, needsLeases: Bool = true) throws -> Examination.Finding? {
        func bad(_ message: String, _ remedy: String) -> Examination.Finding {
            Examination.Finding(subject, message, remedy: remedy)
        }
        let probe = Durable.temporaryName(in: folder)
        let file: Descriptor
        do {
            file = try SafePath.open(
                BytePath(bytes: probe.name), beneath: folder, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        } catch let fault as Fault where Self.isWithheld(fault.errno) {
            return bad(
                "no file can be opened below \(folder): the system call openat2 is blocked (\(fault.message))",
                "nothing can be done there; in a systemd unit `RestrictSUIDSGID=yes` blocks it (remove that line), "
                    + "in a container its seccomp profile; a kernel before 5.6 has no such call")
        }
        defer { try? Durable.remove(probe) }
        if needsLeases {
            switch Lease.acquireExclusive(file) {
            case .granted: Lease.release(file)
            case .busy, .unsupported:
                return bad(
                    "\(folder) grants no leases, so that writers are noticed only by waiting",
                    "put notes written by several programs on a local file system; in a unit make sure that fcntl is "
                        + "not filtered")
            }
        }
        do {
            try ExtendedAttributes.set("user.steward.probe", [1], on: file)
        } catch let fault as Fault where fault.errno != ENOTSUP {
            return bad(
                "no attribute can be set on a file in \(folder) (\(fault.message))",
                "`tag` fails there, and copies lose their tags; find out what blocks fsetxattr")
        } catch {
            // The file system does not support them; `tag` reports that itself.
        }
        return nil
    }

    /// The errors of a system call filter or a kernel without the call; a lack of permission is EACCES.
    private static func isWithheld(_ code: Int32?) -> Bool { code == ENOSYS || code == EPERM }
}
