import Glibc

extension BytePath {
    /// The path without symbolic links, `.` and `..` (realpath(3)); nil if there is nothing there, or it cannot be
    /// determined. Blocks.
    ///
    /// Only a name: a moment later it may refer to another file, and no file of a place may be opened by it
    /// (`ARCHITECTURE.md`, law 7). This is why modules without access to files by path may use it.
    package var real: BytePath? {
        Blocking.call()
        guard let found = withCString({ realpath($0, nil) }) else { return nil }
        defer { free(found) }
        return BytePath(bytes: UnsafeRawBufferPointer(start: found, count: strlen(found)))
    }
}
