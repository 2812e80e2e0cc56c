import Ledger
import Logging
import Platform

extension Fault {
    /// The ``Fault/code`` of a step that waits for a person's answer.
    package static let unanswered = "unanswered"
    /// The ``Fault/code`` of a step that a person has declined.
    package static let declined = "declined"
}

/// Jobs that ask a person: where they pause, and how silence counts.
extension JobExecutor {
    /// Marks the job as waiting for its answer, unless the answer has already arrived.
    func ask(_ job: JobRecord, _ fault: Fault) async throws -> Outcome {
        let outcome = try await ledger.write { transaction -> (Bool, Timestamp?) in
            var job = job
            let step = try transaction.steps(of: job.id).first { $0.state == .intended }
            let question = try step.flatMap { try transaction.question(step: $0.id) }
            guard let question, question.answer == nil else { return (true, nil) }
            job.state = .asking
            job.nextAttempt = nil
            try transaction.update(job)
            try transaction.note("asking", fault.message, job: job.id, place: job.place, path: job.path)
            return (false, question.until)
        }
        ledger.questions.tell()
        if outcome.0 { return .again(1) }
        log.notice("\(fault.message)", metadata: fields(job))
        return .asking(until: outcome.1)
    }

    /// Counts silence as a no once the question's time is up.
    ///
    /// - Returns: when to check again; nil if the question is no longer open.
    func expire(_ id: String) async throws -> Timestamp? {
        let next: Timestamp? = try await ledger.write { transaction in
            guard let (question, _) = try transaction.openQuestions().first(where: { $0.1.id == id }),
                let until = question.until
            else { return nil }
            guard until <= .now() else { return until }
            _ = try transaction.answer(question, .declined, "nobody has answered in time: \(question.text)")
            return nil
        }
        ledger.questions.tell()
        return next
    }
}

extension Planner {
    /// Withdraws the questions about a folder that has changed since they were asked.
    ///
    /// - Parameters:
    ///   - paths: the paths under which the ledger knows the folder.
    ///   - look: nil if the folder is gone.
    /// - Returns: whether there was any open question.
    @discardableResult
    func withdrawQuestions(about paths: [BytePath], _ look: FolderLook?, in place: PlaceInfo) async throws -> Bool {
        let asking = try await ledger.read { transaction in
            try paths.flatMap { try transaction.askingJobs(about: place.name, $0) }
        }
        let outdated = try asking.filter { job in
            let file = try FileReference(stored: job.file, in: presence.places, showing: ledger.names)
            guard file.isFolder, let look else { return file.isFolder }
            return file.path != look.path || file.hash != look.contents.digest
                || file.fingerprint?.inode != look.status.inode
        }
        let why = look == nil ? "the folder is gone" : "the folder was replaced, changed or renamed"
        try await withdraw(outdated.map(\.id), why)
        return !outdated.isEmpty
    }

    func withdraw(_ asking: [String], _ why: String) async throws {
        guard !asking.isEmpty else { return }
        try await ledger.write { transaction in
            for id in asking { try transaction.withdrawQuestion(of: id, why) }
        }
        ledger.questions.tell()
    }
}
