import DequeModule
import Platform

/// Which job runs when: what is known of each job that is to be run, in one table, and all limits and all fairness among
/// them (`docs/design/scheduling.md`).
///
/// A value without a clock, a thread or a file: each event changes the table and returns what has to be done about it, which
/// ``Runner`` does. The ledger says what a job is; the table only says what is about to be done with it, so that whenever
/// somebody asks for a job at which something is at work, the ledger is read once more when that has ended.
struct Scheduler {
    typealias Instant = ContinuousClock.Instant

    /// A file, under the name that it has now: of one file one job runs at a time.
    struct File: Hashable {
        let place: String
        let path: BytePath
    }

    /// What is in memory of a job that is to be run.
    struct Job {
        let id: String
        /// On whose threads it begins; nil where its rule is not known before it has been read.
        let whose: Bulkhead?
        let file: File
        /// Whether jobs of what arrives go first (``JobRecord/isBacklog``).
        var isBacklog = false
        /// Whether it has taken earlier jobs of its file out of the backlog, which may be in the ledger alone.
        var isBehindBacklog = false
        /// What it was when it was planned, where that is kept until it begins.
        var planned: LoadedJob?
    }

    /// What is about to be done with a job.
    enum State: Equatable {
        /// Waits until the others of its file before it are done, and until there is room.
        case queued
        /// Its file's turn has come, and its rule has as many at work as may be. It holds its file.
        case aside
        /// Of the kind of work that its next step needs there is as much as may be. It holds its file.
        case parked(WorkKind)
        /// At work, and until it is known what follows from its end. It holds its file.
        case running
        /// What an earlier life has begun is being recovered. It holds its file, together with others.
        case recovering
        /// Its file has been on its way into quarantine since an earlier life. It holds its file, as above.
        case isolating
        /// The ledger is being asked what is to be done with it.
        case reading
        case waiting(Wait)
        /// Until one of these has ended.
        case blocked(by: Set<String>)
    }

    /// What a job waits for; each has its time.
    enum Wait {
        /// Its next try.
        case retry
        /// A person's word.
        case answer
        /// The next try of taking it back.
        case undo
        /// The next time that the ledger is asked for it, which could not be read.
        case look
    }

    /// What has become of a job.
    enum End {
        /// Nothing is left to be done with it; what follows from it is in the ledger.
        case over(then: [Job])
        case waits(Wait, seconds: Double)
        /// Where none is named: soon.
        case heldUp(by: Set<String>)
        case crowded(WorkKind, hasBegun: Bool)
        /// The ledger has to be asked. It stays the first of its file.
        case unclear
    }

    /// What the ledger says of a job.
    enum Found {
        case open(Job)
        case waits(Wait, seconds: Double)
        case nothing
        /// It could not be read.
        case failed
    }

    /// What an event calls for.
    enum Effect {
        /// To be carried out; ``Scheduler/ended(_:_:_:)`` is to follow.
        /// - Parameter hasPermit: whether with the permit that was given to it (``Scheduler/permitGiven(_:)``).
        case begin(Job, hasPermit: Bool)
        /// A permit for a kind of work is wanted: ``Scheduler/permitGiven(_:)``.
        case awaitPermit(WorkKind)
        /// The first so many ready jobs are to be read: ``Scheduler/fetched(_:limit:)`` or ``Scheduler/fetchFailed(_:)``.
        case fetch(limit: Int)
        /// A job is to be read: ``Scheduler/found(_:_:_:)``.
        case read(String)
        /// The time of a job's question may be over: ``Scheduler/found(_:_:_:)``.
        case expire(String)
        case finishUndo(String)
        /// Whether all of these are open yet is to be read: if not, ``Scheduler/unblock(_:)``.
        case check(String, Set<String>)
        /// ``Scheduler/tick(_:)`` is to be called then, instead of at any later time for which that was asked.
        case wake(Instant)
        /// Nothing runs, and nothing is due.
        case idle
    }

    /// What is known of a job.
    struct Entry {
        var state: State
        /// Nil where it is read before it is run.
        var job: Job?
        var holdsFile = false
        /// Somebody has asked for it since the ledger was read for it last, or since what is at work with it has begun.
        var isAskedAgain = false
    }

    /// How far the start has come; nil before it and after it.
    enum Phase { case recovering, loading }

    /// Jobs of one file.
    struct Line {
        var waiting: Deque<String> = []
        /// How many hold it.
        var holders = 0
    }

    struct Limits {
        /// Files that are worked on at the same time.
        var files = 512
        /// How many of them may be one rule's in one place.
        var share = 128
        /// Jobs that are ready and in memory; more stay in the ledger alone.
        var window = 1_024
        /// So many may wait for their kind of work or for others of their rule; more stay in the ledger.
        var parked = 8_192
        /// While so many wait for others of their rule, no more are read: that a few of these end is no reason to read all
        /// anew.
        var aside = 4_096
        /// While so many are queued, what comes behind them is read again when it begins.
        var planned = 16
    }

    /// Seconds until a job is tried again that something other than a job holds up.
    static let pause = 2.0
    /// Seconds until the ledger is asked again that could not be read.
    static let patience = 60.0
    /// Seconds after which it is looked whether a question's time is over, at the latest: the calendar may be set.
    static let longestAnswer = 3_600.0

    let limits: Limits
    var isPaused = false
    /// Whether there are rules by which jobs can be carried out.
    var hasRules = true
    var phase: Phase?
    var isDraining = false

    /// The one truth about each job; what follows is derived from it, in ``set(_:_:)`` and in what that calls.
    var table: [String: Entry] = [:]
    private var tally = Tally()
    /// The same without the backlog.
    private var tallyFirst = Tally()
    var files: [File: Line] = [:]
    /// Files whose turn it may be.
    var turn = RankedQueue<File>(ranks: 2)
    /// At work for each rule. Those of which the rule is not known before they have been read count as if they were of one.
    var atWork: [Bulkhead?: Int] = [:]
    var aside: [Bulkhead?: RankedQueue<String>] = [:]
    var parked: [WorkKind: RankedQueue<String>] = [:]
    /// Kinds of work for which a place has been asked.
    var awaited: Set<WorkKind> = []
    /// Jobs that wait for others, by these.
    var held: [String: Set<String>] = [:]
    var wakeups = Wakeups<String>()
    /// When the ledger is asked for ready jobs again; nil where nothing keeps from it.
    var nextLook: Instant?

    /// Jobs that are ready in the ledger and not in the table, and how many have ever been left there.
    var (left, everLeft) = (0, 0)
    /// The same without the backlog.
    var (leftFirst, everLeftFirst) = (0, 0)
    /// How many had ever been left when the ledger was asked for them; nil while it is not.
    var fetchedSince: (all: Int, first: Int)?
    var effects: [Effect] = []

    init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    // MARK: The table

    /// Jobs in each state.
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
    /// Jobs at work, those that are recovered among them.
    var atWorkCount: Int { tally.running + tally.recovering }

    /// The only way in which the table changes its states: takes a job out of what its state had it in, and counts it.
    ///
    /// - Parameter state: nil where nothing is to be done with it any more.
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

    /// - Parameter id: of a job.
    /// - Returns: whether it is known, and not left in the ledger.
    func knows(_ id: String) -> Bool { table[id] != nil }

    mutating func enqueue(_ job: Job, isFirst: Bool = false) {
        var job = job
        var line = files[job.file] ?? Line()
        // What comes before a job that is not of the backlog is not of the backlog either.
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

    /// Lets others of its file go on.
    mutating func release(_ id: String) {
        guard let entry = table[id], entry.holdsFile, let file = entry.job?.file, var line = files[file] else { return }
        table[id]?.holdsFile = false
        line.holders -= 1
        files[file] = line.holders == 0 && line.waiting.isEmpty ? nil : line
        guard line.holders == 0, let next = line.waiting.first else { return }
        turn.append(file, rank: table[next]?.job?.rank ?? 0)
    }

    /// - Parameter isBacklog: whether it is known that it is of the backlog.
    mutating func leaveOneInLedger(isBacklog: Bool = false) {
        left += 1
        everLeft += 1
        guard !isBacklog else { return }
        leftFirst += 1
        everLeftFirst += 1
    }
}

extension Scheduler.Job {
    /// Among others that wait for the same.
    var rank: Int { isBacklog ? 1 : 0 }
}
