import Ledger
import Logging
import Platform

/// Runs jobs: carries out the effects that the ``Scheduler`` returns, and reports the results back to it. The state
/// of each job is in the ledger.
package actor Runner {
    let executor: JobExecutor
    let planner: Planner
    let ledger: Ledger
    let log: Logger
    private let changed: @Sendable () -> Void

    private(set) var scheduler: Scheduler
    private var timer: Task<Void, Never>?
    /// The running query for ready jobs.
    private(set) var fetching: Task<Void, Never>?
    private var idleWaiters: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastWaiter = 0
    private var tellEnd: (@Sendable (_ place: String, _ path: BytePath) async -> Void)?
    private var backoff = Backoff.ofJobs

    /// - Parameters:
    ///   - maximumFiles: how many files are worked on concurrently; each kind of work has its own limit.
    ///   - share: how many of them may belong to one rule in one place.
    ///   - window: how many ready jobs are kept in memory.
    ///   - changed: called when a job is added, begins or ends; must not block.
    package init(
        executor: JobExecutor, planner: Planner, ledger: Ledger, maximumFiles: Int = 512, share: Int = 128,
        window: Int = 1024, changed: @escaping @Sendable () -> Void = {}, log: Logger
    ) {
        self.executor = executor
        self.planner = planner
        self.ledger = ledger
        self.changed = changed
        self.log = log
        scheduler = Scheduler(Scheduler.Limits(files: maximumFiles, share: share, window: window))
    }

    // MARK: Requests from outside

    /// Submits jobs that are already in the ledger: new ones, and others that should be looked at now.
    ///
    /// - Parameter areReady: whether all of them are ready in the ledger; if so, they may be left there for now.
    package func submit(_ jobs: [(id: String, place: String, path: BytePath)], areReady: Bool = false) {
        let jobs = jobs.map {
            Scheduler.Job(id: $0.id, whose: nil, file: Scheduler.File(place: $0.place, path: $0.path))
        }
        happened { $0.submit(jobs, areReady: areReady) }
    }

    /// Submits jobs that have just been planned and are ready.
    package func submit(_ jobs: [PlannedJob]) {
        executor.calls.end(madeStaleBy: jobs)
        happened { $0.submit(jobs.map(Scheduler.Job.init), areReady: true) }
    }

    /// Has waiting jobs look again now: what they wait for may be over. Others are left alone.
    package func wake(_ ids: some Sequence<String> & Sendable) { happened { $0.wake(ids) } }

    /// Sets the handler called when a job is not waiting to run any more; called before ``idle()`` returns.
    package func tellOfEnds(_ tell: @escaping @Sendable (_ place: String, _ path: BytePath) async -> Void) {
        tellEnd = tell
    }

    package func setPaused(_ paused: Bool) async throws {
        happened { $0.setPaused(paused) }
        try await ledger.write { transaction in
            try transaction.setMeta("paused", paused ? Timestamp.now().description : nil)
            try transaction.note("agent", paused ? "paused" : "resumed")
        }
    }

    /// Tells the scheduler that the rules have changed. After the first load, jobs from before the start may begin.
    package func rulesChanged() { happened { $0.settled() } }

    /// Begins nothing more, and waits until each running step has ended.
    package func drain() async {
        happened { $0.drain() }
        timer?.cancel()
        executor.stopAfterStep()
        if await HangWatch.wait(until: { await self.isIdle }) { return }
        log.warning(
            "\(scheduler.atWorkCount) jobs are left in calls that do not return; they go on at the next start")
    }

    /// Returns when no job is running or due, or when the task is cancelled.
    package func idle() async {
        if isIdle { return }
        lastWaiter += 1
        let waiter = lastWaiter
        await withTaskCancellationHandler {
            await withCheckedContinuation { idleWaiters[waiter] = $0 }
        } onCancel: {
            // Actor isolation runs this after the continuation is stored.
            Task { await self.giveUp(waiter) }
        }
    }

    private func giveUp(_ waiter: Int) { idleWaiters.removeValue(forKey: waiter)?.resume() }

    private var isIdle: Bool {
        scheduler.hasRules = executor.rules.isRead
        return scheduler.isIdle
    }

    package struct Status: Sendable, Codable {
        package let paused: Bool
        package let running: Int
        package let queued: Int
        package let waiting: Int
    }

    package func status() -> Status {
        let count = scheduler.count
        return Status(
            paused: scheduler.isPaused, running: scheduler.atWorkCount,
            queued: count.queued + count.aside + count.parked + count.reading + scheduler.left,
            waiting: count.retrying + count.blocked)
    }

    /// How many jobs have been ready in the ledger for at least ten seconds without the scheduler knowing them.
    /// Anything but 0 is a bug. Reads the ledger.
    ///
    /// - Throws: errors of the ledger.
    package func unknownJobs() async throws -> Int {
        // Jobs left in the ledger on purpose look the same as lost ones.
        guard scheduler.phase == nil, scheduler.left == 0 else { return 0 }
        let limit = scheduler.table.count + Self.mostUnknown
        let unknown = try await ledger.read { try $0.readyJobs(limit: limit) }.map(\.id).filter { !scheduler.knows($0) }
        if unknown.isEmpty { return 0 }
        // A job that was just planned is still on its way here.
        let before = Timestamp.now().adding(seconds: -10)
        let old = try await ledger.read { transaction in
            try unknown.filter { id in
                try transaction.job(id).map { $0.state == .ready && $0.updated < before } ?? false
            }
        }
        return scheduler.left > 0 ? 0 : old.count { !scheduler.knows($0) }
    }

    /// Counting stops here.
    private static let mostUnknown = 1_000

    // MARK: Effects

    /// The only way to the scheduler: passes it an event and carries out the resulting effects.
    ///
    /// - Parameter permit: a permit for a kind of work; released if no job takes it.
    func happened(given permit: StepPermit? = nil, _ event: (inout Scheduler) -> [Scheduler.Effect]) {
        scheduler.hasRules = executor.rules.isRead
        var permit = permit
        for effect in event(&scheduler) {
            switch effect {
            case .begin(let job, let hasPermit):
                begin(job, hasPermit ? permit : nil)
                if hasPermit { permit = nil }
            case .awaitPermit(let kind):
                Task {
                    guard let permit = await executor.permit(for: kind) else { return }
                    self.happened(given: permit) { $0.permitGiven(kind) }
                }
            case .fetch(let limit): fetching = Task { await self.fetch(limit) }
            case .read(let id): Task { await self.read(id) }
            case .expire(let id): Task { await self.expire(id) }
            case .finishUndo(let id): Task { [executor] in await executor.finishUndo(of: id) }
            case .check(let id, let others): Task { await self.check(id, others) }
            case .wake(let time): wake(at: time)
            case .idle: tellIdle()
            }
        }
        permit?.release()
        executor.tell(othersWait: scheduler.count.parked > 0)
        changed()
    }

    /// Starts a job on its rule's threads.
    ///
    /// - Parameter permit: the permit of its next step, if already acquired.
    private func begin(_ job: Scheduler.Job, _ permit: StepPermit?) {
        let executor = executor
        BlockingPool.start(for: job.whose) {
            await executor.run(job.id, for: job.whose, planned: job.planned, permit)
        } then: { outcome in
            await self.ended(job.id, job.file, outcome)
        }
    }

    /// Does what must come before other jobs of the same file, then reports the end to the scheduler.
    func ended(_ id: String, _ file: Scheduler.File, _ outcome: JobExecutor.Outcome) async {
        let end: Scheduler.End
        switch outcome {
        case .ended, .stopped: end = .over(then: [])
        case .followed(let next): end = .over(then: [Scheduler.Job(next)])
        case .asking(let until):
            end = until.map { .waits(.answer, seconds: $0.seconds - Timestamp.now().seconds) } ?? .over(then: [])
        case .superseded: end = .over(then: await planAnew(id).map(Scheduler.Job.init))
        case .heldUp(let others): end = .heldUp(by: others)
        case .crowded(let kind, let hasBegun): end = .crowded(kind, hasBegun: hasBegun)
        case .again(let attempt):
            let delay = backoff.seconds(failures: attempt)
            await noteNextTry(of: id, in: .waiting, after: delay)
            end = .waits(.retry, seconds: delay)
        case .watched(let attempt):
            // After a start nothing is watched before the job has looked.
            await noteNextTry(of: id, in: .waiting, after: 1)
            end = .waits(.retry, seconds: backoff.seconds(failures: attempt))
        }
        switch outcome {
        case .again, .watched, .crowded: break
        default: await tellEnd?(file.place, file.path)
        }
        happened { $0.ended(id, end, .now) }
    }

    /// Only for the next start; this process uses its own clock.
    private func noteNextTry(of id: String, in state: JobRecord.State, after delay: Double) async {
        do {
            try await ledger.write { transaction in
                guard var job = try transaction.job(id), job.state == state else { return }
                job.nextAttempt = Timestamp.now().adding(seconds: delay)
                try transaction.update(job)
            }
        } catch {
            log.error("the time of the next try is not in the ledger: \(explain(error))", metadata: LogFields.job(id))
        }
    }

    /// Schedules a retry for an undo that failed for a transient reason.
    func undoAgain(_ id: String, after attempts: Int) async {
        let delay = backoff.seconds(failures: attempts)
        await noteNextTry(of: id, in: .undoing, after: delay)
        happened { $0.undoWaits(id, seconds: delay, .now) }
    }

    private func fetch(_ limit: Int) async {
        do {
            let ready = try await ledger.read { try $0.readyJobs(limit: limit) }
            let jobs = ready.map {
                Scheduler.Job(
                    id: $0.id, whose: JobExecutor.bulkhead($0.rule, $0.place),
                    file: Scheduler.File(place: $0.place, path: $0.path), isBacklog: $0.isBacklog)
            }
            happened { $0.fetched(jobs, limit: limit) }
        } catch {
            log.error("cannot read which jobs are ready, looking again in a minute: \(explain(error))")
            happened { $0.fetchFailed(.now) }
        }
    }

    private func read(_ id: String) async {
        var found = Scheduler.Found.failed
        do {
            found = try await ledger.read { transaction in
                guard let job = try transaction.job(id) else { return .nothing }
                let now = Timestamp.now().seconds
                switch job.state {
                case .ready, .waiting: return .open(Scheduler.Job(job))
                case .undoing:
                    return job.nextAttempt.map {
                        .waits(.undo, seconds: min($0.seconds - now, Backoff.longestOfJobs))
                    } ?? .nothing
                case .asking:
                    let asked = try transaction.openQuestions().first { $0.1.id == id }
                    return asked?.0.until.map { .waits(.answer, seconds: $0.seconds - now) } ?? .nothing
                default: return .nothing
                }
            }
        } catch {
            log.error("cannot read a job, again in a minute: \(explain(error))", metadata: LogFields.job(id))
        }
        happened { $0.found(id, found, .now) }
    }

    private func expire(_ id: String) async {
        var found = Scheduler.Found.failed
        do {
            let until = try await executor.expire(id)
            found = until.map { .waits(.answer, seconds: $0.seconds - Timestamp.now().seconds) } ?? .nothing
        } catch {
            log.error("cannot end a question, again in a minute: \(explain(error))", metadata: LogFields.job(id))
        }
        happened { $0.found(id, found, .now) }
    }

    private func check(_ id: String, _ others: Set<String>) async {
        do {
            let areOpen = try await ledger.read { transaction in
                try others.allSatisfy { try transaction.job($0)?.state.isOpen == true }
            }
            if areOpen { return }
        } catch {
            log.error("cannot read what a job waits for: \(explain(error))", metadata: LogFields.job(id))
        }
        happened { $0.unblock(id) }
    }

    private func wake(at time: ContinuousClock.Instant) {
        timer?.cancel()
        timer = Task {
            do {
                try await Task.sleep(until: time, clock: .continuous)
            } catch {
                return
            }
            self.happened { $0.tick(.now) }
        }
    }

    private func tellIdle() {
        // Files may be judged at the same time; the ledger checks for writers itself.
        if ledger.needsCheckpoint { Task { [ledger] in await ledger.checkpointAtRest() } }
        for waiter in idleWaiters.values { waiter.resume() }
        idleWaiters = [:]
    }

    /// Takes the undos that are waiting for a retry; the caller retries them now.
    func takeWaitingUndos() -> Set<String> { scheduler.takeWaitingUndos() }
}

extension Scheduler.Job {
    /// A job that has just been planned.
    init(_ job: PlannedJob) {
        self.init(
            id: job.id, whose: JobExecutor.bulkhead(job.rule, job.place),
            file: Scheduler.File(place: job.place, path: job.path), isBacklog: job.isBacklog,
            isBehindBacklog: job.isBehindBacklog, planned: job.loaded)
    }

    /// A job from the ledger.
    init(_ job: JobRecord) {
        let now = job.whereabouts
        self.init(
            id: job.id, whose: JobExecutor.bulkhead(of: job), file: Scheduler.File(place: now.place, path: now.path),
            isBacklog: job.isBacklog)
    }
}
