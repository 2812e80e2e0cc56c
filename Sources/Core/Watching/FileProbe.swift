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

    static func look(_ path: BytePath) -> Seen {
        do {
            guard let status = try FileStatus.of(path), status.kind == .file else { return .nothing }
            return .file(status)
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

    static func writers(_ path: BytePath, _ expected: Fingerprint) -> Writers {
        do {
            let file = try Descriptor(path)
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
    static func isBeingReplaced(_ path: BytePath) -> Bool {
        if WorkNames.editorLock(on: path) != nil { return true }
        let backup = path.parent.appending(name: path.name + [UInt8(ascii: "~")])
        var found = stat()
        return backup.withCString { lstat($0, &found) } == 0
    }
}
