import Deadlines
import Ledger
import Logging
import Platform

/// Jobs that have not ended with their try: when they are tried again.
extension Runner {
    /// Does with a job what its end, or that of a try, asks for.
    func goOn(_ id: String, _ key: FileKey, after end: JobExecutor.Outcome) async {
        switch end {
        case .ended, .stopped: known.remove(id)
        case .crowded:
            known.remove(id)
            await resume(id)
        case .followed(let next):
            known.remove(id)
            enqueue(next)
        case .asking(let until):
            known.remove(id)
            if let until { awaitWord(id, until) }
        case .superseded:
            known.remove(id)
            await planAnew(id)
        case .heldUp(let others):
            known.remove(id)
            await holdUp(id, by: others)
        case .again(let attempt):
            let delay = Backoff.seconds(attempt: attempt, using: &generator)
            let time = Timestamp.now().adding(seconds: delay)
            known.remove(id)
            unnoted.insert(id)
            schedule(id, after: delay)
            do {
                let isReady = try await ledger.write { transaction in
                    guard var job = try transaction.job(id) else { return false }
                    job.nextAttempt = time
                    try transaction.update(job)
                    return job.state == .ready
                }
                if !isReady { unnoted.remove(id) }
            } catch {
                log.error(
                    "the time of the next try is not in the ledger: \(explain(error))", metadata: LogFields.job(id))
            }
        }
        if case .again = end {} else { await tellEnd?(key.place, key.path) }
        for held in heldUp.keys.sorted() where heldUp[held]?.contains(id) == true { await letGo(held) }
    }

    /// Has a job wait until one of the others has ended, which looks again then; where none is named, for a while.
    private func holdUp(_ id: String, by others: Set<String>) async {
        guard !others.isEmpty else { return schedule(id, after: Self.pause) }
        heldUp[id] = others
        do {
            // One may have ended before this one was noted.
            let open = try await ledger.read { transaction in
                try others.allSatisfy { try transaction.job($0)?.state.isOpen == true }
            }
            if !open { await letGo(id) }
        } catch {
            log.error("cannot read what a job waits for: \(explain(error))", metadata: ["job": "\(id.prefix(12))"])
            if heldUp.removeValue(forKey: id) != nil { schedule(id, after: 60) }
        }
    }

    private func letGo(_ id: String) async {
        guard heldUp.removeValue(forKey: id) != nil else { return }
        await resume(id)
    }

    /// Looks again when a question's time is over: at least once an hour, for the calendar may be set.
    func awaitWord(_ id: String, _ until: Timestamp) {
        asking.insert(id)
        schedule(id, after: min(max(0, until.seconds - Timestamp.now().seconds), 3_600))
    }

    private func expire(_ id: String) async {
        do {
            if let until = try await executor.expire(id) { awaitWord(id, until) }
        } catch {
            log.error("cannot end a question: \(explain(error))", metadata: LogFields.job(id))
            asking.insert(id)
            schedule(id, after: 60)
        }
    }

    func schedule(_ id: String, after seconds: Double) {
        retries.set(id, due: ContinuousClock.now.advanced(by: .seconds(seconds)))
        arm()
    }

    /// One timer for the earliest retry, and none while nothing waits.
    private func arm() {
        guard !isDraining, let next = retries.earliest() else { return }
        if let armedFor, armedFor <= next { return }
        timer?.cancel()
        armedFor = next
        timer = Task {
            do {
                try await Task.sleep(until: next, clock: .continuous)
            } catch {
                return
            }
            await self.wake(next)
        }
    }

    private func wake(_ time: ContinuousClock.Instant) async {
        if armedFor == time { armedFor = nil }
        for id in retries.dequeue(upTo: .now) {
            unnoted.remove(id)
            if asking.remove(id) != nil {
                await expire(id)
                continue
            }
            if undoing.remove(id) != nil {
                let executor = executor
                Task { await executor.finishUndo(of: id) }
                continue
            }
            await resume(id)
        }
        arm()
        pump()
    }

    /// The undos that wait for their next try, which whoever asks makes now.
    func takeWaitingUndos() -> Set<String> {
        defer { undoing = [] }
        for id in undoing { retries.remove(id) }
        return undoing
    }

    /// Has an undo tried again that could not go on for a reason that passes.
    func undoAgain(_ id: String, after attempts: Int) async {
        let delay = Backoff.seconds(attempt: attempts, using: &generator)
        undoing.insert(id)
        schedule(id, after: delay)
        do {
            try await ledger.write { transaction in
                guard var job = try transaction.job(id), job.state == .undoing else { return }
                job.nextAttempt = Timestamp.now().adding(seconds: delay)
                try transaction.update(job)
            }
        } catch {
            log.error(
                "the time of the next try of an undo is not in the ledger: \(explain(error))",
                metadata: LogFields.job(id))
        }
    }

    func resume(_ id: String, isFirst: Bool = false) async {
        do {
            if let job = try await ledger.read({ try $0.job(id) }), job.state.isOpen {
                let (whose, now) = (JobExecutor.bulkhead(of: job), job.whereabouts)
                enqueue(
                    Queued(id: id, whose: whose, isBacklog: job.isBacklog), place: now.place, path: now.path,
                    mayBeLeft: false, isFirst: isFirst)
            }
        } catch {
            log.error("cannot resume a job: \(explain(error))", metadata: LogFields.job(id))
            schedule(id, after: 60)
        }
    }
}
