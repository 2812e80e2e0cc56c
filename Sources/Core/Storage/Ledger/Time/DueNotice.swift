import Platform
import Synchronization

/// Notifies when something in the ledger becomes due, and knows which names may.
package final class DueWatch: Sendable {
    private struct State {
        var mayBecomeDue: @Sendable (String, BytePath) -> Bool = { _, _ in false }
        var mayBeScheduled: @Sendable (String, BytePath) -> Bool = { _, _ in false }
        var listener: (@Sendable (Timestamp) -> Void)?
        var clock = WallClock.system
    }

    private let state = Mutex(State())

    /// Sets which files, by place and path, a rule may come to want through time alone; only those get rows.
    package func expect(where mayBecomeDue: @escaping @Sendable (_ place: String, _ path: BytePath) -> Bool) {
        state.withLock { $0.mayBecomeDue = mayBecomeDue }
    }

    /// Sets which files, by place and path, a schedule may run a rule over; the origins of those are kept.
    package func expectSchedules(
        where mayBeScheduled: @escaping @Sendable (_ place: String, _ path: BytePath) -> Bool
    ) {
        state.withLock { $0.mayBeScheduled = mayBeScheduled }
    }

    /// Sets the clock that dates entries.
    package func tellTime(by clock: WallClock) { state.withLock { $0.clock = clock } }

    /// Sets the listener to call after a commit with the earliest time that it stored.
    package func listen(_ listener: (@Sendable (Timestamp) -> Void)?) { state.withLock { $0.listener = listener } }

    func expects(_ place: String, _ path: BytePath) -> Bool { state.withLock { $0.mayBecomeDue }(place, path) }

    func expectsSchedule(_ place: String, _ path: BytePath) -> Bool {
        state.withLock { $0.mayBeScheduled }(place, path)
    }

    var now: Timestamp { state.withLock { $0.clock }.now() }

    /// Passes a time to the listener.
    package func tell(_ time: Timestamp) { state.withLock { $0.listener }?(time) }
}

/// The earliest time stored by one transaction.
final class DueNotice: Sendable {
    private let watch: DueWatch
    private let earliest = Mutex<Timestamp?>(nil)

    init(_ watch: DueWatch) { self.watch = watch }

    func expects(_ place: String, _ path: BytePath) -> Bool { watch.expects(place, path) }

    func expectsSchedule(_ place: String, _ path: BytePath) -> Bool { watch.expectsSchedule(place, path) }

    /// The time on the clock that dates entries.
    var now: Timestamp { watch.now }

    func note(_ time: Timestamp) { earliest.withLock { $0 = min($0 ?? time, time) } }

    /// Called after the commit.
    func deliver() {
        if let time = earliest.withLock({ $0 }) { watch.tell(time) }
    }
}
