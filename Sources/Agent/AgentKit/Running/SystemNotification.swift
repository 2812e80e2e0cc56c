import ControlSocket
import Dispatch
import Foundation
import Glibc
import Platform
import Synchronization

/// The service manager that started this process, if any, addressed as in sd_notify(3): one datagram per message.
///
/// Sending never waits for a manager that does not read: messages that its socket has no room for queue up here, in
/// order, and a thread sends them when there is room. A newer message replaces a queued one of the same kind.
package final class SystemNotification: Sendable {
    /// The manager of this process.
    package static let manager = SystemNotification(environment: ProcessInfo.processInfo.environment)

    private struct Waiting {
        var words: [String] = []
        var isSending = false
    }

    private let socket: String?
    /// The watchdog timeout; nil if the manager sets none.
    package let watchdog: Duration?
    private let waiting = Mutex(Waiting())
    private let queue = DispatchQueue(label: "steward.notify")

    /// - Parameters:
    ///   - environment: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, as systemd sets them.
    ///   - process: the id that WATCHDOG_PID must match.
    package init(environment: [String: String], process: Int32 = getpid()) {
        socket = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        // Otherwise meant for another process, which passed its environment on.
        let isOurs = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
        watchdog = environment["WATCHDOG_USEC"].flatMap(Int64.init).flatMap { microseconds in
            isOurs && microseconds > 0 ? .microseconds(microseconds) : nil
        }
    }

    /// Whether there is a manager to notify.
    package var isHeard: Bool { socket != nil }

    /// Sends a message, or queues it until there is room. Never blocks.
    ///
    /// - Parameter state: lines such as `READY=1` and `STATUS=…`; the first determines the kind of message.
    package func send(_ state: String) {
        guard isHeard else { return }
        waiting.withLock { waiting in
            if !waiting.isSending, deliver(state, Int32(MSG_DONTWAIT)) { return }
            waiting.words.removeAll { Self.kind($0) == Self.kind(state) }
            waiting.words.append(state)
            guard !waiting.isSending else { return }
            waiting.isSending = true
            queue.async { self.sendWaiting() }
        }
    }

    private static func kind(_ word: String) -> Substring { word.prefix { $0 != "=" } }

    private func sendWaiting() {
        while let word = next() { _ = deliver(word, 0) }
    }

    private func next() -> String? {
        waiting.withLock { waiting in
            guard waiting.words.isEmpty else { return waiting.words.removeFirst() }
            waiting.isSending = false
            return nil
        }
    }

    /// - Returns: false if there is no room. A manager that does not listen counts as notified.
    private func deliver(_ word: String, _ flags: Int32) -> Bool {
        guard let path = socket else { return true }
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        return UnixAddress.with(path) { address, length in
            while sendto(descriptor, word, word.utf8.count, Int32(MSG_NOSIGNAL) | flags, address, length) < 0 {
                guard errno == EINTR else { return errno != EAGAIN }
            }
            return true
        } ?? true
    }

    /// Waits, with a timeout in seconds, until all messages are sent. Call this at the end of the process.
    package func flush(within seconds: Double = 2) async throws {
        guard waiting.withLock({ $0.isSending }) else { return }
        let queue = queue
        _ = try await answer(within: seconds) { queue.sync {} }
    }

    package static func send(_ state: String) { manager.send(state) }

    /// Announces a reload, with the time on the clock that `Type=notify-reload` compares it with.
    static func sendReloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        send("RELOADING=1\nMONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1_000)")
    }
}
