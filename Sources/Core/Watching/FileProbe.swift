import Glibc
import Platform

/// One look at a file that is to be settled. Blocks.
enum FileProbe {
    enum Seen: Sendable {
        case file(FileStatus)
        /// Nothing of that name, or nothing that is a regular file.
        case nothing
        /// It cannot be looked at now.
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

    /// Whether nobody writes to the file, and it is still the one with this fingerprint.
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
            // A write may have ended between our look and the lease.
            return try file.status().fingerprint == expected ? .none : .changed
        } catch let fault as Fault {
            switch fault.errno {
            case ENOENT, ENOTDIR, ELOOP: return .changed
            // Somebody else's lease stands: whoever holds it is at work on the file.
            case EWOULDBLOCK: return .busy
            // A file that we may not open can be watched for standing still, no more.
            default: return .none
            }
        } catch {
            return .none
        }
    }

    /// Whether something beside a vanished file shows that an editor is just replacing it.
    static func isBeingReplaced(_ path: BytePath, _ files: HeldFiles) -> Bool {
        let backup = path.parent.appending(name: path.name + [UInt8(ascii: "~")])
        // What cannot be looked at is no sign of an editor.
        let signs = WorkNames.editorLocks(beside: path) + [backup]
        return signs.contains { ((try? files.status($0)) ?? nil) != nil }
    }
}
