import Ledger
import Logging
import Platform

extension Fault {
    /// The ``Fault/code`` of a step that waits for a person's word.
    package static let unanswered = "unanswered"
    /// The ``Fault/code`` of a step to which a person has said no.
    package static let declined = "declined"
}

/// Jobs that ask a person: where they stop, and what silence means.
extension JobExecutor {
    /// Records that a job waits for its answer, unless that came in between.
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
        if outcome.0 { return .again(1) }
        log.notice("\(fault.message)", metadata: fields(job))
        return .asking(until: outcome.1)
    }

    /// Takes silence for a no where a question's time is over.
    ///
    /// - Returns: when to look again; nil where the question is none any more.
    func expire(_ id: String) async throws -> Timestamp? {
        try await ledger.write { transaction in
            guard let (question, _) = try transaction.openQuestions().first(where: { $0.1.id == id }),
                let until = question.until
            else { return nil }
            guard until <= .now() else { return until }
            _ = try transaction.answer(question, .declined, "nobody has answered in time: \(question.text)")
            return nil
        }
    }
}

extension Planner {
    /// What was asked about the version of a file that has changed, got another name or gone is asked no more.
    func withdrawQuestions(about file: FileRecord?, in place: PlaceInfo, _ event: FileEvent) async throws {
        guard let file, event != .arrived,
            try await ledger.read({ try $0.hasQuestions(about: place.name, file.path) })
        else { return }
        let why = event == .removed ? "the file is gone" : "the file was \(event.rawValue) before anybody had answered"
        try await ledger.write { try $0.withdrawQuestions(place.name, file.path, why) }
    }
}
