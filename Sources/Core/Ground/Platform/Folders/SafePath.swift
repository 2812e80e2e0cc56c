import CLinux
import Glibc

/// Opens files below a folder without ever leaving it. The kernel refuses `..`, absolute paths and symbolic links that
/// lead outside at the moment of opening (openat2, RESOLVE_BENEATH), so nothing can be swapped between check and use.
package enum SafePath {
    /// Opens `relative` below `directory`. Follows links that stay inside.
    ///
    /// - Throws: `Fault`; errno EXDEV if the path would leave `directory`.
    package static func open(
        _ relative: BytePath, beneath directory: Descriptor, _ flags: Int32 = O_RDONLY, mode: mode_t = 0o644
    ) throws -> Descriptor {
        Blocking.call()
        let full = directory.path.appending(relative)
        let creates = flags & O_CREAT != 0
        let raw = (relative.isEmpty ? BytePath(".") : relative).withCString {
            steward_open_beneath(
                directory.raw, $0, UInt64(UInt32(bitPattern: flags | O_NOCTTY | O_NONBLOCK)), creates ? UInt64(mode) : 0
            )
        }
        guard raw >= 0 else {
            if errno == EXDEV {
                throw Fault(
                    .refused, "\(relative) leads out of \(directory.path); nothing was opened", path: full, errno: EXDEV
                )
            }
            throw Fault.system("open", full)
        }
        return Descriptor(owning: raw, path: full)
    }
}
