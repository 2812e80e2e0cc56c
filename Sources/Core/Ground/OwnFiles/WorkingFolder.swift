import Glibc
import Platform

extension BytePath {
    /// The working directory of this process, to which relative paths refer; `.` if it was removed.
    package static var workingFolder: BytePath {
        guard let folder = getcwd(nil, 0) else { return "." }
        defer { free(folder) }
        return BytePath(bytes: UnsafeRawBufferPointer(start: folder, count: strlen(folder)))
    }
}
