import Platform

/// What happens to jobs. Each event may come at any time, and in any state of the job that it is about.
extension Scheduler {
    /// Somebody asks for jobs: new ones, or some that are ready or wait, and are to be looked at now.
    ///
    /// - Parameter areReady: whether all of them stand in the ledger as ready; then they may be left there for now.
    mutating func submit(_ jobs: [Job], areReady: Bool) -> [Effect] {
        for job in jobs { submit(job, areReady) }
        return settled()
    }

    private mutating func submit(_ job: Job, _ isReady: Bool) {
        // Of those that were left some are not of the backlog any more, whatever becomes of this one.
        if job.isBehindBacklog, left > 0 {
            leftFirst += 1
            everLeftFirst += 1
        }
        switch table[job.id]?.state {
        case nil:
            if isReady, mustBeLeft(job) { leaveOneInLedger(isBacklog: job.isBacklog) } else { enqueue(job) }
        // It is read before it runs.
        case .queued, .aside, .parked: break
        // What is at work may have read it before.
        case .running, .recovering, .isolating, .reading: table[job.id]?.isAskedAgain = true
        // Only the ledger knows whether it is still being taken back.
        case .waiting(.undo), .waiting(.look): read(job.id)
        case .waiting, .blocked: enqueue(job)
        }
    }

    /// Whether a ready job has to wait in the ledger. Where others were left, it is after them: jobs of one file keep their
    /// order. The backlog keeps nothing else waiting.
    private func mustBeLeft(_ job: Job) -> Bool {
        let (left, count) = job.isBacklog || job.isBehindBacklog ? (left, count) : (leftFirst, countFirst)
        return left > 0 || count.queued >= limits.window || count.aside + count.parked >= limits.parked
    }

    /// A job that was begun, or recovered, is at work no more.
    mutating func ended(_ id: String, _ end: End, _ now: Instant) -> [Effect] {
        guard let entry = table[id] else { return settled() }
        switch entry.state {
        case .running: leaveShare(entry.job?.whose)
        case .recovering, .isolating: break
        default: return settled()
        }
        // The ledger is yet to be read for all jobs.
        let isStarting = entry.state != .running && phase == .recovering
        switch end {
        case .crowded(let kind, let hasBegun) where entry.state == .running:
            var job = entry.job
            job?.planned = nil
            set(id, .parked(kind), job)
            parked[kind, default: RankedQueue(ranks: 3)].append(id, rank: hasBegun ? 0 : 1 + (job?.rank ?? 0))
            return settled()
        case _ where isStarting: remove(id)
        case .crowded, .unclear: read(id)
        case _ where entry.isAskedAgain:
            release(id)
            if case .over(let jobs) = end { for job in jobs { submit(job, true) } }
            read(id)
        case .over(let jobs):
            remove(id)
            for job in jobs { submit(job, true) }
        case .waits(let what, let seconds):
            release(id)
            wait(id, what, seconds, now)
        case .heldUp(let others) where others.isEmpty:
            release(id)
            wait(id, .retry, Self.pause, now)
        case .heldUp(let others):
            release(id)
            set(id, .blocked(by: others))
            // One may have ended before this one was noted.
            effects.append(.check(id, others))
        }
        for id in (held[id] ?? []).sorted() { read(id) }
        return settled()
    }

    /// One of those that a job waits for has ended.
    mutating func unblock(_ id: String) -> [Effect] {
        if case .blocked = table[id]?.state { read(id) }
        return settled()
    }

    /// An undo has to be tried again.
    mutating func undoWaits(_ id: String, seconds: Double, _ now: Instant) -> [Effect] {
        switch table[id]?.state {
        case .running, .recovering, .isolating, .reading, .queued, .aside, .parked: table[id]?.isAskedAgain = true
        case nil, .waiting, .blocked: wait(id, .undo, seconds, now)
        }
        return settled()
    }

    /// What the ledger says of a job for which it was asked.
    mutating func found(_ id: String, _ found: Found, _ now: Instant) -> [Effect] {
        guard let entry = table[id], entry.state == .reading else { return settled() }
        if entry.isAskedAgain {
            read(id)
            return settled()
        }
        release(id)
        switch found {
        case .open(let job): enqueue(job, isFirst: entry.holdsFile)
        case .waits(let what, let seconds): wait(id, what, seconds, now)
        case .nothing: remove(id)
        case .failed: wait(id, .look, Self.patience, now)
        }
        return settled()
    }

    /// - Parameters:
    ///   - jobs: those that are ready in the ledger, in the order in which they were planned, the backlog last.
    ///   - limit: of how many that is the beginning.
    mutating func fetched(_ jobs: [Job], limit: Int) -> [Effect] {
        guard let before = fetchedSince else { return settled() }
        fetchedSince = nil
        for job in jobs where !knows(job.id) {
            // Not past the window, but never without any progress.
            if (job.isBacklog ? count : countFirst).queued >= limits.window { break }
            enqueue(job)
        }
        // What was left while the ledger was read may not have been in it yet.
        let since = everLeft - before.all
        let rest = jobs.filter { !knows($0.id) }
        left = since + (jobs.count < limit ? rest.count : max(rest.count, left - since - limits.window, 1))
        // All that were read are before the backlog: there may be more.
        let areAllFirst = jobs.count >= limit && jobs.last?.isBacklog == false
        leftFirst = everLeftFirst - before.first + max(rest.count { !$0.isBacklog }, areAllFirst ? 1 : 0)
        return settled()
    }

    mutating func fetchFailed(_ now: Instant) -> [Effect] {
        fetchedSince = nil
        nextLook = now.advanced(by: .seconds(Self.patience))
        return settled()
    }

    /// The ledger may hold ready jobs that nobody has submitted.
    mutating func look() -> [Effect] {
        leaveOneInLedger()
        fetch()
        return settled()
    }

    /// There is a permit for a kind of work. If no job begins, it is not taken.
    mutating func permitGiven(_ kind: WorkKind) -> [Effect] {
        awaited.remove(kind)
        guard canBegin, let id = parked[kind]?.popFirst(), let job = table[id]?.job else { return settled() }
        if parked[kind]?.isEmpty == true { parked[kind] = nil }
        begin(job, hasPermit: true)
        return settled()
    }

    /// The time has come for which the alarm was set.
    mutating func tick(_ now: Instant) -> [Effect] {
        for id in wakeups.takeDue(now) {
            switch table[id]?.state {
            case .waiting(.answer):
                set(id, .reading)
                effects.append(.expire(id))
            case .waiting(.undo):
                remove(id)
                effects.append(.finishUndo(id))
            default: read(id)
            }
        }
        if let look = nextLook, look <= now { nextLook = nil }
        return settled()
    }

    // MARK: The start

    /// What an earlier life has begun is recovered, and nothing else of its file begins meanwhile.
    ///
    /// - Parameter isIsolated: whether its file is on its way into quarantine: ``isolated(_:_:)`` tells of its end.
    mutating func recover(_ job: Job, isIsolated: Bool = false) -> [Effect] {
        if !knows(job.id) {
            set(job.id, isIsolated ? .isolating : .recovering, job)
            hold(job.id, job.file)
        }
        return settled()
    }

    /// The file of a job is in quarantine.
    mutating func isolated(_ id: String, _ now: Instant) -> [Effect] {
        if table[id]?.state == .isolating { effects += ended(id, .unclear, now) }
        // The job that follows the refusal is known to the ledger alone.
        return phase == nil ? look() : settled()
    }

    /// A start begins: nothing is begun before it has ended.
    mutating func start() -> [Effect] {
        phase = .recovering
        return settled()
    }

    /// What was begun has been recovered, as far as that was waited for.
    mutating func recovered() -> [Effect] {
        phase = .loading
        return settled()
    }

    /// A job from before the start waits.
    mutating func waits(_ id: String, _ what: Wait, seconds: Double, _ now: Instant) -> [Effect] {
        if !knows(id) { wait(id, what, seconds, now) }
        return settled()
    }

    /// All that waits is known, and what is ready may begin.
    mutating func started() -> [Effect] {
        phase = nil
        return look()
    }

    mutating func setPaused(_ paused: Bool) -> [Effect] {
        isPaused = paused
        return settled()
    }

    /// Nothing more begins, ever.
    mutating func drain() -> [Effect] {
        isDraining = true
        return settled()
    }

    /// - Returns: the undos that wait for their next try, which whoever asks makes now.
    mutating func takeWaitingUndos() -> Set<String> {
        if count.undoing == 0 { return [] }
        let ids = Set(table.filter { $0.value.state == .waiting(.undo) }.keys)
        for id in ids { remove(id) }
        return ids
    }

    // MARK: Parts of events

    private mutating func remove(_ id: String) {
        release(id)
        set(id, nil)
    }

    private mutating func read(_ id: String) {
        set(id, .reading)
        table[id]?.isAskedAgain = false
        effects.append(.read(id))
    }

    private mutating func wait(_ id: String, _ what: Wait, _ seconds: Double, _ now: Instant) {
        set(id, .waiting(what))
        table[id]?.isAskedAgain = false
        table[id]?.job = nil
        let seconds = what == .answer ? min(seconds, Self.longestAnswer) : seconds
        wakeups.set(id, at: now.advanced(by: .seconds(max(0, seconds))))
    }
}
