import Ledger
import Logging
import Platform

/// How a runner takes up what an earlier life has left, and what had to wait since. Nothing of that waits for a file system
/// that does not answer: what needs such a one goes on when it answers, and all else goes on meanwhile.
extension Runner {
    enum StartPhase {
        /// Finding out what became of what was begun.
        case recovering
        /// Reading from the ledger what is open.
        case loading
    }

    /// Files of which what was begun is recovered at the same time.
    private static let mostRecoveries = 16

    /// Resumes what the ledger holds open from an earlier life. What was begun is recovered before this returns, so that
    /// nothing of it can be taken for news; of what a file system that does not answer keeps from that, the paths stay noted as
    /// those at work.
    package func start() async throws {
        startPhase = .recovering
        isPaused = try await ledger.read { try $0.meta("paused") } != nil
        try await awaitIsolations()
        executor.tellOfWaitingUndos { [weak self] in await self?.undoAgain($0, after: $1) }
        try await executor.resumeUndoing()
        try await recoverBegun()
        startPhase = .loading
        for id in try await planner.superseded() { await planAnewUnlessHung(id) }
        for job in try await ledger.read({ try $0.waitingJobs() }) where !known.contains(job.id) {
            if let time = job.nextAttempt, time > .now() {
                // The ledger's times are the calendar's, which may have been set since.
                schedule(job.id, after: min(time.seconds - Timestamp.now().seconds, Backoff.longest))
            } else {
                enqueue(job.id, place: job.place, path: job.path)
            }
        }
        for (question, job) in try await ledger.read({ try $0.openQuestions() }) {
            if let until = question.until { awaitWord(job.id, until) }
        }
        startPhase = nil
        leaveInLedger(1)
        await fetch()
    }

    /// Takes up what could not be finished at the start, or planned since, because a place was away or the names of its
    /// hidden files were not known.
    package func takeUp() async throws {
        try await executor.resumeUndoing(takeWaitingUndos())
        let ids = unplanned
        unplanned = []
        for id in ids.sorted() { await planAnewUnlessHung(id) }
        pump()
    }

    /// What a superseded job was to do is done with the version that is there now.
    func planAnew(_ id: String) async {
        do {
            let place = try await ledger.read { try $0.job(id)?.whereabouts.place }
            let jobs = try await Bulkhead.$current.withValue(place.map(Bulkhead.place)) {
                try await planner.plan(after: id)
            }
            jobs.forEach { enqueue($0) }
        } catch let fault as Fault where fault.kind == .transient {
            unplanned.insert(id)
            log.warning(
                """
                cannot plan anew yet for a file that has changed: \(fault.message); it is tried again when a place is there \
                again, and at the next start
                """, metadata: LogFields.job(id))
        } catch {
            log.error(
                "cannot plan anew for a file that has changed: \(explain(error)); `steward reprocess` does",
                metadata: LogFields.job(id))
        }
    }

    private func planAnewUnlessHung(_ id: String) async {
        do {
            guard let job = try await ledger.read({ try $0.job(id) }) else { return await planAnew(id) }
            let done: Void? = try await outcome(unlessHung: .place(job.whereabouts.place)) {
                await self.planAnew(id)
                await self.pump()
            }
            guard done == nil else { return }
            log.warning(
                """
                planning anew for \(executor.names.called(job.place, job.path)), which has changed, waits: the file system of \
                the place \(job.whereabouts.place) does not answer (`steward status` says more)
                """, metadata: executor.fields(job))
        } catch {
            unplanned.insert(id)
            log.error(
                "cannot plan anew yet for a file that has changed: \(explain(error))", metadata: LogFields.job(id))
        }
    }

    // MARK: What was begun

    /// Side by side, but for what was begun with one file.
    private func recoverBegun() async throws {
        // What an earlier try of the start could not wait for is at work yet.
        let begun = try await ledger.read { try $0.begunJobs() }.filter { !known.contains($0.id) }
        var files: [FileKey] = []
        var jobs: [FileKey: [JobRecord]] = [:]
        for job in begun {
            let key = hold(job)
            if jobs[key] == nil { files.append(key) }
            jobs[key, default: []].append(job)
        }
        let patience = RecoveryPatience()
        await withTaskGroup(of: Void.self) { group in
            for (number, file) in files.enumerated() {
                if number >= Self.mostRecoveries { _ = await group.next() }
                let own = jobs[file] ?? []
                group.addTask { for job in own { await self.recover(job, patience) } }
            }
        }
    }

    private func recover(_ job: JobRecord, _ patience: RecoveryPatience) async {
        let (executor, whose) = (executor, JobExecutor.bulkhead(of: job))
        // From now on: others' calls may hang before it is this one's turn.
        let targets = await executor.targetsBegun(by: job)
        executor.inWork.begin(targets)
        let hasEnded = await patience.waits(for: whose) {
            let end = await BlockingThreads.run(for: whose) { await executor.recoverInterrupted(job) }
            executor.inWork.end(targets)
            await self.recovered(job, end)
        }
        if hasEnded { return }
        log.warning(
            """
            what was begun with \(executor.names.called(job.place, job.path)) is not waited for: a file system does not answer, \
            or it takes long (`steward status` says more); it goes on by itself
            """, metadata: executor.fields(job))
    }

    /// Keeps a job, and others of its file, from being begun.
    @discardableResult
    private func hold(_ job: JobRecord) -> FileKey {
        let key = FileKey(place: job.whereabouts.place, path: job.whereabouts.path)
        known.insert(job.id)
        recovering[key, default: []].insert(job.id)
        return key
    }

    /// - Parameter end: how the job ended; nil where it has not.
    private func recovered(_ job: JobRecord, _ end: JobExecutor.Outcome?) async {
        let key = FileKey(place: job.whereabouts.place, path: job.whereabouts.path)
        // While others are recovered, the ledger is yet to be read.
        if startPhase == .recovering {
            known.remove(job.id)
        } else if let end {
            await goOn(job.id, key, after: end)
        } else {
            known.remove(job.id)
            await resume(job.id, isFirst: true)
        }
        recovering[key]?.remove(job.id)
        if recovering[key]?.isEmpty == true { recovering[key] = nil }
        takeTurn(key)
        pump()
    }

    // MARK: Files on their way into quarantine

    /// Keeps the jobs from being begun whose files are on their way into quarantine yet, until they are there.
    private func awaitIsolations() async throws {
        let quarantine = executor.quarantine
        quarantine.tellEnds { [weak self] in await self?.isolationEnded($0) }
        for id in quarantine.jobsAtWork where isolating[id] == nil {
            guard let job = try await ledger.read({ try $0.job(id) }), job.state.isOpen else { continue }
            hold(job)
            isolating[id] = job
            // It may have ended before anybody could be told.
            if !quarantine.jobsAtWork.contains(id) { await isolationEnded(id) }
        }
    }

    private func isolationEnded(_ id: String) async {
        if let job = isolating.removeValue(forKey: id) { await recovered(job, nil) }
        guard startPhase == nil else { return }
        // The job that follows the refusal is known to the ledger alone.
        leaveInLedger(1)
        await fetch()
    }
}
