import Glibc
import Platform

/// One look at a file that has to settle. Blocks.
enum FileProbe {
    enum Seen: Sendable {
        case file(FileStatus)
        /// There is no such name, or it is not a regular file.
        case nothing
        /// It cannot be examined right now.
        case unknown
    }

    static func look(_ path: BytePath, _ files: HeldFiles) -> Seen {
        do {
            guard let status = try files.status(path), status.kind == .file else { return .nothing }
            return .file(status)
        } catch let fault as Fault where fault.code == Fault.link {
            return .nothing
        } catch {
            return .unknown
        }
    }

    /// Whether the file has no writers and still has this fingerprint.
    enum Writers: Sendable {
        case none
        case busy
        case changed
    }

    static func writers(_ path: BytePath, _ expected: Fingerprint, _ files: HeldFiles) -> Writers {
        do {
            let file = try files.open(path)
            guard try file.status().fingerprint == expected else { return .changed }
            if Lease.probeWriters(file) == .busy { return .busy }
            // A writer may have finished between our look and the lease.
            return try file.status().fingerprint == expected ? .none : .changed
        } catch let fault as Fault {
            switch fault.errno {
            case ENOENT, ENOTDIR, ELOOP: return .changed
            // Another process holds a lease, so it is working on the file.
            case EWOULDBLOCK: return .busy
            // If we may not open a file, all we can do is wait until it stops changing.
            default: return .none
            }
        } catch {
            return .none
        }
    }

    /// Whether the files next to a vanished file show that an editor is just replacing it.
    static func isBeingReplaced(_ path: BytePath, _ files: HeldFiles) -> Bool {
        let backup = path.parent.appending(name: path.name + [UInt8(ascii: "~")])
        // If the status cannot be read, assume no editor.
        let signs = WorkNames.editorLocks(beside: path) + [backup]
        return signs.contains { ((try? files.status($0)) ?? nil) != nil }
    }
}
