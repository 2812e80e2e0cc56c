import Ledger
import Logging
import Platform
import Synchronization

extension Fault {
    /// The ``Fault/code`` of an undo whose file is gone or was replaced: there is nothing left to undo.
    package static let leftAlone = "left-alone"
}

/// Undoing jobs. Like a step, an undo commits its intent first, so that it can be finished after a crash.
extension JobExecutor {
    /// Undoes a job's steps, last one first, and stops at the first that cannot be undone. The job is `undoing` until
    /// all steps are undone. After a transient failure, the handler set by ``tellOfWaitingUndos(_:)`` retries.
    ///
    /// - Returns: a line for each step undone by this call.
    /// - Throws: `Fault` saying which step could not be undone and why; the steps after it have been.
    package func undo(_ id: String) async throws -> [String] {
        guard undos.withLock({ $0.insert(id).inserted }) else { throw Self.beingUndone(id) }
        defer { undos.withLock { _ = $0.remove(id) } }
        guard let loaded = try await load(id) else { throw Fault(.usage, "no job \(id)") }
        let job = loaded.record
        guard !job.state.isOpen else {
            throw Fault(.usage, "the job \(id.prefix(12)) is still at work; pause the agent or wait for it")
        }
        do {
            // Same bulkhead as for running the job: if the disk does not answer, other jobs and undos continue.
            return try await Bulkhead.$current.withValue(Self.bulkhead(of: job)) {
                try await takeBack(job, loaded.steps)
            }
        } catch {
            throw await stopped(job, error)
        }
    }

    private func takeBack(_ job: JobRecord, _ steps: [StepRecord]) async throws -> [String] {
        var current = job
        let files = journal.files()
        var lines: [String] = []
        for step in steps.reversed() where step.state == .done || step.state == .undoing {
            files.closeFiles()
            guard let summary = try await revert(step, of: &current, files) else { continue }
            lines.append("\(step.action): \(summary)")
        }
        try await end(current, .undone, "undone", "all steps taken back")
        return lines
    }

    /// Records why an undo stopped: to be retried, or for a person to see. If nothing was undone, the job goes back
    /// to its earlier state.
    private func stopped(_ before: JobRecord, _ error: any Error) async -> Fault {
        let fault = error as? Fault ?? Fault(.failed, explain(error))
        let message = redacted(fault.message, before)
        do {
            let attempts = try await ledger.write { transaction -> Int? in
                guard var job = try transaction.job(before.id) else { return nil }
                let hasBegun = try transaction.steps(of: job.id).contains {
                    $0.state == .undone || $0.state == .undoing
                }
                guard fault.kind == .transient || hasBegun else {
                    try transaction.giveUpUndo(of: &job)
                    return nil
                }
                try transaction.beginUndo(of: &job)
                job.problem = message
                if fault.kind == .transient {
                    job.attempts += 1
                    job.nextAttempt = .now()
                }
                try transaction.update(job)
                let later = fault.kind == .transient ? " just now, and is tried again" : ""
                try transaction.note(
                    "undo", "cannot be taken back\(later): \(message)", job: job.id, place: job.place, path: job.path)
                return job.nextAttempt == nil ? nil : job.attempts
            }
            guard let attempts, let tell = waitingUndo else { return fault }
            await tell(before.id, attempts)
            return Fault(
                .transient,
                "\(fault.message). The undo is retried automatically; `steward status` shows its progress",
                path: fault.path, errno: fault.errno, code: fault.code)
        } catch {
            log.error("cannot record that an undo has stopped: \(explain(error))", metadata: fields(before))
            return fault
        }
    }

    /// The ``Fault/code`` of an undo that is already running.
    private static let atWorkCode = "being-undone"

    private static func beingUndone(_ id: String) -> Fault {
        Fault(.failed, "the job \(id.prefix(12)) is being undone already", code: atWorkCode)
    }

    /// Finishes undos that a crash or a transient failure interrupted, so that their effects are not taken for
    /// changes. An undo on a file system that does not answer is finished once it answers, and delays nothing else.
    ///
    /// - Parameter only: the jobs to resume; nil for all.
    func resumeUndoing(_ only: Set<String>? = nil) async throws {
        let timeout = RecoveryTimeout()
        for id in try await ledger.read({ try $0.jobsBeingUndone() }) where only?.contains(id) ?? true {
            // An earlier try may still be running.
            guard !undos.withLock({ $0.contains(id) }), let job = try await load(id)?.record else { continue }
            if await timeout.waits(for: Self.bulkhead(of: job), { await self.finishUndo(of: id) }) { continue }
            log.warning(
                """
                the undo for \(names.called(job.place, job.path)) was interrupted and continues in the background: a file \
                system does not answer, or it is taking long (`steward status` says more)
                """, metadata: fields(job))
        }
    }

    /// Continues an interrupted undo and logs the outcome.
    func finishUndo(of id: String) async {
        do {
            // A person may have finished it in the meantime.
            guard try await ledger.read({ try $0.job(id)?.state }) != .undone else { return }
            _ = try await undo(id)
            log.info("finished an undo that had been cut off", metadata: LogFields.job(id))
        } catch let fault as Fault where fault.kind == .transient {
            log.warning(
                "an undo was cut off and cannot be finished yet: \(fault.message)", metadata: LogFields.job(id))
        } catch let fault as Fault where fault.code == Self.atWorkCode {
            log.debug("an undo is at work already", metadata: LogFields.job(id))
        } catch {
            log.error(
                """
                an undo was cut off and cannot be finished: \(explain(error)); fix that, then `steward undo \
                \(id.prefix(12))`
                """, metadata: LogFields.job(id))
        }
    }

    /// - Returns: what was undone; nil if the step had done nothing.
    private func revert(
        _ step: StepRecord, of job: inout JobRecord, _ files: HeldFiles
    ) async throws -> String? {
        guard let text = step.receipt, let intent = try await intent(of: step) else { return nil }
        await hold.enter()
        defer { hold.leave() }
        let action = try actionForLookingBack(at: step)
        let done = try LedgerJSON.decode(Receipt.self, from: text, showing: names)
        // A folder goes back to a free name, and its contents are looked at as soon as it is there.
        let back = done.effects.filter(\.isOfFolder).compactMap(\.origin).flatMap {
            Mover.alternatives($0).prefix(1_000)
        }
        let before = try await whereItLies(job)
        let targets = try action.targets(intent, names) + back + (before.isFolder ? [] : [before.absolute])
        inWork.begin(targets)
        defer { inWork.end(targets) }
        let resumes = step.state == .undoing
        let current = job
        let begun = try await ledger.write { transaction -> JobRecord? in
            if !resumes {
                if done.effects.contains(where: \.isOfFolder) {
                    try self.requireUndoable(current, before, targets, in: transaction)
                }
                guard try transaction.setUndoing(step, true) else { return nil }
            }
            var begun = current
            try transaction.beginUndo(of: &begun)
            return begun
        }
        guard let begun else { throw Self.beingUndone(job.id) }
        job = begun
        if resumes { try await discardStaged(of: step, files) }
        let receipt: Receipt
        do {
            receipt = try await action.undo(
                intent, names, done,
                StepContext(
                    jobID: job.id, stepID: step.id, attempt: 0, resumesUndo: resumes, file: before, files: files))
        } catch let fault as Fault where fault.kind == .failed && (!resumes || fault.code == Fault.leftAlone) {
            // By contract, a failed action has changed nothing. An interrupted undo is not tried again at each start.
            _ = try await ledger.write { try $0.setUndoing(step, false) }
            throw fault
        }
        let to = follow(before, receipt.effects)
        if let to { try job.setFile(to, hiding: names) }
        let updated = job
        let journal = journal
        let summary = redacted(receipt.summary, job)
        try await ledger.write { transaction in
            try transaction.setReceipt(step, text, state: .undone)
            try journal.apply(receipt.effects, of: updated, in: transaction)
            try transaction.clearStaged(job: step.id)
            try transaction.update(updated)
            if let to {
                try transaction.setFile(of: updated)
                try self.tellOthers(before, to, updated, in: transaction)
            }
            try transaction.note(
                "undone", "\(step.action): \(summary)", job: updated.id, place: updated.place, path: updated.path)
        }
        return receipt.summary
    }

    /// Where the job's file is now. Finished jobs are not updated when others move their file.
    private func whereItLies(_ job: JobRecord) async throws -> FileReference {
        let told = try file(job)
        guard let print = told.fingerprint, !told.isFolder else { return told }
        let places = journal.places.places
        return try await ledger.read { transaction in
            if try transaction.file(told.place, told.path)?.isThere(print) == true { return told }
            for place in places {
                let found = try transaction.file(place.name, device: print.device, inode: print.inode)
                // An inode number alone may be reused once this file is gone.
                guard let found, found.isThere(print),
                    found.hash == told.hash
                        || (found.fingerprint.size, found.fingerprint.modified) == (print.size, print.modified)
                else { continue }
                return FileReference(
                    place: place.name, root: place.root, path: found.path, fingerprint: found.fingerprint,
                    hash: told.hash)
            }
            return told
        }
    }

    /// A folder does not go back while jobs for its contents are pending.
    private func requireUndoable(
        _ job: JobRecord, _ folder: FileReference, _ targets: [BytePath], in transaction: LedgerTransaction
    ) throws {
        let other = try atWork(in: folder, besides: job.id, transaction).first
        guard other != nil || inWork.touches(folder.absolute, besides: targets) else { return }
        let who = try other.map { "the rule \"\($0.rule)\" is not done with \(try file($0).absolute)" }
        throw Fault(
            .usage,
            "\(folder.absolute) does not go back now: \(who ?? "the agent is at work in it"); ask again when that is done "
                + "(`steward status`)", path: folder.absolute)
    }
}

extension FileRecord {
    /// Whether this row describes the file with that inode, and the file is present.
    fileprivate func isThere(_ print: Fingerprint) -> Bool {
        present && fingerprint.inode == print.inode && fingerprint.device == print.device
    }
}

extension FileEffect {
    fileprivate var isOfFolder: Bool { if case .movedFolder = self { true } else { false } }
}
