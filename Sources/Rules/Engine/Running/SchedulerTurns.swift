import DequeModule
import Platform

/// Whose turn it is. All limits are enforced here, except those per kind of work, which apply to steps:
/// ``StepLimit``.
extension Scheduler {
    /// Whether jobs may begin.
    var canBegin: Bool { !isPaused && !isDraining && phase == nil && hasRules }

    /// Whether nothing is running or about to begin.
    var isIdle: Bool {
        guard count.running == 0, count.recovering == 0, count.reading == 0 else { return false }
        return count.queued == 0 && left == 0 && count.aside == 0 && count.parked == 0
            || isPaused || isDraining || !hasRules
    }

    /// Begins the jobs that may begin, and returns the effects since the last event.
    mutating func settled() -> [Effect] {
        if canBegin {
            giveTurns()
            while count.running < limits.files, let job = nextAside() { begin(job) }
            if nextLook == nil, hasRoom(for: left, beside: count) || hasRoom(for: leftFirst, beside: countFirst) {
                fetch()
            }
            for kind in parked.keys where awaited.insert(kind).inserted { effects.append(.awaitPermit(kind)) }
        }
        if !isDraining, let time = wakeups.timer(orFor: nextLook) { effects.append(.wake(time)) }
        if isIdle { effects.append(.idle) }
        defer { effects = [] }
        return effects
    }

    private mutating func giveTurns() {
        while count.running < limits.files, let file = turn.popFirst() {
            // Another job of the file may have begun since.
            guard var line = files[file], line.holders == 0, let id = line.waiting.popFirst(),
                let job = table[id]?.job
            else { continue }
            files[file] = line
            hold(id, file)
            if count.aside == 0, hasRoom(job.whose) {
                begin(job)
            } else {
                // Even if its rule has room: while others wait aside, one of them may be next.
                var job = job
                job.planned = nil
                set(id, .aside, job)
                aside[job.whose, default: RankedQueue(ranks: 2)].append(id, rank: job.rank)
            }
        }
    }

    /// The next job of the rule with the least running jobs, lowest rank first.
    private mutating func nextAside() -> Job? {
        if count.aside == 0 { return nil }
        var best: (whose: Bulkhead?, rank: Int, atWork: Int)?
        for (whose, queue) in aside where hasRoom(whose) {
            guard let rank = queue.firstRank else { continue }
            let own = atWork[whose, default: 0]
            if let other = best, (other.rank, other.atWork) <= (rank, own) { continue }
            best = (whose, rank, own)
        }
        guard let best, let id = aside[best.whose]?.popFirst() else { return nil }
        if aside[best.whose]?.isEmpty == true { aside[best.whose] = nil }
        return table[id]?.job
    }

    mutating func begin(_ job: Job, hasPermit: Bool = false) {
        var kept = job
        kept.planned = nil
        set(job.id, .running, kept)
        atWork[job.whose, default: 0] += 1
        effects.append(.begin(job, hasPermit: hasPermit))
    }

    mutating func leaveShare(_ whose: Bulkhead?) {
        guard let count = atWork[whose] else { return }
        atWork[whose] = count > 1 ? count - 1 : nil
    }

    /// Whether jobs left in the ledger may be fetched. The backlog has less room than other jobs.
    private func hasRoom(for left: Int, beside count: Tally) -> Bool {
        left > 0 && count.queued < limits.window / 2 + 1 && count.parked + count.aside < limits.parked
            && count.aside < limits.aside
    }

    private func hasRoom(_ whose: Bulkhead?) -> Bool { atWork[whose, default: 0] < max(1, limits.share) }

    mutating func fetch() {
        guard fetchedSince == nil, !isDraining else { return }
        fetchedSince = (everLeft, everLeftFirst)
        effects.append(.fetch(limit: table.count + max(1, limits.window)))
    }
}
