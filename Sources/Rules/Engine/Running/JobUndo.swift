import Ledger
import Logging
import Platform
import Synchronization

extension Fault {
    /// The ``Fault/code`` of an undo whose file is gone or another one by now: there is nothing left to take back.
    package static let leftAlone = "left-alone"
}

/// Undoing jobs: as with doing, what is about to happen is committed first, so that a crash in the midst of it is
/// known and finished.
extension JobExecutor {
    /// Undoes a job's steps, last first, as far as their actions can; stops at the first that cannot. The job is `undoing`
    /// until all of them are taken back; what stands in the way and passes by itself is waited for, and whoever is told of
    /// that (``tellOfWaitingUndos(_:)``) tries again.
    ///
    /// - Returns: a line for each step that was taken back now.
    /// - Throws: `Fault` saying which step could not be taken back and why; those after it have been.
    package func undo(_ id: String) async throws -> [String] {
        guard undos.withLock({ $0.insert(id).inserted }) else { throw Self.beingUndone(id) }
        defer { undos.withLock { _ = $0.remove(id) } }
        guard let loaded = try await load(id) else { throw Fault(.usage, "no job \(id)") }
        let job = loaded.record
        guard !job.state.isOpen else {
            throw Fault(.usage, "the job \(id.prefix(12)) is still at work; pause the agent or wait for it")
        }
        do {
            // As when it was done: where the disk does not answer, what else is undone or done goes on.
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

    /// Records why an undo could not go on: to be tried again, for a person to see, or, where nothing was taken back, as if
    /// nobody had asked.
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
                "\(fault.message). It is taken back by itself as soon as that has passed: `steward status` shows it",
                path: fault.path, errno: fault.errno, code: fault.code)
        } catch {
            log.error("cannot record that an undo has stopped: \(explain(error))", metadata: fields(before))
            return fault
        }
    }

    /// The ``Fault/code`` of an undo that is at work already.
    private static let atWorkCode = "being-undone"

    private static func beingUndone(_ id: String) -> Fault {
        Fault(.failed, "the job \(id.prefix(12)) is being undone already", code: atWorkCode)
    }

    /// Finishes what an undo has begun that a crash cut off, or something that passes, so that nothing of it can be taken for
    /// news. What a file system that does not answer keeps from being finished is finished when it answers, and holds up
    /// nothing else.
    ///
    /// - Parameter only: which jobs; nil for all.
    func resumeUndoing(_ only: Set<String>? = nil) async throws {
        let patience = RecoveryTimeout()
        for id in try await ledger.read({ try $0.jobsBeingUndone() }) where only?.contains(id) ?? true {
            // An earlier try may be at it yet.
            guard !undos.withLock({ $0.contains(id) }), let job = try await load(id)?.record else { continue }
            if await patience.waits(for: Self.bulkhead(of: job), { await self.finishUndo(of: id) }) { continue }
            log.warning(
                """
                an undo of what was done with \(names.called(job.place, job.path)) was cut off and is not waited for: a file \
                system does not answer, or it takes long (`steward status` says more); it is finished by itself
                """, metadata: fields(job))
        }
    }

    /// Goes on with an undo that had to stop; tells the log how that ended.
    func finishUndo(of id: String) async {
        do {
            // A person may have had it finished meanwhile.
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
                an undo was cut off and cannot be finished: \(explain(error)); mend that, then `steward undo \
                \(id.prefix(12))`
                """, metadata: LogFields.job(id))
        }
    }

    /// - Returns: what was done; nil where the step had done nothing.
    private func revert(
        _ step: StepRecord, of job: inout JobRecord, _ files: HeldFiles
    ) async throws -> String? {
        guard let text = step.receipt, let intent = try await intent(of: step) else { return nil }
        await hold.enter()
        defer { hold.leave() }
        let action = try actionForLookingBack(at: step)
        let done = try LedgerJSON.decode(Receipt.self, from: text, showing: names)
        // A folder goes back to a free name, and what lies in it is looked at as soon as it is there.
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
            // By the actions' contract nothing has been changed. And what was cut off is not asked for again at each start.
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

    /// Where a job's file lies: jobs that have ended are not told where others put it.
    private func whereItLies(_ job: JobRecord) async throws -> FileReference {
        let told = try file(job)
        guard let print = told.fingerprint, !told.isFolder else { return told }
        let places = journal.places.places
        return try await ledger.read { transaction in
            if try transaction.file(told.place, told.path)?.isThere(print) == true { return told }
            for place in places {
                let found = try transaction.file(place.name, device: print.device, inode: print.inode)
                // An inode alone is another file's as soon as this one is gone.
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

    /// A folder does not go back while something is yet to be done with what lies in it.
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
    /// Whether the file with this inode has the name now.
    fileprivate func isThere(_ print: Fingerprint) -> Bool {
        present && fingerprint.inode == print.inode && fingerprint.device == print.device
    }
}

extension FileEffect {
    fileprivate var isOfFolder: Bool { if case .movedFolder = self { true } else { false } }
}
