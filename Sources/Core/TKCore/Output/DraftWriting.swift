import Glibc
import OwnFiles
import PeopleFiles
import Platform

/// Putting a changed draft in place of the one that was read. Everything here blocks.
package enum DraftWriting {
    /// Replaces a draft in one step, if it still holds what was read: mode, owner and attributes stay. Where the name
    /// is a symbolic link, the file that it leads to is replaced. A file with several names, or of another owner, is
    /// written in place, while nobody else has it open.
    ///
    /// - Throws: `Fault`: `.refused` while an editor's swap or lock file stands beside it, `.superseded` where it holds
    ///   something else by now; nothing has changed then.
    package static func replace(_ path: BytePath, _ old: [UInt8], with new: [UInt8]) throws {
        let target = try resolved(path)
        try refuseWhileOpen(target)
        guard let status = try FileStatus.of(target), status.kind == .file else {
            throw Fault(.usage, "\(path) is no plain file, so it cannot be changed in place", path: path)
        }
        guard target.withCString({ access($0, W_OK) }) == 0 else { throw Fault.system("write to", target) }
        if status.links > 1 || !mayKeepOwner(status) { return try rewrite(target, old, with: new) }
        let file = try Descriptor(target)
        let exchanged = try ExchangedFile(new, inPlaceOf: file, at: Spot(own: target), keepsOwner: true)
        var isCopyLeft = true
        // The first failure says more.
        defer { if isCopyLeft { try? exchanged.removeAside() } }
        guard try file.readAll() == old else { throw changed(path) }
        do {
            try exchanged.exchange()
        } catch let fault as Fault where [EINVAL, ENOSYS, ENOTSUP].contains(fault.errno ?? 0) {
            // A file system that cannot swap two names.
            return try rewrite(target, old, with: new)
        }
        isCopyLeft = false
        // What was displaced is what somebody may have saved a moment ago.
        let displaced = try exchanged.aside.open()
        guard try displaced.readAll() == old, try displaced.status().inode == status.inode else {
            try exchanged.exchange()
            isCopyLeft = true
            throw changed(path)
        }
        try exchanged.removeAside()
    }

    /// Writes a product such as an exported file; one that is there is replaced in one step and keeps its mode.
    /// What is no plain file, such as a pipe, is written to.
    ///
    /// - Throws: `Fault`: `.refused` while an editor has the file open, `.usage` where its folder is not there.
    package static func write(_ path: BytePath, _ bytes: [UInt8]) throws {
        var path = path
        var status = try FileStatus.of(path)
        // The link stays, and what it leads to is replaced.
        if status?.kind == .link {
            path = try resolved(path)
            status = try FileStatus.of(path)
        }
        if let status, status.kind == .directory {
            throw Fault(.usage, "\(path) is a folder; name a file", path: path)
        }
        guard let status else {
            return try naming(path) { try Durable.replaceOwn(path, with: bytes, mode: 0o666) }
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
        let staged = try naming(path) { try Durable.stage(bytes, for: path, mode: 0o600) }
        // The mode as it was, whatever the umask takes away from new files.
        let isDone = staged.withCString { from in
            chmod(from, status.mode & 0o7777) == 0 && path.withCString { rename(from, $0) == 0 }
        }
        guard isDone else {
            let fault = Fault.system("replace", path)
            staged.withCString { _ = unlink($0) }
            throw fault
        }
        try Durable.syncDirectory(path.parent)
    }

    /// What fails for a name that nobody has chosen is told of the file that is written.
    private static func naming<R>(_ path: BytePath, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let fault as Fault {
            switch fault.errno {
            case ENOENT, ENOTDIR:
                let folder = path.parent.isEmpty ? "the folder that it should be in" : "the folder \(path.parent)"
                throw Fault(
                    .usage, "\(path) cannot be written, because \(folder) is not there; make it first", path: path)
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
            "\(path) is open in an editor (\(lock.nameText) stands beside it), perhaps with unsaved changes; "
                + "nothing was written. Save and close it there, then try again", path: path)
    }

    private static func changed(_ path: BytePath) -> Fault {
        Fault(.superseded, "\(path) was changed meanwhile, so nothing was written; try again", path: path)
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

    /// For a file with several names, or of another owner: in place, while nobody else has it open.
    private static func rewrite(_ path: BytePath, _ old: [UInt8], with new: [UInt8]) throws {
        let file = try Descriptor(path, O_RDWR)
        Lease.ignoreBreakSignal()
        // A process that has just been forked holds every open file for a moment.
        for _ in 0..<20 {
            switch LeasedFile.acquire(file) {
            case .busy: poll(nil, 0, 25)
            case .held(let leased):
                defer { leased.release() }
                guard try file.readAll() == old else { throw changed(path) }
                guard leased.isSure else { throw changed(path) }
                return try leased.replace(from: 0, old, with: new)
            case .unsupported:
                guard try file.readAll() == old else { throw changed(path) }
                try file.write(new, at: 0)
                try file.truncate(to: Int64(new.count))
                return try file.sync()
            }
        }
        throw Fault(
            .refused,
            "\(path) has several names or another owner, and \(Openers.describe(path)) has it open; close "
                + "it there, then try again", path: path)
    }
}
