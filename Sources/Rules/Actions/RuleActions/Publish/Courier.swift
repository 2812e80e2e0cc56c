import Ledger
import Logging
import Platform
import Rules

/// Sends the events in the outbox: serially and in order within a lane, concurrently across lanes up to a limit.
///
/// It wakes up only for new events and due retries. Each state change is in the ledger before it takes effect, so a
/// crash leaves nothing unsent. An event sent without a response is sent again under the same key
/// (`docs/design/publish.md`).
package actor Courier {
    private let outbox: Outbox
    private let targets: [String: PublishTarget]
    private let senders: [String: any EventSender]
    private let backoff: Backoff
    private let changed: @Sendable () -> Void
    private let log: Logger

    /// Tracks which lanes are in flight, ready or waiting.
    private var queue: DeliveryQueue
    /// In-flight tasks, cancelled on stop.
    private var running: [DeliveryLane: Task<Void, Never>] = [:]
    /// Outcomes that could not be committed yet.
    private var unstored: [DeliveryLane: (DeliveryRecord, SendOutcome)] = [:]
    private var heads: [DeliveryLane: Head] = [:]
    private var timer: Task<Void, Never>?
    /// Releases events that an earlier run was sending. Runs once even if requested twice.
    private var beginning: Task<Void, any Error>?
    private var hasBegun = false
    private var isPaused = false
    private var isStopping = false
    private var stopWaiters: [CheckedContinuation<Void, Never>] = []

    /// In-memory state of the next event of a lane.
    private struct Head {
        let id: String
        /// When the next attempt is due; nil for now.
        var due: ContinuousClock.Instant?
        /// Up to when its retry time has been counted, on a clock that pauses during suspend; nil if counting resumes
        /// with the next attempt.
        var counted: SuspendingClock.Instant?
    }

    /// Maximum wait that a receiver can request, in seconds.
    package static let longestWait = 86_400.0

    /// - Parameters:
    ///   - outbox: the source of events.
    ///   - targets: the configured ones.
    ///   - senders: one per target, by name.
    ///   - limit: maximum number of events in flight.
    ///   - backoff: between the attempts of an event, and those of a target.
    ///   - changed: called when an event has been given up; must not block.
    ///   - log: logs deliveries, retries and events given up.
    package init(
        outbox: Outbox, targets: [PublishTarget], senders: [String: any EventSender], limit: Int,
        backoff: Backoff = .ofJobs, changed: @escaping @Sendable () -> Void = {}, log: Logger
    ) {
        self.outbox = outbox
        self.targets = Dictionary(targets.map { ($0.name, $0) }) { first, _ in first }
        self.senders = senders
        self.backoff = backoff
        self.changed = changed
        queue = DeliveryQueue(limit: limit, targets: targets.count, backoff: backoff)
        self.log = log
    }

    /// Starts sending what an earlier run left. May be called again after it threw.
    ///
    /// - Parameter isPaused: whether to start paused.
    /// - Throws: errors of the ledger.
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
            // From here on, `sending` events are this courier's.
            hasBegun = true
            outbox.listen { lane, isAskedFor in Task { await self.wake(lane, isAskedFor: isAskedFor) } }
        }
        for lane in try await outbox.ledger.read({ try $0.waitingLanes() }) { wake(lane) }
    }

    /// Signals that an event may be ready; the ledger decides when it is due.
    ///
    /// - Parameters:
    ///   - lane: of the event.
    ///   - isAskedFor: whether a person wants it sent now, which skips the backoff of event and target.
    package func wake(_ lane: DeliveryLane, isAskedFor: Bool = false) {
        guard hasBegun, !isStopping else { return }
        if isAskedFor { queue.open(lane.target) }
        // Backoff also applies to the event behind, or in place of, one that was removed.
        queue.ask(lane, isAskedFor ? .now : .afterWait)
        pump()
    }

    /// - Parameter paused: whether to start nothing new; events in flight continue.
    package func setPaused(_ paused: Bool) {
        isPaused = paused
        // Paused time does not count towards giving up.
        if paused { for lane in heads.keys { heads[lane]?.counted = nil } }
        pump()
    }

    /// Whether nothing is in flight and nothing could be started now.
    package var isIdle: Bool { running.isEmpty && (isPaused || isStopping || !queue.hasTurn(.now)) }

    /// Number of events in flight.
    package var sending: Int { running.count }

    /// Starts nothing new and returns when nothing is in flight. An event that takes longer than `timeout` is
    /// cancelled and sent again at the next start.
    ///
    /// - Parameter timeout: in seconds; after twice that, this returns regardless.
    package func stop(timeout: Double = 5) async {
        isStopping = true
        timer?.cancel()
        outbox.listen(nil)
        if running.isEmpty { return }
        // Detached, because the caller's task is usually cancelled and could not sleep.
        let end = Task.detached {
            do {
                try await Task.sleep(for: .seconds(timeout))
                await self.cutOff()
                try await Task.sleep(for: .seconds(timeout))
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

    /// What to do next in a lane.
    private typealias Next = KeyedQueue<DeliveryLane>.End

    private func work(_ turn: DeliveryQueue.Turn) async {
        let next: Next
        do {
            next = try await advance(turn)
        } catch {
            log.error("the outbox cannot be processed, retrying in a minute: \(explain(error))")
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

    /// Sends the first event of a lane if it is due.
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
                first, "no target with that name is configured; add it under `publish:`, or drop the event")
        }
        guard let begun = try await outbox.ledger.write({ try $0.beginDelivery(first.id) }) else { return .again }
        guard let body = begun.body else {
            return try await store(
                .refused(status: nil, reason: "the ledger has lost the event's body"), of: begun.delivery)
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

    /// Seconds until an event is due; nil if it is due now. Waits set by this run use a monotonic clock. Waits from an
    /// earlier run are capped at their original length, in case the wall clock was changed since.
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

    /// Resets an event that nothing is sending: its start was committed, but the commit was not confirmed.
    private func release(_ delivery: DeliveryRecord) async throws -> Next {
        var waiting = delivery
        waiting.state = .waiting
        let released = waiting
        try await outbox.ledger.write { _ = try $0.update(released, from: delivery) }
        return .again
    }

    /// Records why an event cannot be sent at all.
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

    /// Commits the outcome of an attempt. If that fails, the outcome is kept, and nothing else in the lane is sent
    /// before it is committed.
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

    /// One timer for the earliest retry or target; none while nothing waits.
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
