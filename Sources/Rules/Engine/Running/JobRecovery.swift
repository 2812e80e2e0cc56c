import Glibc
import Ledger
import Logging
import Platform

/// Recovery of steps that were begun and have no receipt.
extension JobExecutor {
    /// Recovers the step that a crash interrupted, if any, without going on to the next one.
    ///
    /// - Returns: how the job ended, or nil if it did not.
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

    /// The target paths of the interrupted step; empty if they cannot be determined.
    func targetsBegun(by job: JobRecord) async -> [BytePath] {
        do {
            guard let begun = try await load(job.id)?.steps.first(where: { $0.state == .intended }),
                let intent = try await intent(of: begun)
            else { return [] }
            return try actionForLookingBack(at: begun).targets(intent, names)
        } catch {
            // Recovery runs into the same error, and reports it if it persists.
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
            if let wait = receipt.wait {
                try await writePart(receipt, step, job)
                throw wait.fault
            }
            let before = job
            job = try await ledger.write { try self.write(receipt, step, before, isLast: false, in: $0) }
            tell(receipt.summary, step, job)
            return true
        case .notDone:
            try await ledger.write { try $0.clearIntent(step) }
            return false
        case .unknown(let why):
            // Only the rule in force may declare a step safe to repeat.
            guard (try? rules.step(step, of: job.record))?.repeatSafe == true else {
                throw Fault(
                    .failed, "outcome unknown: \(why); `steward retry \(job.record.id.prefix(12))` runs it again")
            }
            try await ledger.write { try $0.clearIntent(step) }
            return false
        }
    }

    /// Syncs the folders in which names may have changed. The crash may have come before the original sync, and what
    /// a receipt records must survive a power cut. Folders that are missing, or whose place is away, are skipped.
    private func sync(_ names: [BytePath], _ files: HeldFiles) async throws {
        let journal = journal
        try await journal.presence.pool.run {
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

    /// Deletes the temporary files that an interrupted step left behind, if recovery at start did not get to them.
    /// When the step continues, the ledger forgets them.
    func discardStaged(of step: StepRecord, _ files: HeldFiles) async throws {
        let staged = try await ledger.read { try $0.namesStaged(by: step.id) }
        let left = staged.filter { $0.path.nameText.hasPrefix(".steward-") }
        guard !left.isEmpty else { return }
        let journal = journal
        try await journal.presence.pool.run {
            for (path, file) in left where try journal.presence.isHere(path) && !files.isBehindLink(path) {
                guard let found = try files.entryIfAny(path)?.identity(), found.isSame(as: file) else { continue }
                try files.discard(path, record: journal.staging(step.id))
            }
        }
    }
}
