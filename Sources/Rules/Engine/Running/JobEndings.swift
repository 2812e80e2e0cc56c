import Ledger
import Logging
import Platform

/// How jobs end, and the records of it.
extension JobExecutor {
    /// The delay for a busy editor stops growing after this many tries: half a minute.
    private static let editorTries = 6

    func fail(_ job: JobRecord, _ error: any Error) async -> Outcome {
        var found = await cause(error, of: job)
        if [.superseded, .refused, .failed].contains(found.kind),
            ![Fault.unanswered, Fault.declined].contains(found.code),
            await wasTold(job)
        {
            found = Fault(.transient, "the file got another name while the rule was at work on it", path: found.path)
        }
        let fault = Fault(
            found.kind, redacted(found.message, job), path: found.path, errno: found.errno, code: found.code)
        var job = job
        job.problem = fault.message
        do {
            if fault.code == Fault.unanswered { return try await ask(job, fault) }
            if fault.code == Fault.heldUp { return try await wait(job, fault) }
            if fault.code == Fault.declined {
                try await end(job, .declined, "declined", fault.message)
                return .ended
            }
            switch fault.kind {
            case .transient:
                job.state = .waiting
                job.attempts += 1
                meter.retried(job)
                try await save(job, "retry", "try \(job.attempts) failed, to be tried again: \(fault.message)")
                log.warning("\(fault.message); trying again later", metadata: fields(job))
                if fault.code == Fault.watched { return .watched(job.attempts) }
                return .again(fault.code == Fault.inEditor ? min(job.attempts, Self.editorTries) : job.attempts)
            case .superseded:
                try await end(job, .superseded, "superseded", fault.message)
                return .superseded
            case .refused:
                do {
                    return Self.outcome(try await refuse(job, fault))
                } catch let changed as Fault where changed.kind == .superseded {
                    job.problem = redacted(changed.message, job)
                    try await end(job, .superseded, "superseded", redacted(changed.message, job))
                    return .superseded
                }
            case .failed, .usage, .fatal:
                let next = try await end(
                    job, .parked, "parked", "\(fault.message) (`steward retry \(job.id.prefix(12))` tries it again)")
                log.error("parked: \(fault.message)", metadata: fields(job))
                return Self.outcome(next)
            }
        } catch {
            log.error(
                "cannot record that a job failed (\(fault.message)): \(explain(error))",
                metadata: fields(job))
            return .again(max(3, job.attempts))
        }
    }

    private static func outcome(_ next: PlannedJob?) -> Outcome { next.map { .followed(by: $0) } ?? .ended }

    /// - Returns: the `on-failure` job, if any.
    private func refuse(_ job: JobRecord, _ fault: Fault) async throws -> PlannedJob? {
        log.warning("refused: \(fault.message)", metadata: fields(job))
        let file = try file(job)
        let files = journal.files()
        // If the file is gone, or behind a symlink by now, it is not ours to move.
        let inPlace = try await journal.presence.pool.run { try Self.isThere(file.absolute, files) }
        if job.refused == "quarantine", inPlace {
            inWork.begin([file.absolute])
            defer { inWork.end([file.absolute]) }
            do {
                // `isolate` has already planned the `on-failure` job.
                let next = try await quarantine.isolate(job, file, reason: fault.message, code: fault.code)
                return try await end(job, .refused, "refused", "\(fault.message); the file is in quarantine") ?? next
            } catch let full as Fault where full.code == Quarantine.full {
                log.warning("\(full.message)", metadata: fields(job))
                return try await end(
                    job, .refused, "refused", "\(fault.message); the file was left where it is: \(full.message)")
            }
        } else {
            return try await end(job, .refused, "refused", "\(fault.message); the file was left where it is")
        }
    }

    private static func isThere(_ path: BytePath, _ files: HeldFiles) throws -> Bool {
        do {
            return try files.status(path)?.kind == .file
        } catch let fault as Fault where fault.code == Fault.link {
            return false
        }
    }

    /// - Returns: the `on-failure` job, if this ending calls for one.
    @discardableResult
    func end(_ job: JobRecord, _ state: JobRecord.State, _ kind: String, _ message: String) async throws -> PlannedJob?
    {
        var job = job
        job.state = state
        job.nextAttempt = nil
        if state == .done || state == .undone { job.problem = nil }
        if state == .done || state == .undone { job.values = JobAtWork.noValues }
        let isForgotten = try (state == .done || state == .undone) && forgetContent(of: &job)
        let ended = job
        let next = try await save(ended, kind, message, isForgotten: isForgotten)
        meter.ended(ended)
        return next
    }

    @discardableResult
    private func save(
        _ job: JobRecord, _ kind: String, _ message: String, isForgotten: Bool = false
    ) async throws -> PlannedJob? {
        try await ledger.write { transaction in
            // In the same transaction: a finished job must not keep the content of a hidden file.
            if isForgotten { try transaction.forgetContent(of: job) }
            try transaction.update(job)
            if isForgotten { try transaction.setFile(of: job) }
            if job.state == .undone {
                try transaction.forgetItems(of: job.id)
                try transaction.forgetUndo(of: job.id)
            }
            try FailureSteps.settle(job, in: transaction)
            if job.state == .superseded { try transaction.setSuperseded(job.id, true) }
            try transaction.note(kind, message, job: job.id, place: job.place, path: job.path)
            return try FailureSteps.follow(job, self.rules, in: transaction)
        }
    }

    /// Clears values and content of a finished job whose file is hidden.
    ///
    /// - Returns: whether the file is hidden.
    func forgetContent(of job: inout JobRecord) throws -> Bool {
        guard names.hides(job.place, job.path) else { return false }
        var file = try file(job)
        (file.fingerprint, file.hash) = (nil, nil)
        job.file = try file.stored(hiding: names)
        job.values = JobAtWork.noValues
        return true
    }

    /// The job's log fields. A hidden file appears as the prefix of its token.
    func fields(_ job: JobRecord) -> Logger.Metadata {
        LogFields.job(job.id).merging([
            LogFields.rule: "\(job.rule)", LogFields.place: "\(job.place)",
            LogFields.path: "\(names.called(job.place, job.path))",
        ]) { $1 }
    }

    /// Removes the name of the job's file from the text if the file is hidden.
    func redacted(_ text: String, _ job: JobRecord) -> String {
        guard names.hides(job.place, job.path), let place = journal.places[name: job.place] else { return text }
        return names.redacted(text, job.place, root: place.root, job.path)
    }
}
