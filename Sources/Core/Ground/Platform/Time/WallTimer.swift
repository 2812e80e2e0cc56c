import CLinux
import Glibc
import Synchronization

/// An alarm by the machine's clock: a timerfd at an absolute time of CLOCK_REALTIME. It is right after a suspend, and
/// also fires when the clock is set (TFD_TIMER_CANCEL_ON_SET). Nothing runs while it waits.
package final class WallTimer: WallAlarm {
    private let timer: Descriptor
    private let ending: Descriptor
    private let thread: OwnerThread
    private let armed: Armed

    /// The time the timer is set to, shared with its thread.
    private final class Armed: Sendable {
        let time = Mutex<Timestamp?>(nil)
    }

    /// - Parameter wake: called on the timer's own thread when the time has come or the clock was set; must not block.
    /// - Throws: `Fault` if the system grants no timer or no thread.
    package init(_ wake: @escaping @Sendable () -> Void) throws {
        let timer = try Self.owned(
            timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK)), "timerfd")
        let ending = try Self.owned(eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)), "eventfd")
        let armed = Armed()
        thread = try OwnerThread { Self.run(timer, ending, armed, wake) }
        (self.timer, self.ending, self.armed) = (timer, ending, armed)
    }

    private static func owned(_ raw: Int32, _ what: String) throws -> Descriptor {
        guard raw >= 0 else { throw Fault.system("make a \(what)") }
        return Descriptor(owning: raw, path: BytePath(what))
    }

    package func set(_ time: Timestamp?) { armed.time.withLock { set(time, &$0) } }

    package func bringForward(to time: Timestamp) {
        armed.time.withLock { armed in
            if armed.map({ time < $0 }) ?? true { set(time, &armed) }
        }
    }

    /// Stops the alarm; returns once the thread has ended.
    package func stop() {
        _ = eventfd_write(ending.raw, 1)
        thread.join()
    }

    private func set(_ time: Timestamp?, _ armed: inout Timestamp?) {
        armed = time
        var setting = itimerspec()
        if let time {
            // Zero would disarm it.
            let nanoseconds = max(1, time.nanoseconds)
            setting.it_value.tv_sec = time_t(nanoseconds / 1_000_000_000)
            setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        }
        let flags = Int32(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        // Fails only for values that cannot occur here.
        _ = timerfd_settime(timer.raw, flags, &setting, nil)
    }

    private static func run(
        _ timer: Descriptor, _ ending: Descriptor, _ armed: Armed, _ wake: @Sendable () -> Void
    ) {
        while true {
            var descriptors = [
                pollfd(fd: timer.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: ending.raw, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&descriptors, 2, -1) >= 0 || errno == EINTR else { return }
            if descriptors[1].revents != 0 { return }
            var count: UInt64 = 0
            guard read(timer.raw, &count, 8) == 8 || errno == ECANCELED else { continue }
            // The callee sets it again: a `bringForward` from here on must not compare with an old time.
            armed.time.withLock { $0 = nil }
            wake()
        }
    }
}
