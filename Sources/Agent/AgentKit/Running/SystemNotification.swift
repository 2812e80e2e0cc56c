import Foundation
import Glibc

/// sd_notify(3): one datagram to the service manager, if there is one.
package enum SystemNotification {
    /// - Parameter state: lines such as `READY=1` and `STATUS=…`.
    package static func send(_ state: String) {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"], !path.isEmpty else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = UnixAddress.with(path) { address, length in
            // A service manager that does not listen is none of our work.
            sendto(descriptor, state, state.utf8.count, Int32(MSG_NOSIGNAL), address, length)
        }
    }
}
