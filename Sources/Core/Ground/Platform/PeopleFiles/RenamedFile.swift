import CLinux
import Glibc

/// Replacing a person's file by a new one that is renamed over it, as A4 does in all its languages: the new content goes to
/// `.<name>.tmp` beside it, is synced, and takes its name; the folder is synced (`docs/design/a4.md`). An exclusive lock
/// on that temporary file has the writers that do so wait for one another. If somebody else changes the file between the
/// reading and the rename, nothing is done.
///
/// The permissions are kept, and the owner where the system lets us; other hard links, and extended attributes, stay with
/// the old content. Everything here blocks.
package enum RenamedFile {
    /// Replaces the content by what `change` makes of it, or makes the file.
    ///
    /// - Parameters:
    ///   - folder: held open.
    ///   - change: gets the present bytes, nil for a missing file; nil as its answer leaves all as it is.
    /// - Returns: false where the file changed meanwhile, and nothing was done.
    /// - Throws: `Fault`, and what `change` throws. The file is then as it was.
    package static func edit(
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
            try FileLock.wait(on: file)
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

    /// lstat(2); nil where nothing has that name.
    package static func status(of name: BytePath, in folder: Descriptor) throws -> FileStatus? {
        do {
            return try SafePath.locate(name, beneath: folder, follow: false).status()
        } catch let fault as Fault where fault.errno == ENOENT {
            return nil
        }
    }
}
