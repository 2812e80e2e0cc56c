import Foundation
import Glibc

/// The service manager that has started this process, if one has, as sd_notify(3) speaks to it: one datagram a word.
package struct SystemNotification: Sendable {
    /// That of this process.
    package static let manager = SystemNotification(environment: ProcessInfo.processInfo.environment)

    private let socket: String?
    /// The manager ends a process that says nothing for so long; nil where it does not wait for it.
    package let watchdog: Duration?

    /// - Parameters:
    ///   - environment: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, as systemd sets them.
    ///   - process: whose word the watchdog has to wait for.
    package init(environment: [String: String], process: Int32 = getpid()) {
        socket = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        // Meant for another process that has handed its variables on.
        let isOurs = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
        watchdog = environment["WATCHDOG_USEC"].flatMap(Int64.init).flatMap { microseconds in
            isOurs && microseconds > 0 ? .microseconds(microseconds) : nil
        }
    }

    /// Whether anybody is told.
    package var isHeard: Bool { socket != nil }

    /// - Parameter state: lines such as `READY=1` and `STATUS=…`.
    package func send(_ state: String) {
        guard let path = socket else { return }
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = UnixAddress.with(path) { address, length in
            // A service manager that does not listen is none of our work.
            sendto(descriptor, state, state.utf8.count, Int32(MSG_NOSIGNAL), address, length)
        }
    }

    package static func send(_ state: String) { manager.send(state) }

    /// A reload begins, at this time of the clock that `Type=notify-reload` compares it with.
    static func sendReloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        send("RELOADING=1\nMONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1_000)")
    }
}
