import CLinux
import Glibc
import OwnFiles
import Platform

extension VaultFolder {
    /// Replaces the content of a note by what `change` makes of it, or makes the note. Blocks.
    ///
    /// The new content goes to `.<name>.tmp` beside the note, is synced and renamed over it, and the folder is synced
    /// (docs/design/a4.md). An exclusive lock on that temporary file makes the writers of this library wait for one
    /// another. All is done through the descriptor of the folder, which was opened below the root. If somebody else
    /// changes the note between the reading and the rename, `change` is asked again.
    ///
    /// The note's permissions are kept, and its owner where the system lets us; other hard links to it, and extended
    /// attributes, stay with the old content. A note that is a symbolic link within the vault stays one.
    ///
    /// - Parameter change: gets the present bytes, nil for a missing note; nil as its answer leaves all as it is.
    /// - Throws: `Fault`, and what `change` throws. The note is then as it was.
    package func edit(_ relative: BytePath, _ change: ([UInt8]?) throws -> [UInt8]?) throws {
        if relative.isEmpty { throw Fault(.refused, "the path is empty; name a file below \(root.path)") }
        let target = try place(of: relative)
        let folder = try makeFolder(target.parent)
        for _ in 0..<20 {
            if try Self.attempt(target.name, in: folder, change) { return }
        }
        throw Fault(.transient, "\(folder.path.appending(name: target.name)) keeps changing; try again", path: target)
    }

    /// The path to write to: that of the file a link names, so that the link is not replaced.
    private func place(of relative: BytePath) throws -> BytePath {
        let folder = try makeFolder(relative.parent)
        guard try Self.status(of: BytePath(bytes: relative.name), in: folder)?.kind == .link else { return relative }
        _ = try locate(relative)
        guard let inside = resolved(relative) else {
            throw Fault(.refused, "\(relative) changed while it was looked at; nothing was written", path: relative)
        }
        return inside
    }

    /// - Returns: false where the note changed meanwhile.
    private static func attempt(
        _ name: [UInt8], in folder: Descriptor, _ change: ([UInt8]?) throws -> [UInt8]?
    ) throws -> Bool {
        let temporary = BytePath(bytes: Array(".".utf8) + name + Array(".tmp".utf8))
        let file = try lockTemporary(temporary, in: folder)
        var isRenamed = false
        defer {
            // We hold the lock, so the name is ours; if it cannot be removed the next writer takes it over.
            if !isRenamed { _ = temporary.withCString { unlinkat(folder.raw, $0, 0) } }
        }
        let note = BytePath(bytes: name)
        let present = try open(note, in: folder)
        let before = try present?.status()
        guard let after = try change(try present?.readAll()) else { return true }
        try file.truncate(to: 0)
        try file.write(after, at: 0)
        if let present { try copyPermissions(of: present, to: file) }
        try file.sync()
        guard try status(of: note, in: folder)?.fingerprint == before?.fingerprint else { return false }
        let flags = present == nil ? STEWARD_RENAME_NOREPLACE : 0
        let renamed = temporary.withCString { from in
            note.withCString { to in steward_renameat2(folder.raw, from, folder.raw, to, flags) }
        }
        if renamed != 0 {
            if errno == EEXIST { return false }
            throw Fault.system("replace", folder.path.appending(note))
        }
        isRenamed = true
        try folder.sync()
        return true
    }

    /// Opens and locks the temporary file; a left-over of a writer that died is taken over.
    private static func lockTemporary(_ temporary: BytePath, in folder: Descriptor) throws -> Descriptor {
        while true {
            let file = try SafePath.open(temporary, beneath: folder, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o666)
            while flock(file.raw, LOCK_EX) != 0 {
                if errno != EINTR { throw Fault.system("lock", file.path) }
            }
            let mine = try file.status()
            // While we waited, the writer before us renamed this file over the note: begin with a new one.
            guard let named = try status(of: temporary, in: folder), named.inode == mine.inode,
                named.device == mine.device
            else { continue }
            // Writing into a file that has another name as well would change that one too.
            guard mine.kind == .file, mine.links == 1 else {
                throw Fault(
                    .failed, "\(file.path) is in the way: it is not a left-over of A4; move it away", path: file.path)
            }
            return file
        }
    }

    private static func open(_ note: BytePath, in folder: Descriptor) throws -> Descriptor? {
        do {
            let file = try SafePath.open(note, beneath: folder, O_RDONLY | O_NOFOLLOW)
            if try file.status().kind == .file { return file }
            throw Fault(.refused, "\(file.path) is not a regular file; nothing was written", path: file.path)
        } catch let fault as Fault where fault.errno == ENOENT {
            return nil
        }
    }

    /// Owner and group as far as the system lets us (only root may give files away), then the permissions.
    private static func copyPermissions(of present: Descriptor, to file: Descriptor) throws {
        var found = stat()
        guard fstat(present.raw, &found) == 0 else { throw Fault.system("read the status of", present.path) }
        if fchown(file.raw, found.st_uid, found.st_gid) != 0, errno != EPERM {
            throw Fault.system("set the owner of", file.path)
        }
        guard fchmod(file.raw, found.st_mode & 0o7777) == 0 else {
            throw Fault.system("set the permissions of", file.path)
        }
    }

    private static func status(of name: BytePath, in folder: Descriptor) throws -> FileStatus? {
        do {
            return try SafePath.locate(name, beneath: folder, follow: false).status()
        } catch let fault as Fault where fault.errno == ENOENT {
            return nil
        }
    }
}
