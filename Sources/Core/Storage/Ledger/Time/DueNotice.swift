import Platform
import Synchronization

/// Who is told when something in the ledger becomes due, and which names that may be.
package final class DueWatch: Sendable {
    private struct State {
        var mayBecomeDue: @Sendable (String, BytePath) -> Bool = { _, _ in false }
        var mayBeScheduled: @Sendable (String, BytePath) -> Bool = { _, _ in false }
        var listener: (@Sendable (Timestamp) -> Void)?
        var clock = WallClock.system
    }

    private let state = Mutex(State())

    /// Which files, by place and path, a rule may come to want by time alone: only of those anything is kept.
    package func expect(where mayBecomeDue: @escaping @Sendable (_ place: String, _ path: BytePath) -> Bool) {
        state.withLock { $0.mayBecomeDue = mayBecomeDue }
    }

    /// Over which files, by place and path, a schedule may run a rule: of those it is kept what they were made from.
    package func expectSchedules(
        where mayBeScheduled: @escaping @Sendable (_ place: String, _ path: BytePath) -> Bool
    ) {
        state.withLock { $0.mayBeScheduled = mayBeScheduled }
    }

    /// By which clock it is noted when a file was entered.
    package func tellTime(by clock: WallClock) { state.withLock { $0.clock = clock } }

    /// Whom to tell, once a transaction is committed, of the earliest time that it has entered.
    package func listen(_ listener: (@Sendable (Timestamp) -> Void)?) { state.withLock { $0.listener = listener } }

    func expects(_ place: String, _ path: BytePath) -> Bool { state.withLock { $0.mayBecomeDue }(place, path) }

    func expectsSchedule(_ place: String, _ path: BytePath) -> Bool {
        state.withLock { $0.mayBeScheduled }(place, path)
    }

    var now: Timestamp { state.withLock { $0.clock }.now() }

    /// Tells the listener of a time.
    package func tell(_ time: Timestamp) { state.withLock { $0.listener }?(time) }
}

/// The earliest time that one transaction has entered.
final class DueNotice: Sendable {
    private let watch: DueWatch
    private let earliest = Mutex<Timestamp?>(nil)

    init(_ watch: DueWatch) { self.watch = watch }

    func expects(_ place: String, _ path: BytePath) -> Bool { watch.expects(place, path) }

    func expectsSchedule(_ place: String, _ path: BytePath) -> Bool { watch.expectsSchedule(place, path) }

    /// What the clock says, by which it is noted when a file was entered.
    var now: Timestamp { watch.now }

    func note(_ time: Timestamp) { earliest.withLock { $0 = min($0 ?? time, time) } }

    /// The transaction is committed.
    func deliver() {
        if let time = earliest.withLock({ $0 }) { watch.tell(time) }
    }
}
