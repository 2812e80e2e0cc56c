import Ledger
import Logging
import Platform

/// How a runner resumes earlier work after a start. Nothing here waits for a file system that does not answer: the
/// affected jobs continue once it does, and everything else continues in the meantime.
extension Runner {
    /// How many files are recovered concurrently.
    private static let mostRecoveries = 16

    /// Resumes the open jobs in the ledger. Begun steps are recovered before this returns, so that their effects are
    /// not taken for changes. If a file system does not answer, the paths of its steps stay in work.
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
            // Ledger times are wall-clock times, and the clock may have been set since.
            let seconds = job.nextAttempt.map { min($0.seconds - Timestamp.now().seconds, Backoff.longestOfJobs) } ?? 0
            happened { $0.waits(job.id, .retry, seconds: seconds, .now) }
        }
        for (question, job) in try await ledger.read({ try $0.openQuestions() }) {
            guard let until = question.until else { continue }
            happened { $0.waits(job.id, .answer, seconds: until.seconds - Timestamp.now().seconds, .now) }
        }
        happened { $0.started() }
        await fetching?.value
    }

    /// Resumes what could not be finished or planned because a place was away, or because the names of its hidden
    /// files were not known.
    package func takeUp() async throws {
        try await executor.resumeUndoing(takeWaitingUndos())
        for id in try await planner.superseded() { await planAnewUnlessHung(id) }
    }

    /// Plans the work of a superseded job for the present version.
    ///
    /// - Returns: the new jobs; empty if they cannot be planned yet. The ledger remembers those.
    func planAnew(_ id: String) async -> [PlannedJob] {
        do {
            let place = try await ledger.read { try $0.job(id)?.whereabouts.place }
            return try await Bulkhead.$current.withValue(place.map(Bulkhead.place)) {
                try await planner.plan(after: id)
            }
        } catch let fault as Fault where fault.kind == .transient {
            log.warning(
                """
                cannot replan for a changed file yet: \(fault.message); this is retried when a place is available again, and \
                at the next start
                """, metadata: LogFields.job(id))
        } catch {
            log.error(
                "cannot replan for a changed file: \(explain(error)); use `steward reprocess`",
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
                \(executor.names.called(job.place, job.path)) has changed; replanning is delayed because the file system of \
                the place \(job.whereabouts.place) does not answer (`steward status` says more)
                """, metadata: executor.fields(job))
        } catch {
            log.error(
                "cannot replan for a changed file yet: \(explain(error))", metadata: LogFields.job(id))
        }
    }

    // MARK: Begun steps

    /// Recovers files concurrently, but the steps of one file in order.
    private func recoverBegun() async throws {
        // Recoveries that an earlier try of the start did not wait for are still running.
        let begun = try await ledger.read { try $0.begunJobs() }.filter { !scheduler.knows($0.id) }
        var files: [Scheduler.File] = []
        var jobs: [Scheduler.File: [JobRecord]] = [:]
        for job in begun {
            let held = Scheduler.Job(job)
            happened { $0.recover(held) }
            if jobs[held.file] == nil { files.append(held.file) }
            jobs[held.file, default: []].append(job)
        }
        let timeout = RecoveryTimeout()
        await withTaskGroup(of: Void.self) { group in
            for (number, file) in files.enumerated() {
                if number >= Self.mostRecoveries { _ = await group.next() }
                let own = jobs[file] ?? []
                group.addTask { for job in own { await self.recover(job, timeout) } }
            }
        }
    }

    private func recover(_ job: JobRecord, _ timeout: RecoveryTimeout) async {
        let (executor, whose) = (executor, JobExecutor.bulkhead(of: job))
        // From now on, since calls of others may hang before it is this job's turn.
        let targets = await executor.targetsBegun(by: job)
        executor.inWork.begin(targets)
        let hasEnded = await timeout.waits(for: whose) {
            let end = await BlockingPool.run(for: whose) { await executor.recoverInterrupted(job) }
            executor.inWork.end(targets)
            await self.recovered(job, end)
        }
        if hasEnded { return }
        log.warning(
            """
            the work begun with \(executor.names.called(job.place, job.path)) continues in the background: a file system does \
            not answer, or it is taking long (`steward status` says more)
            """, metadata: executor.fields(job))
    }

    /// - Parameter outcome: how the job ended; nil if it has not.
    private func recovered(_ job: JobRecord, _ outcome: JobExecutor.Outcome?) async {
        // During recovery the ledger has yet to be read.
        guard let outcome, scheduler.phase != .recovering else {
            return happened { $0.ended(job.id, .unclear, .now) }
        }
        await ended(job.id, Scheduler.Job(job).file, outcome)
    }

    // MARK: Files on their way into quarantine

    /// Holds back the jobs whose files are still on their way into quarantine.
    private func awaitIsolations() async throws {
        let quarantine = executor.quarantine
        quarantine.tellEnds { [weak self] id in await self?.happened { $0.isolated(id, .now) } }
        for id in quarantine.jobsAtWork where !scheduler.knows(id) {
            guard let job = try await ledger.read({ try $0.job(id) }), job.state.isOpen else { continue }
            happened { $0.recover(Scheduler.Job(job), isIsolated: true) }
            // The move may have finished before the handler was set.
            if !quarantine.jobsAtWork.contains(id) { happened { $0.isolated(id, .now) } }
        }
    }
}
