import Deadlines
import DequeModule
import Ledger
import Logging
import Platform

/// Runs jobs: those of one file in order, those of different files side by side within limits; retries what may pass,
/// quarantines what is refused, parks the rest for a human.
///
/// Jobs that wait lie in the ledger. Only those of a window are in memory: ten thousand files that come at once are no
/// reason to grow.
package actor Runner {
    let executor: JobExecutor
    let planner: Planner
    let ledger: Ledger
    let log: Logger
    private let maximumFiles: Int
    private let window: Int
    /// Files of each rule that are at work, and those that wait for these.
    var shares: RuleShares
    private let changed: @Sendable () -> Void

    var queues: [FileKey: [Queued]] = [:]
    var known: Set<String> = []
    /// Files whose turn it is, those with nothing but the backlog after all others.
    var turn: Deque<FileKey> = []
    private var backlogTurn: Deque<FileKey> = []
    /// Jobs in `queues`, and how many of them are not of the backlog.
    private var queued = 0
    private var queuedFirst = 0
    var running: [FileKey: String] = [:]
    /// Jobs of which something is recovered that an earlier life had begun. Nothing else of their files begins meanwhile.
    var recovering: [FileKey: Set<String>] = [:]
    /// Jobs whose files are on their way into quarantine since an earlier life.
    var isolating: [String: JobRecord] = [:]
    /// How far the start has come; nil before it and after it.
    var startPhase: StartPhase?
    /// Jobs that wait for their next try, by a clock that nobody sets, and that goes on while the machine sleeps.
    var retries = DeadlineHeap<String, ContinuousClock.Instant>()
    /// Those of them that the ledger may hold as ready all the same, because it could not be written.
    var unnoted: Set<String> = []
    /// Jobs among them that wait for a person's word, and not for a try.
    var asking: Set<String> = []
    /// Jobs among them that are being taken back.
    var undoing: Set<String> = []
    /// Jobs that wait for others to end, which are at work in their folder.
    var heldUp: [String: Set<String>] = [:]
    var timer: Task<Void, Never>?
    var armedFor: ContinuousClock.Instant?
    var isPaused = false
    var isDraining = false
    private var idleWaiters: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastWaiter = 0
    var tellEnd: (@Sendable (_ place: String, _ path: BytePath) async -> Void)?
    /// Superseded jobs whose place in line nothing could take yet, for a reason that passes.
    var unplanned: Set<String> = []
    /// Jobs that are ready in the ledger and not in memory, and how many have ever been left there.
    private var left = 0
    private var everLeft = 0
    /// The same without the backlog.
    private var leftFirst = 0
    private var everLeftFirst = 0
    private var isFetching = false
    var generator = SystemRandomNumberGenerator()

    /// While so many are in `queues`, what comes behind them is read again when it begins.
    private static let mostPlanned = 16
    /// No job has this id: it stands for another look into the ledger.
    private static let nextLook = ""
    /// Seconds until a folder is tried again that something other than a job is at work in.
    static let pause = 2.0

    /// Jobs that wait until there is less of a kind of work.
    var parked: [WorkKind: ParkedJobs] = [:]
    /// Kinds of work for which the runner will be given a place.
    var awaited: Set<WorkKind> = []
    /// So many may wait so; more lie in the ledger, and others behind them.
    private static let mostParked = 8_192
    /// While so many wait for others of their rule, no more are read: that a few of these end is no reason to read all anew.
    private static let mostAside = 4_096

    /// - Parameters:
    ///   - maximumFiles: how many files are worked on at the same time; each kind of work has its own limit.
    ///   - share: how many of them may be one rule's in one place.
    ///   - window: how many jobs that are ready are in memory.
    ///   - changed: called when something was begun, has ended or has come; it must not block.
    package init(
        executor: JobExecutor, planner: Planner, ledger: Ledger, maximumFiles: Int = 512, share: Int = 128,
        window: Int = 1024, changed: @escaping @Sendable () -> Void = {}, log: Logger
    ) {
        self.executor = executor
        self.planner = planner
        self.ledger = ledger
        self.maximumFiles = maximumFiles
        shares = RuleShares(most: share)
        self.window = max(1, window)
        self.changed = changed
        self.log = log
    }

    /// Adds jobs that the ledger already holds. Ones that wait for their next try are resumed now; others that are known
    /// are left as they are.
    ///
    /// - Parameter areReady: whether all of them stand in the ledger as ready; then they may be left there for now.
    package func submit(_ jobs: [(id: String, place: String, path: BytePath)], areReady: Bool = false) {
        submit(jobs.map { (Queued(id: $0.id, whose: nil), $0.place, $0.path) }, areReady)
    }

    /// The same for jobs that have just been planned, and are ready.
    package func submit(_ jobs: [PlannedJob]) {
        submit(jobs.map { (Queued($0), $0.place, $0.path) }, true)
    }

    private func submit(_ jobs: [(job: Queued, place: String, path: BytePath)], _ areReady: Bool) {
        let ids = jobs.map(\.job.id)
        for id in ids where retries.remove(id) {
            unnoted.remove(id)
            asking.remove(id)
            undoing.remove(id)
        }
        for id in ids { heldUp[id] = nil }
        for (job, place, path) in jobs { enqueue(job, place: place, path: path, mayBeLeft: areReady) }
        pump()
    }

    /// Has it told when a job does not wait to be run any more, before anybody hears that nothing runs.
    package func tellOfEnds(_ tell: @escaping @Sendable (_ place: String, _ path: BytePath) async -> Void) {
        tellEnd = tell
    }

    package func setPaused(_ paused: Bool) async throws {
        isPaused = paused
        defer { pump() }
        try await ledger.write { transaction in
            try transaction.setMeta("paused", paused ? Timestamp.now().description : nil)
            try transaction.note("agent", paused ? "paused" : "resumed")
        }
    }

    /// Begins nothing more and waits until what runs has reached the end of its step.
    package func drain() async {
        isDraining = true
        timer?.cancel()
        executor.stopAfterStep()
        if await HangWatch.wait(until: { await self.isIdle }) { return }
        log.warning(
            "\(atWork) jobs are left in calls that do not return; they go on at the next start")
    }

    /// Returns when no job runs and none is due, or when the task is cancelled.
    package func idle() async {
        if isIdle { return }
        lastWaiter += 1
        let waiter = lastWaiter
        await withTaskCancellationHandler {
            await withCheckedContinuation { idleWaiters[waiter] = $0 }
        } onCancel: {
            // Its turn comes after this one has begun to wait.
            Task { await self.giveUp(waiter) }
        }
    }

    private func giveUp(_ waiter: Int) { idleWaiters.removeValue(forKey: waiter)?.resume() }

    private var isIdle: Bool {
        atWork == 0
            && (turn.isEmpty && backlogTurn.isEmpty && left == 0 && parkedCount == 0 || isPaused || isDraining
                || !executor.rules.isRead)
    }

    private var atWork: Int { running.count - parkedCount + recovering.values.reduce(0) { $0 + $1.count } }

    private var parkedCount: Int { parked.values.reduce(shares.waiting) { $0 + $1.count } }

    private var parkedFirst: Int { parked.values.reduce(shares.waitingFirst) { $0 + $1.beforeBacklog } }

    package struct Status: Sendable, Codable {
        package let paused: Bool
        package let running: Int
        package let queued: Int
        package let waiting: Int
    }

    package func status() -> Status {
        Status(
            paused: isPaused, running: atWork, queued: queued + parkedCount + left,
            waiting: retries.count + heldUp.count - (retries.contains(Self.nextLook) ? 1 : 0)
                - asking.count - undoing.count)
    }

    /// - Parameter isFirst: whether it comes before what waits of its file.
    func enqueue(_ id: String, place: String, path: BytePath, mayBeLeft: Bool = false, isFirst: Bool = false) {
        enqueue(Queued(id: id, whose: nil), place: place, path: path, mayBeLeft: mayBeLeft, isFirst: isFirst)
    }

    /// One that has just been planned, and may be left in the ledger for now.
    func enqueue(_ job: PlannedJob) {
        enqueue(Queued(job), place: job.place, path: job.path, mayBeLeft: true)
    }

    func enqueue(_ job: Queued, place: String, path: BytePath, mayBeLeft: Bool, isFirst: Bool = false) {
        guard !isKnown(job.id) else { return }
        if mayBeLeft, mustBeLeft(job) { return leaveInLedger(1, isBacklog: job.isBacklog) }
        known.insert(job.id)
        let key = FileKey(place: place, path: path)
        let job = queued < Self.mostPlanned ? job : job.toBeRead
        var queue = queues[key, default: []]
        if isFirst { queue.insert(job, at: 0) } else { queue.append(job) }
        queued += 1
        if !job.isBacklog {
            queuedFirst += 1
            // Those before it of its file come with it.
            for at in queue.indices where queue[at].isBacklog {
                queue[at].isBacklog = false
                queuedFirst += 1
            }
        }
        let hasTurn = queues[key]?.contains { $0.isBacklog == job.isBacklog } ?? false
        queues[key] = queue
        if !hasTurn { takeTurn(key) }
    }

    /// Whether a job has to wait in the ledger. Where others were left, it is after them: jobs of one file keep their order.
    private func mustBeLeft(_ job: Queued) -> Bool {
        if job.isBacklog { return left > 0 || queued >= window || parkedCount >= Self.mostParked }
        return leftFirst > 0 || job.isBehindBacklog && left > 0 || queuedFirst >= window
            || parkedFirst >= Self.mostParked
    }

    /// Has a file take its turn, if nothing of it is at work; else it takes it when that has ended. It may have another turn
    /// yet, which is passed over then.
    func takeTurn(_ key: FileKey) {
        guard isFree(key), let queue = queues[key], !queue.isEmpty else { return }
        if queue.allSatisfy(\.isBacklog) { backlogTurn.append(key) } else { turn.append(key) }
    }

    private func nextTurn() -> FileKey? { turn.popFirst() ?? backlogTurn.popFirst() }

    /// Whether nothing of the file is at work.
    func isFree(_ key: FileKey) -> Bool { running[key] == nil && recovering[key] == nil }

    private func isKnown(_ id: String) -> Bool { known.contains(id) || retries.contains(id) }

    /// - Parameter isBacklog: whether all of them are of the backlog.
    func leaveInLedger(_ count: Int, isBacklog: Bool = false) {
        left += count
        everLeft += count
        guard !isBacklog else { return }
        leftFirst += count
        everLeftFirst += count
    }

    /// Loads ready jobs into memory, in the order in which they were planned, the backlog last, until the window is full.
    func fetch() async {
        guard left > 0, !isFetching, !isDraining else { return pump() }
        isFetching = true
        let (before, beforeFirst) = (everLeft, everLeftFirst)
        let limit = known.count + unnoted.count + window
        do {
            let ready = try await ledger.read { try $0.readyJobs(limit: limit) }
            for job in ready where !isKnown(job.id) {
                // Not past the window, but never without any progress.
                if (job.isBacklog ? queued : queuedFirst) >= window { break }
                let whose = JobExecutor.bulkhead(job.rule, job.place)
                enqueue(
                    Queued(id: job.id, whose: whose, isBacklog: job.isBacklog), place: job.place, path: job.path,
                    mayBeLeft: false)
            }
            // What was left while the ledger was read may not have been in it yet.
            let rest = ready.count { !isKnown($0.id) }
            left = everLeft - before + (ready.count < limit ? rest : max(rest, left - (everLeft - before) - window, 1))
            let restFirst = ready.count { !$0.isBacklog && !isKnown($0.id) }
            // All that were read are before the backlog: there may be more.
            let areAllFirst = ready.count >= limit && ready.last?.isBacklog == false
            leftFirst = everLeftFirst - beforeFirst + (areAllFirst ? max(restFirst, 1) : restFirst)
        } catch {
            log.error("cannot read which jobs are ready, looking again in a minute: \(explain(error))")
            schedule(Self.nextLook, after: 60)
            isFetching = false
            return
        }
        isFetching = false
        pump()
    }

    /// Whether jobs may begin.
    var canBegin: Bool { !isPaused && !isDraining && startPhase == nil && executor.rules.isRead }

    /// Other rules are in force: where there were none yet, jobs of an earlier life begin now.
    package func rulesChanged() { pump() }

    func pump() {
        changed()
        if canBegin {
            while hasRoom, let key = nextTurn() {
                // It may have had its turn already, with what is before the backlog.
                guard isFree(key), var queue = queues[key], !queue.isEmpty else { continue }
                let job = queue.removeFirst()
                queued -= 1
                if !job.isBacklog { queuedFirst -= 1 }
                queues[key] = queue.isEmpty ? nil : queue
                running[key] = job.id
                if let next = shares.take((job, key)) { begin(next) }
            }
            while hasRoom, let next = shares.next() { begin(next) }
            if mayFetch { Task { await self.fetch() } }
            for kind in parked.keys { awaitPlace(for: kind) }
        }
        if isIdle {
            // Files may be judged all the same: the ledger looks whether anybody writes.
            if ledger.isLogLong { Task { [ledger] in await ledger.foldAtRest() } }
            for waiter in idleWaiters.values { waiter.resume() }
            idleWaiters = [:]
        }
    }

    /// Whether there is room for what was left in the ledger. For the backlog there is less than for what comes before it.
    private var mayFetch: Bool {
        guard left > 0, !isFetching else { return false }
        if leftFirst > 0, queuedFirst < window / 2 + 1, parkedFirst < Self.mostParked,
            shares.waitingFirst < Self.mostAside
        {
            return true
        }
        return queued < window / 2 + 1 && parkedCount < Self.mostParked && shares.waiting < Self.mostAside
    }

    private var hasRoom: Bool { running.count - parkedCount < maximumFiles }

    /// Has a job carried out on its rule's threads.
    ///
    /// - Parameter place: that of its next step, where it has one already.
    func begin(_ next: ParkedJobs.Parked, _ place: WorkPlace? = nil) {
        let (job, executor) = (next.job, executor)
        BlockingThreads.start(for: job.whose) {
            await executor.run(job.id, for: job.whose, planned: job.planned, place)
        } then: { end in
            await self.leave(job, next.key, after: end)
        }
    }

    private func leave(_ job: Queued, _ key: FileKey, after end: JobExecutor.Outcome) async {
        shares.end(job.whose)
        if case .crowded(let kind, let hasBegun) = end { return park(job, key, kind, hasBegun: hasBegun) }
        await goOn(job.id, key, after: end)
        // Not before the awaits above: while it waits, nothing else of this file may begin.
        running[key] = nil
        takeTurn(key)
        pump()
    }
}
