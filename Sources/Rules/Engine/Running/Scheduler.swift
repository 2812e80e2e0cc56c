import DequeModule
import Platform

/// Decides which job runs when. One table holds every job that is to run, all limits, and the fairness among jobs
/// (`docs/design/scheduling.md`).
///
/// A value without a clock, threads or files: each event changes the table and returns the effects, which ``Runner``
/// carries out. The ledger is the truth about a job, and the table only says what happens to it next. So if a job is
/// submitted while it is in progress, the ledger is read again afterwards.
struct Scheduler {
    typealias Instant = ContinuousClock.Instant

    /// A file under its present name. Only one job runs per file at a time.
    struct File: Hashable {
        let place: String
        let path: BytePath
    }

    /// The in-memory part of a job that is to run.
    struct Job {
        let id: String
        /// The bulkhead whose threads it begins on; nil if its rule is not known before it has been read.
        let whose: Bulkhead?
        let file: File
        /// Whether jobs for newly arrived files go first (``JobRecord/isBacklog``).
        var isBacklog = false
        /// Whether it moved earlier jobs of its file out of the backlog; those may be in the ledger only.
        var isBehindBacklog = false
        /// The job as it was planned, if kept until it begins.
        var planned: LoadedJob?
    }

    /// The state of a job in the table.
    enum State: Equatable {
        /// Waits for earlier jobs of its file, and for room.
        case queued
        /// Next for its file, but its rule has reached its share. Holds its file.
        case aside
        /// The limit for the next step's kind of work is reached. Holds its file.
        case parked(WorkKind)
        /// Running, until the consequences of its end are known. Holds its file.
        case running
        /// Work begun before the start is being recovered. Holds its file, together with others.
        case recovering
        /// Its file has been on its way into quarantine since before the start. Holds its file, together with others.
        case isolating
        /// The ledger is being asked what to do with it.
        case reading
        case waiting(Wait)
        /// Until one of these has ended.
        case blocked(by: Set<String>)
    }

    /// What a job waits for; each has a deadline.
    enum Wait {
        /// Its next retry.
        case retry
        /// A person's answer.
        case answer
        /// The next retry of its undo.
        case undo
        /// The next try to read it from the ledger, after a failed one.
        case look
    }

    /// How a job ended.
    enum End {
        /// Nothing is left to do; its follow-up jobs are in the ledger.
        case over(then: [Job])
        case waits(Wait, seconds: Double)
        /// Soon, if the set is empty.
        case heldUp(by: Set<String>)
        case crowded(WorkKind, hasBegun: Bool)
        /// Unknown: the ledger must be asked. The job stays first of its file.
        case unclear
    }

    /// The ledger's answer about a job.
    enum Found {
        case open(Job)
        case waits(Wait, seconds: Double)
        case nothing
        /// The job could not be read.
        case failed
    }

    /// What the caller has to do after an event.
    enum Effect {
        /// Run the job, then call ``Scheduler/ended(_:_:_:)``.
        /// - Parameter hasPermit: whether it gets the permit passed to ``Scheduler/permitGiven(_:)``.
        case begin(Job, hasPermit: Bool)
        /// Wait for a permit for a kind of work, then call ``Scheduler/permitGiven(_:)``.
        case awaitPermit(WorkKind)
        /// Read that many ready jobs, then call ``Scheduler/fetched(_:limit:)`` or ``Scheduler/fetchFailed(_:)``.
        case fetch(limit: Int)
        /// Read a job, then call ``Scheduler/found(_:_:_:)``.
        case read(String)
        /// Check whether the job's question has expired, then call ``Scheduler/found(_:_:_:)``.
        case expire(String)
        case finishUndo(String)
        /// Check whether all of these are still open; if not, call ``Scheduler/unblock(_:)``.
        case check(String, Set<String>)
        /// Call ``Scheduler/tick(_:)`` at that time. Replaces any later wakeup.
        case wake(Instant)
        /// Nothing is running or due.
        case idle
    }

    /// A row of the table.
    struct Entry {
        var state: State
        /// nil if it is read before it runs.
        var job: Job?
        var holdsFile = false
        /// Whether it was submitted again since the ledger was last read for it, or since it began.
        var isAskedAgain = false
    }

    /// The phase of the start; nil before and after.
    enum Phase { case recovering, loading }

    /// The jobs of one file.
    struct Line {
        var waiting: Deque<String> = []
        /// Number of jobs that hold the file.
        var holders = 0
    }

    struct Limits {
        /// Files worked on concurrently.
        var files = 512
        /// How many of them may belong to one rule in one place.
        var share = 128
        /// Ready jobs kept in memory; the rest stay in the ledger.
        var window = 1_024
        /// Jobs that may wait for their kind of work or for their rule; the rest stay in the ledger.
        var parked = 8_192
        /// No more jobs are fetched while this many wait for their rule; otherwise a few endings would reload them
        /// all.
        var aside = 4_096
        /// While this many jobs are queued, later ones are not kept as planned, but read again when they begin.
        var planned = 16
    }

    /// Seconds until the retry of a job that is held up by something other than a job.
    static let pause = 2.0
    /// Seconds until the next try after a failed read of the ledger.
    static let ledgerPause = 60.0
    /// Longest interval, in seconds, between checks whether a question has expired, as the wall clock may be set.
    static let longestAnswer = 3_600.0

    let limits: Limits
    var isPaused = false
    /// Whether rules are loaded.
    var hasRules = true
    var phase: Phase?
    var isDraining = false

    /// The single source of truth about each job; ``set(_:_:)`` and its callees derive the fields below from it.
    var table: [String: Entry] = [:]
    private var tally = Tally()
    /// `tally` without the backlog.
    private var tallyFirst = Tally()
    var files: [File: Line] = [:]
    /// Files whose turn it may be.
    var turn = RankedQueue<File>(ranks: 2)
    /// Running jobs per rule. Jobs whose rule is not known before they are read count as one rule.
    var atWork: [Bulkhead?: Int] = [:]
    var aside: [Bulkhead?: RankedQueue<String>] = [:]
    var parked: [WorkKind: RankedQueue<String>] = [:]
    /// Kinds of work for which a permit has been requested.
    var awaited: Set<WorkKind> = []
    /// The jobs blocked by each job.
    var held: [String: Set<String>] = [:]
    var wakeups = Wakeups<String>()
    /// When the ledger is asked for ready jobs again after a failure; nil if it can be asked now.
    var nextLook: Instant?

    /// Ready jobs that are in the ledger only, and how many have ever been left there.
    var (left, everLeft) = (0, 0)
    /// The same without the backlog.
    var (leftFirst, everLeftFirst) = (0, 0)
    /// The value of `everLeft` and `everLeftFirst` when the current fetch began; nil if there is none.
    var fetchedSince: (all: Int, first: Int)?
    var effects: [Effect] = []

    init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    // MARK: The table

    /// Number of jobs in each state.
    struct Tally {
        var queued = 0, aside = 0, parked = 0, running = 0, recovering = 0, reading = 0
        var retrying = 0, answering = 0, undoing = 0, blocked = 0

        mutating func add(_ state: State, _ count: Int) {
            switch state {
            case .queued: queued += count
            case .aside: aside += count
            case .parked: parked += count
            case .running: running += count
            case .recovering, .isolating: recovering += count
            case .reading: reading += count
            case .waiting(.retry), .waiting(.look): retrying += count
            case .waiting(.answer): answering += count
            case .waiting(.undo): undoing += count
            case .blocked: blocked += count
            }
        }
    }

    var count: Tally { tally }
    var countFirst: Tally { tallyFirst }
    /// Jobs running or being recovered.
    var atWorkCount: Int { tally.running + tally.recovering }

    /// The only way to change a state in the table: updates the counts, and removes the job from its old queue.
    ///
    /// - Parameter state: nil if nothing is left to do with the job.
    mutating func set(_ id: String, _ state: State?, _ job: Job? = nil) {
        var entry = table[id] ?? Entry(state: .queued)
        if table[id] != nil {
            count(entry, -1)
            switch entry.state {
            case .waiting: wakeups.remove(id)
            case .blocked(let others):
                for other in others {
                    held[other]?.remove(id)
                    if held[other]?.isEmpty == true { held[other] = nil }
                }
            case .queued, .aside, .parked, .running, .recovering, .isolating, .reading: break
            }
        }
        guard let state else {
            table[id] = nil
            return
        }
        if let job { entry.job = job }
        entry.state = state
        count(entry, 1)
        if case .blocked(let others) = state { for other in others { held[other, default: []].insert(id) } }
        table[id] = entry
    }

    private mutating func count(_ entry: Entry, _ number: Int) {
        tally.add(entry.state, number)
        if entry.job?.isBacklog == false { tallyFirst.add(entry.state, number) }
    }

    /// Whether a job is in the table, rather than left in the ledger.
    func knows(_ id: String) -> Bool { table[id] != nil }

    mutating func enqueue(_ job: Job, isFirst: Bool = false) {
        var job = job
        var line = files[job.file] ?? Line()
        // A job ahead of one that is not of the backlog leaves the backlog too.
        let rank = line.waiting.first.flatMap { table[$0]?.job?.rank }
        if isFirst, rank == 0 { job.isBacklog = false }
        if !job.isBacklog {
            for id in line.waiting {
                guard var other = table[id]?.job, other.isBacklog else { continue }
                other.isBacklog = false
                set(id, .queued, other)
            }
        }
        if tally.queued >= limits.planned { job.planned = nil }
        set(job.id, .queued, job)
        table[job.id]?.isAskedAgain = false
        if isFirst { line.waiting.prepend(job.id) } else { line.waiting.append(job.id) }
        files[job.file] = line
        guard line.holders == 0 else { return }
        if rank.map({ job.rank < $0 }) ?? true { turn.append(job.file, rank: job.rank) }
    }

    mutating func hold(_ id: String, _ file: File) {
        table[id]?.holdsFile = true
        files[file, default: Line()].holders += 1
    }

    /// Releases its file for the next job.
    mutating func release(_ id: String) {
        guard let entry = table[id], entry.holdsFile, let file = entry.job?.file, var line = files[file] else { return }
        table[id]?.holdsFile = false
        line.holders -= 1
        files[file] = line.holders == 0 && line.waiting.isEmpty ? nil : line
        guard line.holders == 0, let next = line.waiting.first else { return }
        turn.append(file, rank: table[next]?.job?.rank ?? 0)
    }

    /// - Parameter isBacklog: whether the job is known to belong to the backlog.
    mutating func leaveOneInLedger(isBacklog: Bool = false) {
        left += 1
        everLeft += 1
        guard !isBacklog else { return }
        leftFirst += 1
        everLeftFirst += 1
    }
}

extension Scheduler.Job {
    /// Its rank in queues.
    var rank: Int { isBacklog ? 1 : 0 }
}
