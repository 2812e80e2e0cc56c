import Glibc
import Synchronization

/// Looks at the calendar's clock on behalf of a process, and says how much of its time was seen to pass (``SeenTime``).
package final class SeenClock: Sendable {
    private struct State {
        var seen: SeenTime?
        var ticks = 0.0
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Timestamp
    private let ticks: @Sendable () -> Double

    /// - Parameters:
    ///   - now: the calendar's clock.
    ///   - ticks: seconds of a clock that nobody sets and that goes on while the machine sleeps.
    package init(
        now: @escaping @Sendable () -> Timestamp = Timestamp.now,
        ticks: @escaping @Sendable () -> Double = SeenClock.sinceBoot
    ) {
        (self.now, self.ticks) = (now, ticks)
    }

    /// CLOCK_BOOTTIME, in seconds.
    package static func sinceBoot() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Goes on from what an earlier process has seen. Until this is called the clock is believed.
    ///
    /// - Parameter kept: nil for nothing.
    package func begin(_ kept: SeenTime?) {
        state.withLock { state in
            var seen = kept ?? SeenTime(now())
            seen.look(now(), elapsed: 0)
            state = State(seen: seen, ticks: ticks())
        }
    }

    /// What was seen up to now.
    package func look() -> SeenTime {
        state.withLock { state in
            guard var seen = state.seen else { return SeenTime(now()) }
            let ticks = ticks()
            seen.look(now(), elapsed: max(0, ticks - state.ticks))
            state = State(seen: seen, ticks: ticks)
            return seen
        }
    }

    /// The calendar's clock, with what does not count of it.
    package var clock: WallClock { WallClock(now: now, held: { self.look().held }) }
}
