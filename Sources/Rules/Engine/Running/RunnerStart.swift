import Ledger
import Logging
import Platform

/// How a runner takes up what an earlier life has left, and what had to wait since. Nothing of that waits for a file system
/// that does not answer: what needs such a one goes on when it answers, and all else goes on meanwhile.
extension Runner {
    /// Files of which what was begun is recovered at the same time.
    private static let mostRecoveries = 16

    /// Resumes what the ledger holds open from an earlier life. What was begun is recovered before this returns, so that
    /// nothing of it can be taken for news; of what a file system that does not answer keeps from that, the paths stay noted as
    /// those at work.
    package func start() async throws {
        happened { $0.start() }
        let isPaused = try await ledger.read { try $0.meta("paused") } != nil
        happened { $0.setPaused(isPaused) }
        try await awaitIsolations()
        executor.tellOfWaitingUndos { [weak self] in await self?.undoAgain($0, after: $1) }
        try await executor.resumeUndoing()
        try await recoverBegun()
        happened { $0.recovered() }
        for id in try await planner.superseded() { await planAnewUnlessHung(id) }
        for job in try await ledger.read({ try $0.waitingJobs() }) {
            // The ledger's times are the calendar's, which may have been set since.
            let seconds = job.nextAttempt.map { min($0.seconds - Timestamp.now().seconds, Backoff.longest) } ?? 0
            happened { $0.waits(job.id, .retry, seconds: seconds, .now) }
        }
        for (question, job) in try await ledger.read({ try $0.openQuestions() }) {
            guard let until = question.until else { continue }
            happened { $0.waits(job.id, .answer, seconds: until.seconds - Timestamp.now().seconds, .now) }
        }
        happened { $0.started() }
        await fetching?.value
    }

    /// Takes up what could not be finished at the start, or planned since, because a place was away or the names of its
    /// hidden files were not known.
    package func takeUp() async throws {
        try await executor.resumeUndoing(takeWaitingUndos())
        for id in try await planner.superseded() { await planAnewUnlessHung(id) }
    }

    /// What a superseded job was to do is done with the version that is there now.
    ///
    /// - Returns: the jobs that do it; none where they cannot be planned yet, which the ledger keeps in mind.
    func planAnew(_ id: String) async -> [PlannedJob] {
        do {
            let place = try await ledger.read { try $0.job(id)?.whereabouts.place }
            return try await Bulkhead.$current.withValue(place.map(Bulkhead.place)) {
                try await planner.plan(after: id)
            }
        } catch let fault as Fault where fault.kind == .transient {
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
        return []
    }

    private func submitAnew(_ id: String) async { submit(await planAnew(id)) }

    private func planAnewUnlessHung(_ id: String) async {
        do {
            guard let job = try await ledger.read({ try $0.job(id) }) else { return await submitAnew(id) }
            let done: Void? = try await outcome(unlessHung: .place(job.whereabouts.place)) { await self.submitAnew(id) }
            guard done == nil else { return }
            log.warning(
                """
                planning anew for \(executor.names.called(job.place, job.path)), which has changed, waits: the file system of \
                the place \(job.whereabouts.place) does not answer (`steward status` says more)
                """, metadata: executor.fields(job))
        } catch {
            log.error(
                "cannot plan anew yet for a file that has changed: \(explain(error))", metadata: LogFields.job(id))
        }
    }

    // MARK: What was begun

    /// Side by side, but for what was begun with one file.
    private func recoverBegun() async throws {
        // What an earlier try of the start could not wait for is at work yet.
        let begun = try await ledger.read { try $0.begunJobs() }.filter { !scheduler.knows($0.id) }
        var files: [Scheduler.File] = []
        var jobs: [Scheduler.File: [JobRecord]] = [:]
        for job in begun {
            let held = Scheduler.Job(job)
            happened { $0.recover(held) }
            if jobs[held.file] == nil { files.append(held.file) }
            jobs[held.file, default: []].append(job)
        }
        let patience = RecoveryTimeout()
        await withTaskGroup(of: Void.self) { group in
            for (number, file) in files.enumerated() {
                if number >= Self.mostRecoveries { _ = await group.next() }
                let own = jobs[file] ?? []
                group.addTask { for job in own { await self.recover(job, patience) } }
            }
        }
    }

    private func recover(_ job: JobRecord, _ patience: RecoveryTimeout) async {
        let (executor, whose) = (executor, JobExecutor.bulkhead(of: job))
        // From now on: others' calls may hang before it is this one's turn.
        let targets = await executor.targetsBegun(by: job)
        executor.inWork.begin(targets)
        let hasEnded = await patience.waits(for: whose) {
            let end = await BlockingPool.run(for: whose) { await executor.recoverInterrupted(job) }
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

    /// - Parameter outcome: how the job ended; nil where it has not.
    private func recovered(_ job: JobRecord, _ outcome: JobExecutor.Outcome?) async {
        // While others are recovered, the ledger is yet to be read.
        guard let outcome, scheduler.phase != .recovering else {
            return happened { $0.ended(job.id, .unclear, .now) }
        }
        await ended(job.id, Scheduler.Job(job).file, outcome)
    }

    // MARK: Files on their way into quarantine

    /// Keeps the jobs from being begun whose files are on their way into quarantine yet, until they are there.
    private func awaitIsolations() async throws {
        let quarantine = executor.quarantine
        quarantine.tellEnds { [weak self] id in await self?.happened { $0.isolated(id, .now) } }
        for id in quarantine.jobsAtWork where !scheduler.knows(id) {
            guard let job = try await ledger.read({ try $0.job(id) }), job.state.isOpen else { continue }
            happened { $0.recover(Scheduler.Job(job), isIsolated: true) }
            // It may have ended before anybody could be told.
            if !quarantine.jobsAtWork.contains(id) { happened { $0.isolated(id, .now) } }
        }
    }
}
