import Glibc
import Platform

extension BytePath {
    /// The folder that this process works in, below which relative paths lie; `.` where it has been removed.
    package static var workingFolder: BytePath {
        guard let folder = getcwd(nil, 0) else { return "." }
        defer { free(folder) }
        return BytePath(bytes: UnsafeRawBufferPointer(start: folder, count: strlen(folder)))
    }
}
