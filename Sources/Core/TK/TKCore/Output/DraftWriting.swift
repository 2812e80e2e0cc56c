import Glibc
import OwnFiles
import Platform

/// Replaces a draft by its changed version. Everything here blocks.
package enum DraftWriting {
    /// Atomically replaces a draft, if its content is unchanged; mode, owner and attributes are kept. If it is a
    /// symlink, its target is replaced. A file with hard links, or of another owner, is written in place while it is
    /// not open elsewhere. If the file system, or the ownership, makes that impossible to check, a file with one name
    /// is replaced nonetheless and becomes the caller's.
    ///
    /// - Throws: `Fault`: `.refused` if an editor's swap or lock file exists, or if a concurrent save could not be
    ///   detected; `.superseded` if the content has changed. Nothing has changed then.
    package static func replace(_ path: BytePath, _ old: [UInt8], with new: [UInt8]) throws {
        let target = try resolved(path)
        try refuseWhileOpen(target)
        guard let status = try FileStatus.of(target), status.kind == .file else {
            throw Fault(.usage, "\(path) is no plain file, so it cannot be changed in place", path: path)
        }
        guard target.withCString({ access($0, W_OK) }) == 0 else { throw Fault.system("write to", target) }
        if status.links > 1 || !mayKeepOwner(status) { return try rewrite(target, old, with: new) }
        guard try exchange(target, status, old, with: new, keepsOwner: true) else {
            return try rewrite(target, old, with: new)
        }
    }

    /// Swaps the file for a changed copy, and checks the displaced file before removing it.
    ///
    /// - Parameter status: of the examined file.
    /// - Returns: false on a file system that cannot swap two names; nothing has changed then.
    private static func exchange(
        _ path: BytePath, _ status: FileStatus, _ old: [UInt8], with new: [UInt8], keepsOwner: Bool
    ) throws -> Bool {
        let file = try Descriptor(path)
        let exchanged = try ExchangedFile(new, inPlaceOf: file, at: DirectoryEntry(own: path), keepsOwner: keepsOwner)
        // The first error says more.
        defer { if (try? exchanged.isCopyAside()) == true { try? exchanged.removeAside() } }
        guard try file.readAll() == old else { throw changed(path) }
        do {
            try exchanged.exchange()
        } catch let fault as Fault {
            guard [EINVAL, ENOSYS, ENOTSUP].contains(fault.errno ?? 0), try exchanged.isCopyAside() else { throw fault }
            return false
        }
        // The displaced file may be a save from a moment ago.
        do {
            let displaced = try exchanged.aside.open()
            guard try displaced.readAll() == old, try displaced.status().isSameFile(as: status) else {
                throw changed(path)
            }
        } catch {
            try exchanged.exchange()
            throw error
        }
        try exchanged.removeAside()
        return true
    }

    /// Writes an output such as an exported file; an existing file is replaced atomically and keeps its mode. Special
    /// files, such as pipes, are written to.
    ///
    /// - Throws: `Fault`: `.refused` while an editor has the file open, `.usage` if its folder does not exist.
    package static func write(_ path: BytePath, _ bytes: [UInt8]) throws {
        var path = path
        var status = try FileStatus.of(path)
        // The link stays, and its target is replaced.
        if status?.kind == .link {
            path = try resolved(path)
            status = try FileStatus.of(path)
        }
        if let status, status.kind == .directory {
            throw Fault(.usage, "\(path) is a folder; name a file", path: path)
        }
        guard let status else {
            return try naming(path) { try OwnFile.replace(DirectoryEntry(own: path), with: bytes, mode: 0o666) }
        }
        guard status.kind == .file else {
            let file = try Descriptor(path, O_WRONLY | O_TRUNC, follow: true)
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(file.raw, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Fault.system("write to", path) }
                rest = rest.dropFirst(count)
            }
            return
        }
        try refuseWhileOpen(path)
        try naming(path) {
            try OwnFile.replace(DirectoryEntry(own: path), with: bytes, mode: 0o600, keeping: status.mode)
        }
    }

    /// Reports an error about a temporary name under the name of the written file.
    private static func naming<R>(_ path: BytePath, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let fault as Fault {
            switch fault.errno {
            case ENOENT, ENOTDIR:
                let folder = path.parent.isEmpty ? "the folder that it should be in" : "the folder \(path.parent)"
                throw Fault(
                    .usage, "\(path) cannot be written, because \(folder) does not exist; create it first", path: path)
            case let code?: throw Fault.system("write", path, errno: code)
            case nil: throw fault
            }
        }
    }

    /// - Throws: `Fault` (`.refused`) that names the swap or lock file.
    package static func refuseWhileOpen(_ path: BytePath) throws {
        guard let lock = try WorkNames.editorLock(on: path) else { return }
        throw Fault(
            .refused,
            "\(path) is open in an editor (\(lock.nameText) is beside it), perhaps with unsaved changes; "
                + "nothing was written. Save and close it there, then try again", path: path)
    }

    private static func changed(_ path: BytePath) -> Fault {
        Fault(.superseded, "\(path) was changed in the meantime, so nothing was written; try again", path: path)
    }

    private static func resolved(_ path: BytePath) throws -> BytePath {
        guard let found = path.real else { throw Fault.system("find", path) }
        return found
    }

    private static func mayKeepOwner(_ status: FileStatus) -> Bool {
        geteuid() == 0 || (status.owner == geteuid() && isOwnGroup(status.group))
    }

    private static func isOwnGroup(_ group: gid_t) -> Bool {
        if group == getegid() { return true }
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = getgroups(Int32(groups.count), &groups)
        return groups.prefix(Int(max(0, count))).contains(group)
    }

    /// For a file whose openers cannot be determined: a concurrent save cannot be prevented, so it must be detected in
    /// the displaced file.
    private static func replaceUnleased(
        _ path: BytePath, _ status: FileStatus, _ old: [UInt8], with new: [UInt8]
    ) throws {
        guard status.links == 1 else {
            throw Fault(
                .refused,
                "\(path) has several names, and here nobody can keep others from saving it while it is written in place; "
                    + "nothing was written. Make it a file of its own (copy it, and rename the copy over it), then try "
                    + "again", path: path)
        }
        guard try exchange(path, status, old, with: new, keepsOwner: false) else {
            throw Fault(
                .refused,
                "the file system of \(path) can neither keep others from saving it in the meantime nor swap it for a changed "
                    + "copy; nothing was written. Work on a copy on another file system", path: path)
        }
    }

    /// For a file with hard links, or of another owner: in place, while it is not open elsewhere.
    private static func rewrite(_ path: BytePath, _ old: [UInt8], with new: [UInt8]) throws {
        let file = try Descriptor(path, O_RDWR)
        Lease.ignoreBreakSignal()
        // A process that has just been forked holds every open file briefly.
        for _ in 0..<20 {
            switch LeasedFile.acquire(file) {
            case .busy: poll(nil, 0, 25)
            case .held(let leased):
                defer { leased.release() }
                guard try file.readAll() == old else { throw changed(path) }
                guard leased.isSure else { throw changed(path) }
                return try leased.replace(from: 0, old, with: new)
            case .unsupported: return try replaceUnleased(path, file.status(), old, with: new)
            }
        }
        throw Fault(
            .refused,
            "\(path) has several names or another owner, and \(Openers.describe(path)) has it open; close "
                + "it there, then try again", path: path)
    }
}
