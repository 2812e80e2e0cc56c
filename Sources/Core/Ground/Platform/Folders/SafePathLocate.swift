import CLinux
import Glibc

extension SafePath {
    /// Finds `relative` below `directory` without opening it for reading or writing (open(2), O_PATH): to get its
    /// status, or to check that the path stays inside. Works on unreadable files, and wakes no device.
    ///
    /// - Parameters:
    ///   - follow: whether to follow a symbolic link at the end.
    ///   - more: flags in addition to O_PATH: O_DIRECTORY.
    /// - Throws: `Fault`; errno EXDEV if the path would leave `directory`.
    package static func locate(
        _ relative: BytePath, beneath directory: Descriptor, follow: Bool = true, _ more: Int32 = 0
    ) throws -> Descriptor {
        Blocking.call()
        let full = directory.path.appending(relative)
        let flags = UInt64(pathOnly | more) | (follow ? 0 : UInt64(O_NOFOLLOW))
        let raw = (relative.isEmpty ? BytePath(".") : relative).withCString {
            steward_open_beneath(directory.raw, $0, flags, 0)
        }
        guard raw >= 0 else {
            if errno == EXDEV {
                throw Fault(.refused, "\(relative) leads out of \(directory.path)", path: full, errno: EXDEV)
            }
            throw Fault.system("find", full)
        }
        return Descriptor(owning: raw, path: full)
    }
}
