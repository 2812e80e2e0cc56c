import CLinux
import Glibc

/// Replaces a person's file by renaming a new one over it, like A4 in all its languages: the new content is written to
/// `.<name>.tmp` next to it, synced, and renamed; the folder is synced (`docs/design/a4.md`). An exclusive lock on that
/// temporary file serializes such writers. If another process changes the file between the read and the rename, nothing
/// is done.
///
/// Keeps the permissions, and the owner if permitted; other hard links and extended attributes stay with the old
/// content. Every call blocks.
package enum RenamedFile {
    /// Replaces the content with the result of `change`, or creates the file.
    ///
    /// - Parameters:
    ///   - folder: an open folder.
    ///   - change: called with the present bytes, nil if there is no file; returns nil to change nothing.
    /// - Returns: false if the file changed in the meantime, and nothing was done.
    /// - Throws: `Fault`, and any error of `change`. The file is then unchanged.
    package static func edit(
        _ name: [UInt8], in folder: Descriptor, _ change: ([UInt8]?) throws -> [UInt8]?
    ) throws -> Bool {
        let temporary = BytePath(bytes: Array(".".utf8) + name + Array(".tmp".utf8))
        let file = try lockTemporary(temporary, in: folder)
        var isRenamed = false
        defer {
            // We hold the lock, so the name is ours; if it cannot be removed, the next writer reuses it.
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

    /// Opens and locks the temporary file, reusing one left by a writer that died.
    private static func lockTemporary(_ temporary: BytePath, in folder: Descriptor) throws -> Descriptor {
        while true {
            let file = try SafePath.open(temporary, beneath: folder, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o666)
            try FileLock.wait(on: file)
            let mine = try file.status()
            // While we waited, the previous writer renamed this file over the note: start with a new one.
            guard let named = try status(of: temporary, in: folder), named.inode == mine.inode,
                named.device == mine.device
            else { continue }
            // Writing into a file with another hard link would change that one too.
            guard mine.kind == .file, mine.links == 1 else {
                throw Fault(
                    .failed, "\(file.path) exists, and is not a leftover of A4; move it away", path: file.path)
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

    /// Copies owner and group as far as permitted (only root may give files away), then the permissions.
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

    /// lstat(2); nil if there is no such name.
    package static func status(of name: BytePath, in folder: Descriptor) throws -> FileStatus? {
        do {
            return try SafePath.locate(name, beneath: folder, follow: false).status()
        } catch let fault as Fault where fault.errno == ENOENT {
            return nil
        }
    }
}
