import Platform
import Synchronization

/// A question a step asks a person before its job goes on.
package struct QuestionRecord: Sendable, Equatable {
    package enum Answer: String, Sendable, Codable {
        case confirmed, declined
    }

    /// The id of the step that asks.
    package var step: String
    package var job: String
    /// One line of text for a person.
    package var text: String
    package var asked: Timestamp
    /// When silence becomes a no; nil means never.
    package var until: Timestamp?
    /// The note with the checkbox, absolute; nil for none.
    package var note: BytePath?
    /// The anchor of the block with the checkbox; nil if there is none or it was closed.
    package var token: String?
    package var answer: Answer?

    package init(
        step: String, job: String, text: String, asked: Timestamp, until: Timestamp?, note: BytePath? = nil,
        token: String? = nil
    ) {
        self.step = step
        self.job = job
        self.text = text
        self.asked = asked
        self.until = until
        self.note = note
        self.token = token
        answer = nil
    }
}

/// Notifies when a question is asked, answered or withdrawn.
package final class QuestionWatch: Sendable {
    private let listener = Mutex<(@Sendable () -> Void)?>(nil)

    package func listen(_ listener: (@Sendable () -> Void)?) { self.listener.withLock { $0 = listener } }

    /// Called after the commit.
    package func tell() { listener.withLock { $0 }?() }
}

extension LedgerTransaction {
    /// The questions whose checkboxes must be closed: they were answered, or their jobs ended without an answer.
    package func boxesToClose() throws -> [QuestionRecord] {
        try all(
            """
            SELECT question.* FROM question JOIN job ON job.id = question.job
            WHERE question.note IS NOT NULL AND question.token IS NOT NULL AND (question.answer IS NOT NULL
                OR job.state IN ('done', 'undone', 'superseded', 'declined', 'refused', 'handled'))
            ORDER BY question.asked, question.step
            """, [], QuestionRecord.init(row:))
    }

    /// Records that a question's checkbox needs no more work.
    package func setBoxClosed(_ step: String) throws {
        try execute("UPDATE question SET token = NULL WHERE step = ?", [step])
    }

    /// The question asked by a step.
    package func question(step: String) throws -> QuestionRecord? {
        try first("SELECT * FROM question WHERE step = ?", [step], QuestionRecord.init(row:))
    }

    /// Adds a question; an existing one of the same step stays as it is.
    package func addQuestion(_ question: QuestionRecord) throws {
        try execute(
            """
            INSERT INTO question (step, job, text, asked, until, note, token) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (step) DO NOTHING
            """,
            [
                question.step, question.job, question.text, question.asked, question.until,
                question.note, question.token,
            ])
    }

    /// Questions that are still to be answered, with their jobs, in planning order.
    ///
    /// - Parameters:
    ///   - rule: the rule of their jobs; nil for any.
    ///   - note: the note with their checkboxes; nil for any question.
    package func openQuestions(rule: String? = nil, note: BytePath? = nil) throws -> [(QuestionRecord, JobRecord)] {
        try jobs(in: [.asking]).filter { rule == nil || $0.rule == rule }.compactMap { job in
            let question = try first(
                "SELECT * FROM question WHERE job = ? AND answer IS NULL", [job.id], QuestionRecord.init(row:))
            guard let question, note == nil || question.note == note else { return nil }
            return (question, job)
        }
    }

    /// Whether any open question has its checkbox in this note.
    package func hasQuestions(in note: BytePath) throws -> Bool {
        try exists("SELECT 1 FROM question WHERE note = ? AND note IS NOT NULL AND answer IS NULL", [note])
    }

    /// Records a person's answer. A job waiting for it becomes ready, or ends if the answer is no.
    ///
    /// - Parameter why: for the history: who answered, and how.
    /// - Returns: the updated job; nil if the question was already answered or its job has ended.
    package func answer(
        _ question: QuestionRecord, _ answer: QuestionRecord.Answer, _ why: String
    ) throws -> JobRecord? {
        guard let open = try self.question(step: question.step), open.answer == nil,
            var job = try job(question.job), job.state == .asking || job.state.isOpen
        else { return nil }
        try execute(
            "UPDATE question SET answer = ? WHERE step = ?", [answer.rawValue, question.step])
        if job.state == .asking {
            job.state = answer == .confirmed ? .ready : .declined
            job.problem = answer == .confirmed ? nil : why
            try update(job)
        }
        try note(answer.rawValue, why, job: job.id, place: job.place, path: job.path)
        return job
    }

    /// The jobs with a question about the file or folder that is there now.
    package func askingJobs(about place: String, _ path: BytePath) throws -> [JobRecord] {
        try names.forms(place, path).flatMap { form in
            try all(
                """
                SELECT * FROM job
                WHERE state = 'asking' AND coalesce(nowPlace, place) = ? AND coalesce(nowPath, path) = ?
                """, [place, form], job)
        }
    }

    /// Ends a job that asks about a file that has changed or is gone, so that it can be planned again.
    package func withdrawQuestion(of id: String, _ why: String) throws {
        guard var job = try job(id), job.state == .asking else { return }
        job.state = .superseded
        job.problem = why
        try update(job)
        try note("superseded", why, job: id, place: job.place, path: job.path)
    }
}

extension QuestionRecord {
    init(row: any SQLRow) throws {
        step = try row["step"]
        job = try row["job"]
        text = try row["text"]
        asked = try row["asked"]
        until = try row["until"]
        note = try row["note"]
        token = try row["token"]
        answer = try (row["answer"] as String?).flatMap(Answer.init)
    }
}
