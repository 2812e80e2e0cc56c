import Glibc
import Synchronization

/// Reads the wall clock for a process, and tracks how much time it has seen pass (``SeenTime``).
package final class SeenClock: Sendable {
    private struct State {
        var seen: SeenTime?
        var ticks = 0.0
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Timestamp
    private let ticks: @Sendable () -> Double

    /// - Parameters:
    ///   - now: the wall clock.
    ///   - ticks: seconds of a clock that cannot be set and continues during suspend.
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

    /// Continues from the state of an earlier process. Until this is called, the clock is believed.
    ///
    /// - Parameter kept: nil for none.
    package func begin(_ kept: SeenTime?) {
        state.withLock { state in
            var seen = kept ?? SeenTime(now())
            seen.look(now(), elapsed: 0)
            state = State(seen: seen, ticks: ticks())
        }
    }

    /// The time seen so far.
    package func look() -> SeenTime {
        state.withLock { state in
            guard var seen = state.seen else { return SeenTime(now()) }
            let ticks = ticks()
            seen.look(now(), elapsed: max(0, ticks - state.ticks))
            state = State(seen: seen, ticks: ticks)
            return seen
        }
    }

    /// The wall clock, including the part that is not yet trusted.
    package var clock: WallClock { WallClock(now: now, held: { self.look().held }) }
}
