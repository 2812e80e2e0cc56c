import Ledger
import Logging
import Platform
import Rules

/// Sends what is in the outbox: of one lane one event at a time, in their order; lanes side by side within a limit.
///
/// It is woken by what is put into the outbox and by the time of the next try, and by nothing else. What it does to an event
/// is in the ledger before it does it, so that a crash leaves nothing unsent; and what was sent without an answer is sent
/// again under the same key (`docs/design/publish.md`).
package actor Courier {
    private let outbox: Outbox
    private let targets: [String: PublishTarget]
    private let senders: [String: any EventSender]
    private let backoff: @Sendable (_ attempt: Int) -> Double
    private let changed: @Sendable () -> Void
    private let log: Logger

    /// Which lanes are at work, wait for their turn, or for a time.
    private var queue: DeliveryQueue
    /// What is to be cut off at a stop.
    private var running: [DeliveryLane: Task<Void, Never>] = [:]
    /// What became of events, where the ledger could not be told.
    private var unstored: [DeliveryLane: (DeliveryRecord, SendOutcome)] = [:]
    private var heads: [DeliveryLane: Head] = [:]
    private var timer: Task<Void, Never>?
    /// Has what an earlier life was sending wait again; once, though it may be asked for twice.
    private var beginning: Task<Void, any Error>?
    private var hasBegun = false
    private var isPaused = false
    private var isStopping = false
    private var stopWaiters: [CheckedContinuation<Void, Never>] = []

    /// What this life knows of the event that comes next in a lane.
    private struct Head {
        let id: String
        /// When its next try is due; nil for at once.
        var due: ContinuousClock.Instant?
        /// Up to when the time that it has been tried for is counted, on a clock that stands while the machine sleeps; nil
        /// where it begins anew with the next try.
        var counted: SuspendingClock.Instant?
    }

    /// The longest time that a receiver can ask for, in seconds.
    package static let longestWait = 86_400.0

    /// - Parameters:
    ///   - outbox: what is sent from.
    ///   - targets: those of the configuration.
    ///   - senders: one for each target, by its name.
    ///   - limit: how many events are under way at the same time.
    ///   - backoff: the seconds to wait after so many tries in vain.
    ///   - changed: called when an event has been given up; it must not block.
    ///   - log: told of what is delivered, tried again and given up.
    package init(
        outbox: Outbox, targets: [PublishTarget], senders: [String: any EventSender], limit: Int,
        backoff: @escaping @Sendable (Int) -> Double = { attempt in
            var generator = SystemRandomNumberGenerator()
            return Backoff.seconds(attempt: attempt, using: &generator)
        }, changed: @escaping @Sendable () -> Void = {}, log: Logger
    ) {
        self.outbox = outbox
        self.targets = Dictionary(targets.map { ($0.name, $0) }) { first, _ in first }
        self.senders = senders
        self.backoff = backoff
        self.changed = changed
        queue = DeliveryQueue(limit: limit, targets: targets.count, backoff: backoff)
        self.log = log
    }

    /// Begins to send what an earlier life has left. May be called again where it has thrown.
    ///
    /// - Parameter isPaused: whether nothing is to be begun for now.
    /// - Throws: what the ledger does.
    package func start(isPaused: Bool = false) async throws {
        self.isPaused = isPaused
        if !hasBegun {
            let ledger = outbox.ledger
            let task = beginning ?? Task { try await ledger.write { _ = try $0.resumeDeliveries() } }
            beginning = task
            do {
                try await task.value
            } catch {
                beginning = nil
                throw error
            }
            // From here on what is `sending` is this courier's.
            hasBegun = true
            outbox.listen { lane, isAskedFor in Task { await self.wake(lane, isAskedFor: isAskedFor) } }
        }
        for lane in try await outbox.ledger.read({ try $0.waitingLanes() }) { wake(lane) }
    }

    /// Says that something may have to be sent; it goes when its time has come, which the ledger says.
    ///
    /// - Parameters:
    ///   - lane: where.
    ///   - isAskedFor: whether a person wants it sent now: then neither the lane nor its target is waited for.
    package func wake(_ lane: DeliveryLane, isAskedFor: Bool = false) {
        guard hasBegun, !isStopping else { return }
        if isAskedFor { queue.open(lane.target) }
        // What comes behind an event, or in the place of one that was taken out, is not sent sooner than that.
        queue.ask(lane, isAskedFor ? .now : .afterWait)
        pump()
    }

    /// - Parameter paused: whether nothing is begun; what is under way goes on.
    package func setPaused(_ paused: Bool) {
        isPaused = paused
        // Nobody tries anything for that long.
        if paused { for lane in heads.keys { heads[lane]?.counted = nil } }
        pump()
    }

    /// Whether nothing is under way, and nothing could be begun now.
    package var isIdle: Bool { running.isEmpty && (isPaused || isStopping || !queue.hasTurn(.now)) }

    /// How many events are under way.
    package var sending: Int { running.count }

    /// Begins nothing more, and returns when nothing is under way: what takes longer than `patience` seconds is cut off, and
    /// goes again at the next start.
    ///
    /// - Parameter patience: in seconds; after twice that it is left to itself.
    package func stop(patience: Double = 5) async {
        isStopping = true
        timer?.cancel()
        outbox.listen(nil)
        if running.isEmpty { return }
        // Of its own: the caller's task has been cancelled as a rule, and cannot sleep.
        let end = Task.detached {
            do {
                try await Task.sleep(for: .seconds(patience))
                await self.cutOff()
                try await Task.sleep(for: .seconds(patience))
                await self.release()
            } catch {
                return
            }
        }
        await withCheckedContinuation { stopWaiters.append($0) }
        end.cancel()
    }

    private func cutOff() {
        for task in running.values { task.cancel() }
    }

    private func release() {
        for waiter in stopWaiters { waiter.resume() }
        stopWaiters = []
    }

    private func pump() {
        guard hasBegun, !isPaused, !isStopping else { return }
        let now = ContinuousClock.now
        while let turn = queue.beginTurn(now) { running[turn.lane] = Task { await self.work(turn) } }
        arm(now)
    }

    /// What is to be done next in a lane.
    private typealias Next = Turns<DeliveryLane>.End

    private func work(_ turn: DeliveryQueue.Turn) async {
        let next: Next
        do {
            next = try await advance(turn)
        } catch {
            log.error("the outbox cannot be worked on, again in a minute: \(explain(error))")
            next = .wait(seconds: 60)
        }
        running[turn.lane] = nil
        queue.ended(turn, next, .now)
        if isStopping {
            if running.isEmpty { release() }
        } else {
            pump()
        }
    }

    /// Sends the first event of a lane, if its time has come.
    private func advance(_ turn: DeliveryQueue.Turn) async throws -> Next {
        let lane = turn.lane
        if let (delivery, outcome) = unstored[lane] { return try await store(outcome, of: delivery) }
        let target = targets[lane.target]
        let holds = target?.onDead == .hold
        guard let first = try await outbox.ledger.read({ try $0.nextDelivery(in: lane, isHeldByDead: holds) }) else {
            heads[lane] = nil
            return .done
        }
        if first.state == .sending { return try await release(first) }
        if let seconds = remaining(of: first) { return .wait(seconds: seconds) }
        guard let target, let sender = senders[lane.target] else {
            return try await note(
                first, "no target of that name is configured; add it under `publish:`, or drop the event")
        }
        guard let begun = try await outbox.ledger.write({ try $0.beginDelivery(first.id) }) else { return .again }
        guard let body = begun.body else {
            return try await store(
                .refused(status: nil, reason: "the ledger has lost what was to be sent"), of: begun.delivery)
        }
        let counted = heads[lane].flatMap { $0.id == first.id ? $0.counted : nil }
        heads[lane] = Head(id: first.id, due: nil, counted: counted ?? .now)
        FaultPoint.reach("sending")
        let outcome = await sender.send(
            OutgoingEvent(
                id: first.id, event: first.event, path: target.path + first.path, body: body,
                attempt: begun.delivery.attempts))
        FaultPoint.reach("sent")
        let failure = outcome.targetFailure
        if failure.isOne {
            queue.close(turn, asked: failure.asked, now: .now)
        } else if outcome != .cancelled {
            queue.reached(turn)
        }
        return try await store(outcome, of: begun.delivery)
    }

    /// Seconds until an event may be sent; nil for now. What this life has set does not change with the calendar; of what
    /// an earlier one has left no more is waited than it meant to, wherever the calendar has been set to since.
    private func remaining(of event: DeliveryRecord) -> Double? {
        guard let time = event.nextAttempt else { return nil }
        let now = ContinuousClock.now
        if let head = heads[event.lane], head.id == event.id, let due = head.due {
            return due > now ? (due - now) / .seconds(1) : nil
        }
        let seconds = min(
            time.seconds - Timestamp.now().seconds, time.seconds - event.updated.seconds, Self.longestWait * 1.2)
        guard seconds > 0 else { return nil }
        heads[event.lane] = Head(id: event.id, due: now.advanced(by: .seconds(seconds)), counted: nil)
        return seconds
    }

    /// Nobody sends it: that it was begun was committed, and could not be told.
    private func release(_ delivery: DeliveryRecord) async throws -> Next {
        var waiting = delivery
        waiting.state = .waiting
        let released = waiting
        try await outbox.ledger.write { _ = try $0.update(released, from: delivery) }
        return .again
    }

    /// Says why an event waits that cannot be sent at all.
    private func note(_ delivery: DeliveryRecord, _ problem: String) async throws -> Next {
        guard delivery.problem != problem else { return .done }
        var waiting = delivery
        waiting.problem = problem
        let noted = waiting
        guard try await outbox.ledger.write({ try $0.update(noted, from: delivery) }) else { return .again }
        log.warning("the event waits for \(delivery.target): \(problem)", metadata: Self.fields(delivery))
        return .done
    }

    private static func fields(_ delivery: DeliveryRecord) -> Logger.Metadata {
        LogFields.job(delivery.job).merging(["event": "\(delivery.id)", "target": "\(delivery.target)"]) { $1 }
    }

    /// Commits what became of a try; where that cannot be done now, it is kept, and nothing is sent in the lane before it
    /// has been.
    private func store(_ outcome: SendOutcome, of sent: DeliveryRecord) async throws -> Next {
        let lane = sent.lane
        let counted = heads[lane]?.counted
        let now = SuspendingClock.now
        let verdict = DeliveryVerdict(
            sent, outcome, targets[sent.target], tried: counted.map { (now - $0) / .seconds(1) } ?? 0,
            failures: queue.failures(of: sent.target), backoff: backoff)
        unstored[lane] = (sent, outcome)
        let (delivery, line) = (verdict.delivery, verdict.line)
        let isStored = try await outbox.ledger.write { transaction -> Bool in
            guard try transaction.update(delivery, from: sent) else { return false }
            guard let line else { return true }
            let job = try transaction.job(sent.job)
            try transaction.note(line.kind, line.message, job: sent.job, place: job?.place, path: job?.path)
            return true
        }
        unstored[lane] = nil
        guard isStored else { return .again }
        switch delivery.state {
        case .delivered: log.info("delivered to \(sent.target)", metadata: Self.fields(sent))
        case .dead:
            log.error("given up: \(line?.message ?? "")", metadata: Self.fields(sent))
            changed()
        default:
            if let line { log.warning("\(line.message); trying again later", metadata: Self.fields(sent)) }
        }
        let due = verdict.wait.map { ContinuousClock.now.advanced(by: .seconds($0)) }
        heads[lane] =
            delivery.state == .waiting ? Head(id: sent.id, due: due, counted: isPaused ? nil : now) : nil
        return verdict.wait.map { .wait(seconds: $0) } ?? .again
    }

    /// One timer for the earliest try or target, and none while nothing waits.
    private func arm(_ now: ContinuousClock.Instant) {
        guard let next = queue.timer(now) else { return }
        timer?.cancel()
        timer = Task {
            do {
                try await Task.sleep(until: next, clock: .continuous)
            } catch {
                return
            }
            self.ring()
        }
    }

    private func ring() {
        queue.tick(.now)
        pump()
    }
}
