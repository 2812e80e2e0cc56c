import CLinux
import Glibc

extension SafePath {
    /// Opens `relative` below `directory` following no symbolic links, not even those that stay inside: for folders in
    /// which the agent has created every name itself.
    ///
    /// - Throws: `Fault`; errno ELOOP if a part of the path is a link, EXDEV if it would leave `directory`.
    package static func openExactly(
        _ relative: BytePath, beneath directory: Descriptor, _ flags: Int32 = O_RDONLY, mode: mode_t = 0o600
    ) throws -> Descriptor {
        try openExactly(relative, directory, flags | O_NOCTTY | O_NONBLOCK, mode)
    }

    /// Finds whatever is at `relative` in the same way, without opening it (open(2), O_PATH).
    package static func locateExactly(
        _ relative: BytePath, beneath directory: Descriptor, _ more: Int32 = O_NOFOLLOW
    ) throws -> Descriptor {
        try openExactly(relative, directory, pathOnly | more, 0)
    }

    private static func openExactly(
        _ relative: BytePath, _ directory: Descriptor, _ flags: Int32, _ mode: mode_t
    ) throws -> Descriptor {
        let full = directory.path.appending(relative)
        let all = UInt64(UInt32(bitPattern: flags))
        let raw = (relative.isEmpty ? BytePath(".") : relative).withCString {
            steward_open_exactly(directory.raw, $0, all, flags & O_CREAT != 0 ? UInt64(mode) : 0)
        }
        guard raw >= 0 else {
            if errno == ELOOP || errno == EXDEV {
                throw Fault(
                    .refused,
                    "\(full) is, or is behind, a symbolic link, where there must be none; nothing was opened",
                    path: full, errno: errno)
            }
            throw Fault.system("open", full)
        }
        return Descriptor(owning: raw, path: full)
    }
}
