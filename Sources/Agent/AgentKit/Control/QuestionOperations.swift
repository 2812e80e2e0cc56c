import Ledger
import NoteWriting
import Platform
import Rules

/// What jobs ask of a person: shown, and answered.
extension Operations {
    /// A question that waits, as `steward confirm` shows it.
    package struct Question: Codable, Sendable {
        package let job: String
        package let rule: String
        package let place: String
        package let path: BytePath
        package let text: String
        package let asked: Timestamp
        /// When silence becomes a no.
        package let until: Timestamp?
        /// The note that holds the box.
        package let note: BytePath?

        package var lines: [String] {
            [
                "\(job.prefix(12))  \(text)",
                "    \(rule), \(place)/\(path), asked \(asked)"
                    + (until.map { ", until \($0)" } ?? "") + (note.map { ", in \($0)" } ?? ""),
            ]
        }
    }

    /// The questions that wait, in the order in which their jobs were planned.
    package static func questions(in ledger: Ledger) async throws -> [Question] {
        try await ledger.read { transaction in
            try transaction.openQuestions().map { question, job in
                Question(
                    job: job.id, rule: job.rule, place: job.place, path: job.path, text: question.text,
                    asked: question.asked, until: question.until, note: question.note)
            }
        }
    }

    /// Says yes: to one job, or to all of a rule, or to all.
    ///
    /// - Parameters:
    ///   - id: the beginning of a job's id; nil for all.
    ///   - rule: whose jobs alone are meant; only without an id.
    package func confirm(_ id: String?, rule: String?) async throws -> ControlReply {
        if let id { return try await answer(try await job(id), .confirmed, "confirmed by command") }
        let open = try await core.ledger.read { try $0.openQuestions(rule: rule) }
        if open.isEmpty {
            return ControlReply(
                [rule.map { "no job of \"\($0)\" asks anything" } ?? "no job asks anything"], json: "[]")
        }
        var lines: [JobLine] = []
        for (question, _) in open {
            guard let job = try await record(.confirmed, to: question, "confirmed by command") else { continue }
            lines.append(JobLine(job: job.id, rule: job.rule, message: "confirmed: \(question.text)"))
        }
        return try ControlReply(lines, lines: lines.map { "\($0.job.prefix(12))  \($0.rule): \($0.message)" })
    }

    /// Says no: the job ends, and the steps that follow are not done.
    package func decline(_ id: String) async throws -> ControlReply {
        try await answer(try await job(id), .declined, "declined by command")
    }

    private func answer(
        _ job: JobRecord, _ answer: QuestionRecord.Answer, _ why: String
    ) async throws -> ControlReply {
        let open = try await core.ledger.read { try $0.openQuestions() }
        guard let (question, _) = open.first(where: { $0.1.id == job.id }) else {
            throw Fault(
                .usage,
                "the job \(job.id.prefix(12)) is \(job.state.rawValue) and asks nothing; `steward confirm` shows which do"
            )
        }
        guard try await record(answer, to: question, why) != nil else {
            throw Fault(.usage, "the job \(job.id.prefix(12)) has been answered a moment ago")
        }
        let line = JobLine(job: job.id, rule: job.rule, message: "\(answer.rawValue): \(question.text)")
        return try ControlReply([line], lines: ["\(job.id.prefix(12))  \(job.rule): \(line.message)"])
    }

    private func record(
        _ answer: QuestionRecord.Answer, to question: QuestionRecord, _ why: String
    ) async throws -> JobRecord? {
        let job = try await core.ledger.write { try $0.answer(question, answer, "\(why): \(question.text)") }
        if let job, job.state == .ready {
            await runner?.submit([(job.id, job.whereabouts.place, job.whereabouts.path)])
        }
        return job
    }

    /// Takes the boxes that were ticked in a note, which has been saved, for answers.
    ///
    /// - Parameter note: absolute.
    /// - Returns: whether there were any.
    package func takeAnswers(in note: BytePath) async throws -> Bool {
        guard try await core.ledger.read({ try $0.hasQuestions(in: note) }) else { return false }
        let open = try await core.ledger.read { try $0.openQuestions(note: note) }
        let files = core.journal.files()
        let bytes = try await BlockingLane("questions").run { () -> [UInt8]? in
            guard try files.status(note)?.kind == .file else { return nil }
            return try files.file(note).readAll(limit: 64 << 20)
        }
        guard let bytes else { return false }
        var isAny = false
        for (question, _) in open {
            guard let token = question.token, let isYes = QuestionBox.answer(to: token, in: bytes) else { continue }
            _ = try await record(
                isYes ? .confirmed : .declined, to: question, isYes ? "ticked in \(note)" : "declined in \(note)")
            isAny = true
        }
        return isAny
    }
}
