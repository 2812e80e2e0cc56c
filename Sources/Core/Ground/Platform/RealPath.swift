import Glibc

extension BytePath {
    /// The path without symbolic links, `.` and `..` (realpath(3)); nil where nothing stands there, or where that cannot
    /// be seen. Blocks.
    ///
    /// Only a name: what stands there a moment later may be another file, and nothing is to be opened by it that a place
    /// led to (`ARCHITECTURE.md`, law 7). That is why it may be asked for by modules that reach no file by its path.
    package var real: BytePath? {
        Blocking.call()
        guard let found = withCString({ realpath($0, nil) }) else { return nil }
        defer { free(found) }
        return BytePath(bytes: UnsafeRawBufferPointer(start: found, count: strlen(found)))
    }
}
