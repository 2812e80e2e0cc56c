import Glibc

/// SQLite gives a database's companion files (`-wal`, `-shm`, `-journal`) the database's own mode, so that must be
/// right before SQLite opens it. Every call blocks.
package enum PrivateDatabase {
    package static let companions = ["-wal", "-shm", "-journal"]

    /// Makes `path` and its existing companion files accessible only to their owner; creates an empty file if there is
    /// none, which SQLite treats as a new database.
    ///
    /// Never opens an existing file: closing it would release the locks that this process may hold on it through SQLite
    /// (fcntl(2)).
    ///
    /// - Throws: `Fault` if the file cannot be created, or the mode of a file of this user cannot be restricted.
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
        // The owner may have put the database elsewhere and left a link.
        guard file.withCString({ stat($0, &found) }) == 0 else {
            if errno == ENOENT { return }
            throw Fault.system("read the status of", file)
        }
        // A file of another user is not ours to change; SQLite reports whether it is usable.
        guard found.st_mode & 0o077 != 0, found.st_uid == geteuid(), found.st_mode & S_IFMT == S_IFREG else { return }
        guard file.withCString({ chmod($0, 0o600) }) == 0 || errno == ENOENT else {
            throw Fault.system("make readable for its owner alone:", file)
        }
    }
}
