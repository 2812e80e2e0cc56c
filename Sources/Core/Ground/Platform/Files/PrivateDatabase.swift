import Glibc

/// SQLite gives a database's companions (`-wal`, `-shm`, `-journal`) the mode of the database itself, so that mode has to
/// be right before SQLite opens it. Everything here blocks.
package enum PrivateDatabase {
    package static let companions = ["-wal", "-shm", "-journal"]

    /// Makes `path` and the companions that are there readable by their owner alone; an empty file where there is none,
    /// which SQLite takes for a new database.
    ///
    /// A file that is there is never opened here: closing it would give back the locks that this process may hold on it
    /// through SQLite (fcntl(2)).
    ///
    /// - Throws: `Fault` where the file cannot be made, or where a file of this user cannot be narrowed.
    package static func prepare(_ path: BytePath) throws {
        let made = path.withCString { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        if made >= 0 {
            close(made)
        } else if errno != EEXIST {
            throw Fault.system("make the database", path)
        }
        for file in [path] + companions.map({ BytePath(bytes: path.bytes + Array($0.utf8)) }) { try narrow(file) }
    }

    private static func narrow(_ file: BytePath) throws {
        var found = stat()
        // A link to a database that lies elsewhere is its owner's way of putting it there.
        guard file.withCString({ stat($0, &found) }) == 0 else {
            if errno == ENOENT { return }
            throw Fault.system("read the status of", file)
        }
        // What belongs to another user is not ours to change; SQLite says whether it can be used.
        guard found.st_mode & 0o077 != 0, found.st_uid == geteuid(), found.st_mode & S_IFMT == S_IFREG else { return }
        guard file.withCString({ chmod($0, 0o600) }) == 0 || errno == ENOENT else {
            throw Fault.system("make readable for its owner alone:", file)
        }
    }
}
