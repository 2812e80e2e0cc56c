import Ledger
import Platform
import Rules

/// Schedules deliveries fairly. Each target gets a share of the concurrency limit. A failing target is left alone for a
/// while and then probed by one event at a time, so that it does not hold others back.
struct DeliveryQueue {
    typealias Instant = ContinuousClock.Instant

    /// A lane selected to run.
    struct Turn {
        let lane: DeliveryLane
        /// Its target's close count at the time.
        let era: Int
    }

    /// State of one target.
    private struct Line {
        /// Those from `first` on are ready.
        var lanes: [DeliveryLane] = []
        var first = 0
        var running = 0
        /// No attempt starts before that.
        var opens: Instant?
        /// Consecutive failures of the target itself.
        var failures = 0
        var era = 0

        var isReady: Bool { first < lanes.count }

        mutating func removeFirst() -> DeliveryLane {
            let lane = lanes[first]
            first += 1
            if 2 * first >= lanes.count {
                lanes.removeFirst(first)
                first = 0
            }
            return lane
        }
    }

    private let limit: Int
    private let share: Int
    private var backoff: Backoff
    private var lines: [String: Line] = [:]
    /// Target names in round-robin order.
    private var names: [String] = []
    private var next = 0
    private var turns = KeyedQueue<DeliveryLane>()
    private var running = 0

    /// - Parameters:
    ///   - limit: maximum number of concurrent deliveries.
    ///   - targets: number of targets that share the limit.
    ///   - backoff: how long a target is left alone after failures of its own.
    init(limit: Int, targets: Int, backoff: Backoff) {
        self.limit = max(1, limit)
        share = max(1, self.limit / max(1, targets))
        self.backoff = backoff
    }

    /// - Parameter lane: the lane that may have something to send.
    mutating func ask(_ lane: DeliveryLane, _ asked: KeyedQueue<DeliveryLane>.Asked) {
        if turns.ask(lane, asked) { append(lane) }
    }

    /// Queues it behind the others of its target.
    private mutating func append(_ lane: DeliveryLane) {
        if lines[lane.target] == nil { names.append(lane.target) }
        lines[lane.target, default: Line()].lanes.append(lane)
    }

    /// - Parameter now: current time; targets closed beyond it are skipped.
    /// - Returns: the turn that begins; nil if none may.
    mutating func beginTurn(_ now: Instant) -> Turn? {
        guard let place = place(now) else { return nil }
        next = place + 1
        let name = names[place]
        guard let lane = lines[name]?.removeFirst() else { return nil }
        lines[name]?.running += 1
        running += 1
        turns.begin(lane)
        return Turn(lane: lane, era: lines[name]?.era ?? 0)
    }

    /// - Parameter now: current time; targets closed beyond it are skipped.
    /// - Returns: whether a turn could begin.
    func hasTurn(_ now: Instant) -> Bool { place(now) != nil }

    private func place(_ now: Instant) -> Int? {
        guard running < limit else { return nil }
        for offset in names.indices {
            let place = (next + offset) % names.count
            guard let line = lines[names[place]], line.isReady, line.running < (line.failures > 0 ? 1 : share) else {
                continue
            }
            if let opens = line.opens, opens > now { continue }
            return place
        }
        return nil
    }

    /// - Parameters:
    ///   - turn: that ended.
    ///   - end: what to do next in its lane.
    mutating func ended(_ turn: Turn, _ end: KeyedQueue<DeliveryLane>.End, _ now: Instant) {
        lines[turn.lane.target]?.running -= 1
        running -= 1
        if turns.ended(turn.lane, end, now) { append(turn.lane) }
    }

    /// Makes everything ready that is due.
    mutating func tick(_ now: Instant) {
        for lane in turns.takeDue(now) { append(lane) }
    }

    /// When to reset the timer to the earliest retry or target; nil if it need not be reset.
    mutating func timer(_ now: Instant) -> Instant? { turns.timer(orFor: earliestOpening(after: now)) }

    /// Closes a target for a while after a failure of its own.
    ///
    /// - Parameters:
    ///   - turn: the failed one. Of concurrent failures, only the first increases the backoff.
    ///   - asked: seconds requested by the target; nil if it did not say.
    ///   - now: time of the failure.
    mutating func close(_ turn: Turn, asked: Double?, now: Instant) {
        guard var line = lines[turn.lane.target] else { return }
        var seconds = asked ?? 0
        if turn.era == line.era {
            line.failures += 1
            line.era += 1
            seconds = backoff.seconds(failures: line.failures, asked: asked)
            line.opens = nil
        }
        let opens = now.advanced(by: .seconds(seconds))
        line.opens = max(line.opens ?? opens, opens)
        lines[turn.lane.target] = line
    }

    /// Marks a target as reachable.
    ///
    /// - Parameter turn: the successful one; ignored if it began before the target was closed.
    mutating func reached(_ turn: Turn) {
        guard turn.era == lines[turn.lane.target]?.era else { return }
        lines[turn.lane.target]?.failures = 0
        lines[turn.lane.target]?.opens = nil
    }

    /// - Parameter target: to be probed immediately.
    mutating func open(_ target: String) { lines[target]?.opens = nil }

    /// - Parameter target: its name.
    /// - Returns: consecutive failures of the target itself.
    func failures(of target: String) -> Int { lines[target]?.failures ?? 0 }

    /// When the first closed target with something ready opens; nil for none.
    private func earliestOpening(after now: Instant) -> Instant? {
        lines.values.compactMap { $0.isReady ? $0.opens : nil }.filter { $0 > now }.min()
    }
}
