import Glibc
import Ledger
import Logging
import Platform

/// Steps that were begun and have no receipt: what became of them.
extension JobExecutor {
    /// Recovers the step that a crash interrupted, if one was, without going on to the next.
    ///
    /// - Returns: how the job ended, if it did.
    func recoverInterrupted(_ job: JobRecord) async -> Outcome? {
        do {
            guard let loaded = try await load(job.id), loaded.record.state.isOpen,
                let begun = loaded.steps.first(where: { $0.state == .intended })
            else { return nil }
            do {
                var current = try JobAtWork(loaded, in: journal.places, showing: names)
                try await recover(begun, of: &current, journal.files())
            } catch {
                return await fail(loaded.record, error)
            }
        } catch {
            log.error("cannot recover what was begun: \(explain(error))", metadata: fields(job))
        }
        return nil
    }

    /// The paths that the step is at work on which a crash interrupted; none where that cannot be told.
    func targetsBegun(by job: JobRecord) async -> [BytePath] {
        do {
            guard let begun = try await load(job.id)?.steps.first(where: { $0.state == .intended }),
                let intent = try await intent(of: begun)
            else { return [] }
            return try actionForLookingBack(at: begun).targets(intent, names)
        } catch {
            // Who recovers it finds the same, and says so where it lasts.
            log.debug("not known yet what was begun: \(explain(error))", metadata: fields(job))
            return []
        }
    }

    /// - Returns: whether the step turned out to be done.
    @discardableResult
    func recover(
        _ step: StepRecord, of job: inout JobAtWork, _ files: HeldFiles
    ) async throws -> Bool {
        await hold.enter()
        defer { hold.leave() }
        guard let intent = try await intent(of: step) else {
            try await ledger.write { try $0.clearIntent(step) }
            return false
        }
        let action = try actionForLookingBack(at: step)
        let targets = try action.targets(intent, names)
        inWork.begin(targets)
        defer { inWork.end(targets) }
        try await discardStaged(of: step, files)
        let context = StepContext(
            jobID: job.record.id, stepID: step.id, attempt: job.record.attempts, files: files)
        switch try await action.recover(intent, names, context) {
        case .done(let receipt):
            try await sync(targets + receipt.effects.flatMap(\.names), files)
            let before = job
            job = try await ledger.write { try self.write(receipt, step, before, isLast: false, in: $0) }
            tell(receipt.summary, step, job)
            return true
        case .notDone:
            try await ledger.write { try $0.clearIntent(step) }
            return false
        case .unknown(let why):
            // The rule in force says so, or nobody does.
            guard (try? rules.step(step, of: job.record))?.repeatSafe == true else {
                throw Fault(
                    .failed, "outcome unknown: \(why); `steward retry \(job.record.id.prefix(12))` runs it again")
            }
            try await ledger.write { try $0.clearIntent(step) }
            return false
        }
    }

    /// Syncs the folders in which names may have changed: who changed them may have been cut off before that, and a receipt
    /// says what a power cut takes away no more. A folder that is not there, or away with its place, holds nothing back.
    private func sync(_ names: [BytePath], _ files: HeldFiles) async throws {
        let journal = journal
        try await journal.presence.lanes.run {
            for folder in Set(names.map(\.parent)) where try journal.presence.isHere(folder) {
                do {
                    try files.folder(folder).sync()
                } catch let fault as Fault
                    where fault.code == Fault.link || fault.errno == ENOENT || fault.errno == ENOTDIR
                {
                    continue
                }
            }
        }
    }

    /// Removes what a step that was cut off has left under temporary names, where the start has not waited for that: when the
    /// step goes on, the ledger forgets them.
    func discardStaged(of step: StepRecord, _ files: HeldFiles) async throws {
        let staged = try await ledger.read { try $0.namesStaged(by: step.id) }
        let left = staged.filter { $0.path.nameText.hasPrefix(".steward-") }
        guard !left.isEmpty else { return }
        let journal = journal
        try await journal.presence.lanes.run {
            for (path, file) in left where try journal.presence.isHere(path) && !files.isBehindLink(path) {
                guard let found = try files.spotIfAny(path)?.identity(), found.isSame(as: file) else { continue }
                try files.discard(path, record: journal.staging(step.id))
            }
        }
    }
}
