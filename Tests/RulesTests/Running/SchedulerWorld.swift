import Platform

@testable import Rules

/// A ledger, threads and people around a scheduler, acting in any order. Every effect the scheduler requests is delayed
/// and split in two: reading or writing, and reporting back. Anything can happen in between.
struct SchedulerWorld {
    enum State { case ready, waiting, asking, undoing, over }

    struct Row {
        let file: Int
        /// Whether others come first; see ``JobRecord/isBacklog``.
        var isBacklog = false
        var isBehindBacklog = false
        var state = State.ready
        /// Whether it has been begun, was requested by a person, or follows another: then its file's order does not
        /// apply.
        var isLate = false
    }

    enum Doing {
        case submit(Int)
        case read(Int), tell(Int, Scheduler.Found)
        case fetch(Int), tellFetched([Scheduler.Job], Int)
        case run(Int, hasPermit: Bool), end(Int, Scheduler.End)
        case place(WorkKind)
        case expire(Int), finishUndo(Int), undoWaits(Int), check(Int, Set<String>), unblock(Int)
    }

    static let limits = Scheduler.Limits(files: 3, share: 2, window: 2, parked: 2, aside: 1, planned: 1)
    static let ids = (0..<1_000).map { "\($0)" }

    var scheduler = Scheduler(limits)
    var rows: [Row] = []
    /// In planning order, as they were then.
    var planned: [Scheduler.Job] = []
    var doing: [Doing] = []
    var atWork: Set<Int> = []
    var now = ContinuousClock.now
    var places = 2
    private var dice: UInt64
    /// Whether everything succeeds from now on.
    var isCalm = false
    var complaints: [String] = []

    init(seed: UInt64) { dice = seed }

    /// A random number below this: faster than the library's, which is slow in a debug build.
    mutating func number(_ below: Int) -> Int {
        dice &+= 0x9E37_79B9_7F4A_7C15
        let mixed = (dice ^ (dice >> 30)) &* 0xBF58_476D_1CE4_E5B9
        return Int((mixed ^ (mixed >> 31)) >> 1) % below
    }

    mutating func chance(_ percent: Int) -> Bool { number(100) < percent }

    func job(_ number: Int) -> Scheduler.Job {
        let file = rows[number].file
        return Scheduler.Job(
            id: Self.ids[number], whose: file % 2 == 0 ? .place("even") : .place("odd"),
            file: Scheduler.File(place: "p", path: Self.paths[file]), isBacklog: rows[number].isBacklog,
            isBehindBacklog: rows[number].isBehindBacklog)
    }

    private static let paths = (0..<4).map { BytePath("\($0)") }
    private func row(_ id: String) -> Int { Int(id) ?? 0 }

    mutating func happened(_ effects: [Scheduler.Effect]) {
        for effect in effects {
            switch effect {
            case .begin(let job, let hasPermit): begin(row(job.id), hasPermit)
            case .awaitPermit(let kind): doing.append(.place(kind))
            case .fetch(let limit): doing.append(.fetch(limit))
            case .read(let id): doing.append(.read(row(id)))
            case .expire(let id): doing.append(.expire(row(id)))
            case .finishUndo(let id): doing.append(.finishUndo(row(id)))
            case .check(let id, let others): doing.append(.check(row(id), others))
            case .wake: break
            case .idle: if !atWork.isEmpty { complaints.append("idle while \(atWork) run") }
            }
        }
    }

    private mutating func begin(_ number: Int, _ hasPermit: Bool) {
        if hasPermit { places -= 1 }
        doing.append(.run(number, hasPermit: hasPermit))
        let file = rows[number].file
        if atWork.contains(where: { rows[$0].file == file }) { complaints.append("two of one file run") }
        if scheduler.isPaused { complaints.append("\(number) begins while paused") }
        if !rows[number].isLate, rows[number].state == .ready,
            let other = (0..<number).first(where: {
                rows[$0].file == file && rows[$0].state == .ready && !rows[$0].isLate
            })
        {
            complaints.append("\(number) begins before \(other)")
        }
        atWork.insert(number)
        if !hasPermit, atWork.count > Self.limits.files { complaints.append("\(atWork.count) files at work") }
        if !hasPermit, atWork.count(where: { rows[$0].file % 2 == file % 2 }) > Self.limits.share {
            complaints.append("one rule has more than its share")
        }
    }

    // MARK: People

    mutating func plan() {
        var row = Row(file: number(4), isBacklog: chance(40))
        // As in the ledger: it pulls along its file's jobs in the backlog.
        if !row.isBacklog {
            for other in rows.indices where rows[other].file == row.file && rows[other].state == .ready {
                if rows[other].isBacklog { row.isBehindBacklog = true }
                rows[other].isBacklog = false
            }
        }
        rows.append(row)
        planned.append(job(rows.count - 1))
    }

    /// Somebody retries, confirms, undoes, pauses, or time passes.
    mutating func disturb() {
        switch number(10) {
        case 0, 1, 2: if rows.count < 12 { plan() }
        case 3: happened(scheduler.setPaused(chance(50)))
        case 4: pass(Double(number(100)))
        default:
            guard !rows.isEmpty else { return }
            let number = number(rows.count)
            switch rows[number].state {
            case .ready, .waiting, .asking: ask(number)
            case .undoing: break
            case .over:
                if chance(60) { return ask(number) }
                rows[number].state = .undoing
                doing.append(.undoWaits(number))
            }
        }
    }

    private mutating func ask(_ number: Int) {
        (rows[number].state, rows[number].isLate) = (.ready, true)
        doing.append(.submit(number))
    }

    mutating func pass(_ seconds: Double) {
        now = now.advanced(by: .seconds(seconds))
        happened(scheduler.tick(now))
    }

    // MARK: Requests of the scheduler

    /// Carries out one of the pending effects.
    mutating func goOn() {
        if !planned.isEmpty, doing.isEmpty || chance(30) {
            return happened(scheduler.submit([planned.removeFirst()], areReady: true))
        }
        if doing.isEmpty { return }
        let place = number(doing.count)
        doing.swapAt(place, doing.count - 1)
        switch doing.removeLast() {
        case .submit(let number): happened(scheduler.submit([job(number)], areReady: false))
        case .read(let number): doing.append(.tell(number, found(number)))
        case .tell(let number, let found): happened(scheduler.found(Self.ids[number], found, now))
        case .fetch(let limit):
            if !isCalm, chance(10) { return happened(scheduler.fetchFailed(now)) }
            let ready = rows.indices.filter { rows[$0].state == .ready }
            let ordered = ready.filter { !rows[$0].isBacklog } + ready.filter { rows[$0].isBacklog }
            doing.append(.tellFetched(ordered.prefix(limit).map(job), limit))
        case .tellFetched(let jobs, let limit): happened(scheduler.fetched(jobs, limit: limit))
        case .run(let number, let hasPermit): doing.append(.end(number, run(number, hasPermit)))
        case .end(let number, let end):
            atWork.remove(number)
            happened(scheduler.ended(Self.ids[number], end, now))
        case .place(let kind):
            if places > 0 { happened(scheduler.permitGiven(kind)) } else { doing.append(.place(kind)) }
        case .expire(let number):
            if rows[number].state == .asking { rows[number].state = .over }
            doing.append(.tell(number, .nothing))
        case .finishUndo(let number):
            guard rows[number].state == .undoing else { return }
            if !isCalm, chance(30) { doing.append(.undoWaits(number)) } else { rows[number].state = .over }
        case .undoWaits(let number): happened(scheduler.undoWaits(Self.ids[number], seconds: 5, now))
        case .check(let number, let others):
            if others.contains(where: { !isOpen(row($0)) }) { doing.append(.unblock(number)) }
        case .unblock(let number): happened(scheduler.unblock(Self.ids[number]))
        }
    }

    private func isOpen(_ number: Int) -> Bool { rows[number].state == .ready || rows[number].state == .waiting }

    private mutating func found(_ number: Int) -> Scheduler.Found {
        if !isCalm, chance(10) { return .failed }
        switch rows[number].state {
        case .ready, .waiting: return .open(job(number))
        case .asking: return .waits(.answer, seconds: 10)
        case .undoing: return .waits(.undo, seconds: 5)
        case .over: return .nothing
        }
    }

    private mutating func run(_ number: Int, _ hasPermit: Bool) -> Scheduler.End {
        if hasPermit { places += 1 }
        guard isOpen(number) else { return .over(then: []) }
        if !hasPermit, chance(15) { return .crowded(.disk, hasBegun: chance(50)) }
        rows[number].isLate = true
        rows[number].state = .over
        switch isCalm ? 9 : self.number(10) {
        case 0, 1:
            rows[number].state = .waiting
            return .waits(.retry, seconds: 3)
        case 2:
            rows[number].state = .asking
            return .waits(.answer, seconds: 10)
        case 3 where number > 0:
            rows[number].state = .waiting
            return .heldUp(by: [Self.ids[self.number(number)]])
        case 4 where rows.count < 12:
            // Behind jobs that arrived in between.
            rows.append(Row(file: rows[number].file, isLate: true))
            return .over(then: [job(rows.count - 1)])
        default: return .over(then: [])
        }
    }

    // MARK: What must hold

    /// Every ready job is known, or the ledger is about to be read for it, or somebody is about to submit it.
    mutating func requireKnown() {
        if scheduler.left > 0 { return }
        for number in rows.indices where rows[number].state == .ready && !scheduler.knows(Self.ids[number]) {
            let isOnItsWay =
                planned.contains { $0.id == Self.ids[number] }
                || doing.contains {
                    switch $0 {
                    case .submit(number): true
                    case .end(_, .over(let jobs)): jobs.contains { $0.id == Self.ids[number] }
                    default: false
                    }
                }
            if !isOnItsWay { complaints.append("\(number) is ready, and nobody knows it") }
        }
    }

    /// Without further disturbance, everything finishes.
    mutating func calmDown() {
        isCalm = true
        happened(scheduler.setPaused(false))
        for _ in 0..<2_000 {
            if doing.isEmpty, planned.isEmpty {
                if scheduler.table.isEmpty, scheduler.left == 0 { break }
                pass(4_000)
            } else {
                goOn()
            }
        }
        let open = rows.indices.filter { rows[$0].state != .over && rows[$0].state != .asking }
        if !open.isEmpty { complaints.append("never run: \(open.map { "\($0) \(rows[$0].state)" })") }
        if !scheduler.isIdle { complaints.append("it is not idle") }
        if !scheduler.table.isEmpty || !scheduler.files.isEmpty || !scheduler.atWork.isEmpty || !scheduler.held.isEmpty
            || !scheduler.aside.isEmpty || !scheduler.parked.isEmpty
        {
            complaints.append("something is left: \(scheduler.table) \(scheduler.files) \(scheduler.atWork)")
        }
    }
}
