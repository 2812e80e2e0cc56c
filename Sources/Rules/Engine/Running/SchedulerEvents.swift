import Platform

/// Events about jobs. Each may come at any time, and in any state of its job.
extension Scheduler {
    /// Adds jobs: new ones, or ready or waiting ones that should be looked at now.
    ///
    /// - Parameter areReady: whether all of them are ready in the ledger; if so, they may be left there for now.
    mutating func submit(_ jobs: [Job], areReady: Bool) -> [Effect] {
        for job in jobs { submit(job, areReady) }
        return settled()
    }

    private mutating func submit(_ job: Job, _ isReady: Bool) {
        // Whatever happens to this job, some of those left in the ledger do not belong to the backlog any more.
        if job.isBehindBacklog, left > 0 {
            leftFirst += 1
            everLeftFirst += 1
        }
        switch table[job.id]?.state {
        case nil:
            if isReady, mustBeLeft(job) { leaveOneInLedger(isBacklog: job.isBacklog) } else { enqueue(job) }
        // It is read before it runs.
        case .queued, .aside, .parked: break
        // The work in progress may have read it before the change.
        case .running, .recovering, .isolating, .reading: table[job.id]?.isAskedAgain = true
        // Only the ledger knows whether the undo is still pending.
        case .waiting(.undo), .waiting(.look): read(job.id)
        case .waiting, .blocked: enqueue(job)
        }
    }

    /// Whether a ready job has to wait in the ledger. If others were left there it goes behind them, so that jobs of
    /// one file keep their order. The backlog delays no other jobs.
    private func mustBeLeft(_ job: Job) -> Bool {
        let (left, count) = job.isBacklog || job.isBehindBacklog ? (left, count) : (leftFirst, countFirst)
        return left > 0 || count.queued >= limits.window || count.aside + count.parked >= limits.parked
    }

    /// A running job, or one being recovered, has ended.
    mutating func ended(_ id: String, _ end: End, _ now: Instant) -> [Effect] {
        guard let entry = table[id] else { return settled() }
        switch entry.state {
        case .running: leaveShare(entry.job?.whose)
        case .recovering, .isolating: break
        default: return settled()
        }
        // The ledger has yet to be read for all jobs.
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
            // One of them may have ended before this was recorded.
            effects.append(.check(id, others))
        }
        for id in (held[id] ?? []).sorted() { read(id) }
        return settled()
    }

    /// What these jobs wait for may be over.
    mutating func wake(_ ids: some Sequence<String>) -> [Effect] {
        for id in ids {
            switch table[id]?.state {
            // It may have looked before.
            case .running, .recovering, .isolating, .reading: table[id]?.isAskedAgain = true
            case .waiting(.retry): read(id)
            case nil, .queued, .aside, .parked, .waiting, .blocked: break
            }
        }
        return settled()
    }

    /// A job that this one waits for has ended.
    mutating func unblock(_ id: String) -> [Effect] {
        if case .blocked = table[id]?.state { read(id) }
        return settled()
    }

    /// An undo needs a retry.
    mutating func undoWaits(_ id: String, seconds: Double, _ now: Instant) -> [Effect] {
        switch table[id]?.state {
        case .running, .recovering, .isolating, .reading, .queued, .aside, .parked: table[id]?.isAskedAgain = true
        case nil, .waiting, .blocked: wait(id, .undo, seconds, now)
        }
        return settled()
    }

    /// The ledger's answer about a job.
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
        case .failed: wait(id, .look, Self.ledgerPause, now)
        }
        return settled()
    }

    /// - Parameters:
    ///   - jobs: the ready jobs in the ledger, in planning order, backlog last.
    ///   - limit: the maximum number of jobs that were read.
    mutating func fetched(_ jobs: [Job], limit: Int) -> [Effect] {
        guard let before = fetchedSince else { return settled() }
        fetchedSince = nil
        for job in jobs where !knows(job.id) {
            // Respects the window, but always makes progress.
            if (job.isBacklog ? count : countFirst).queued >= limits.window { break }
            enqueue(job)
        }
        // Jobs left while the ledger was being read may be missing from the result.
        let since = everLeft - before.all
        let rest = jobs.filter { !knows($0.id) }
        left = since + (jobs.count < limit ? rest.count : max(rest.count, left - since - limits.window, 1))
        // If no job that was read belongs to the backlog, there may be more that do not.
        let areAllFirst = jobs.count >= limit && jobs.last?.isBacklog == false
        leftFirst = everLeftFirst - before.first + max(rest.count { !$0.isBacklog }, areAllFirst ? 1 : 0)
        return settled()
    }

    mutating func fetchFailed(_ now: Instant) -> [Effect] {
        fetchedSince = nil
        nextLook = now.advanced(by: .seconds(Self.ledgerPause))
        return settled()
    }

    /// The ledger may hold ready jobs that were never submitted.
    mutating func look() -> [Effect] {
        leaveOneInLedger()
        fetch()
        return settled()
    }

    /// A permit for a kind of work is available. If no job begins, it is not taken.
    mutating func permitGiven(_ kind: WorkKind) -> [Effect] {
        awaited.remove(kind)
        guard canBegin, let id = parked[kind]?.popFirst(), let job = table[id]?.job else { return settled() }
        if parked[kind]?.isEmpty == true { parked[kind] = nil }
        begin(job, hasPermit: true)
        return settled()
    }

    /// The alarm went off.
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

    /// A job begun before the start is being recovered; no other job of its file begins in the meantime.
    ///
    /// - Parameter isIsolated: whether its file is on its way into quarantine, which ends with ``isolated(_:_:)``.
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
        // Only the ledger knows the job that follows the refusal.
        return phase == nil ? look() : settled()
    }

    /// The start begins; no job begins until it has ended.
    mutating func start() -> [Effect] {
        phase = .recovering
        return settled()
    }

    /// Recovery has ended, except for jobs that were not waited for.
    mutating func recovered() -> [Effect] {
        phase = .loading
        return settled()
    }

    /// A job from before the start is waiting.
    mutating func waits(_ id: String, _ what: Wait, seconds: Double, _ now: Instant) -> [Effect] {
        if !knows(id) { wait(id, what, seconds, now) }
        return settled()
    }

    /// All waiting jobs are known; ready jobs may begin.
    mutating func started() -> [Effect] {
        phase = nil
        return look()
    }

    mutating func setPaused(_ paused: Bool) -> [Effect] {
        isPaused = paused
        return settled()
    }

    /// No further job begins, ever.
    mutating func drain() -> [Effect] {
        isDraining = true
        return settled()
    }

    /// - Returns: the undos waiting for a retry; the caller retries them now.
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
