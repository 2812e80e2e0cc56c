import Ledger
import Rules

/// Which lanes are worked on, and which next: each target gets its share of what may be under way, and one that does not
/// answer is left alone and then asked by one lane, so that no target keeps others waiting.
struct DeliveryQueue {
    typealias Instant = ContinuousClock.Instant

    /// A lane whose turn it is.
    struct Turn {
        let lane: DeliveryLane
        /// How often its target had been closed when the turn came.
        let era: Int
    }

    /// What is known of one target.
    private struct Line {
        /// Those from `first` on are ready.
        var lanes: [DeliveryLane] = []
        var first = 0
        var running = 0
        /// Nothing is begun before that.
        var opens: Instant?
        /// Failures one after the other that were the target's own.
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
    private let backoff: @Sendable (Int) -> Double
    private var lines: [String: Line] = [:]
    /// The names of the lines, in the order in which they get turns.
    private var names: [String] = []
    private var next = 0
    private var turns = Turns<DeliveryLane>()
    private var running = 0

    /// - Parameters:
    ///   - limit: how many lanes may be at work at the same time.
    ///   - targets: how many targets share them.
    ///   - backoff: the seconds to leave a target alone after so many failures of its own.
    init(limit: Int, targets: Int, backoff: @escaping @Sendable (Int) -> Double) {
        self.limit = max(1, limit)
        share = max(1, self.limit / max(1, targets))
        self.backoff = backoff
    }

    /// - Parameter lane: where something may have to be sent.
    mutating func ask(_ lane: DeliveryLane, _ asked: Turns<DeliveryLane>.Asked) {
        if turns.ask(lane, asked) { append(lane) }
    }

    /// Behind the others of its target.
    private mutating func append(_ lane: DeliveryLane) {
        if lines[lane.target] == nil { names.append(lane.target) }
        lines[lane.target, default: Line()].lanes.append(lane)
    }

    /// - Parameter now: targets that are closed until later get no turn.
    /// - Returns: a lane that is at work from now on; nil where none may be.
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

    /// - Parameter now: targets that are closed until later get no turn.
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
    ///   - turn: is over.
    ///   - end: what is to be done next in its lane.
    mutating func ended(_ turn: Turn, _ end: Turns<DeliveryLane>.End, _ now: Instant) {
        lines[turn.lane.target]?.running -= 1
        running -= 1
        if turns.ended(turn.lane, end, now) { append(turn.lane) }
    }

    /// The timer has gone off: what has waited long enough is ready.
    mutating func tick(_ now: Instant) {
        for lane in turns.takeDue(now) { append(lane) }
    }

    /// For when the timer has to be set anew, which waits for the earliest try or target; nil where it need not be.
    mutating func timer(_ now: Instant) -> Instant? { turns.timer(orFor: earliestOpening(after: now)) }

    /// A try has failed for a reason that is the target's: it is left alone for a while.
    ///
    /// - Parameters:
    ///   - turn: the one in which it was tried. Of tries side by side the first one counts.
    ///   - asked: the seconds that the target wants to be left alone; nil where it does not say.
    ///   - now: when that was.
    mutating func close(_ turn: Turn, asked: Double?, now: Instant) {
        guard var line = lines[turn.lane.target] else { return }
        var seconds = asked ?? 0
        if turn.era == line.era {
            line.failures += 1
            line.era += 1
            seconds = max(seconds, backoff(line.failures))
            line.opens = nil
        }
        let opens = now.advanced(by: .seconds(seconds))
        line.opens = max(line.opens ?? opens, opens)
        lines[turn.lane.target] = line
    }

    /// A try has come to the target, which is well.
    ///
    /// - Parameter turn: the one in which that was; one that was begun before the target was closed says nothing.
    mutating func reached(_ turn: Turn) {
        guard turn.era == lines[turn.lane.target]?.era else { return }
        lines[turn.lane.target]?.failures = 0
        lines[turn.lane.target]?.opens = nil
    }

    /// - Parameter target: is to be tried at once, by one lane.
    mutating func open(_ target: String) { lines[target]?.opens = nil }

    /// - Parameter target: its name.
    /// - Returns: failures one after the other that were the target's own.
    func failures(of target: String) -> Int { lines[target]?.failures ?? 0 }

    /// When the first closed target opens for which something is ready; nil for none.
    private func earliestOpening(after now: Instant) -> Instant? {
        lines.values.compactMap { $0.isReady ? $0.opens : nil }.filter { $0 > now }.min()
    }
}
