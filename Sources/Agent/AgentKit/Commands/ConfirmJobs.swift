import Ledger
import Logging
import NoteActions
import Platform
import Rules

/// `steward confirm`: says yes to one job, to all jobs of a rule, or to all.
package struct ConfirmJobs: Command {
    package static let name = "confirm"
    /// The beginning of a job's id; nil for all.
    private let job: String?
    /// Limits the command to jobs of this rule; only without a job.
    private let rule: String?

    package init(job: String?, rule: String?) { (self.job, self.rule) = (job, rule) }

    package func run(in agent: AgentContext) async throws -> [JobLine] {
        let answers = JobAnswers(agent)
        if let job { return [try await answers.give(.confirmed, to: try await agent.job(job))] }
        var lines: [JobLine] = []
        for (question, _) in try await agent.ledger.read({ try $0.openQuestions(rule: rule) }) {
            guard let job = try await answers.record(.confirmed, to: question, "confirmed by command") else { continue }
            lines.append(JobLine(job, "confirmed: \(question.text)"))
        }
        return lines
    }

    package func lines(_ answer: [JobLine]) -> [String] {
        if !answer.isEmpty { return answer.map(\.line) }
        return [rule.map { "no job of \"\($0)\" asks anything" } ?? "no job asks anything"]
    }
}

/// `steward decline`: says no. The job ends, and its remaining steps are skipped.
package struct DeclineJob: Command {
    package static let name = "decline"
    /// The beginning of its id.
    private let job: String

    package init(_ job: String) { self.job = job }

    package func run(in agent: AgentContext) async throws -> [JobLine] {
        [try await JobAnswers(agent).give(.declined, to: try await agent.job(job))]
    }

    package func lines(_ answer: [JobLine]) -> [String] { answer.map(\.line) }
}

/// A pending question, as `steward confirm` shows it.
package struct OpenQuestion: Codable, Sendable {
    package let job: String
    package let rule: String
    package let place: String
    package let path: BytePath
    package let text: String
    package let asked: Timestamp
    /// When no answer becomes a no.
    package let until: Timestamp?
    /// The note that contains the box.
    package let note: BytePath?

    fileprivate var lines: [String] {
        [
            "\(job.prefix(12))  \(text)",
            "    \(rule), \(place)/\(path), asked \(asked)"
                + (until.map { ", until \($0)" } ?? "") + (note.map { ", in \($0)" } ?? ""),
        ]
    }
}

/// `steward confirm` without a job: the pending questions, in the order in which the jobs were planned.
package struct ListQuestions: Query {
    package static let name = "questions"

    package init() {}

    package func read(_ records: Records) async throws -> [OpenQuestion] {
        try await records.ledger?.read { transaction in
            try transaction.openQuestions().map { question, job in
                OpenQuestion(
                    job: job.id, rule: job.rule, place: job.place, path: job.path, text: question.text,
                    asked: question.asked, until: question.until, note: question.note)
            }
        } ?? []
    }

    package func lines(_ answer: [OpenQuestion]) -> [String] {
        answer.isEmpty ? ["no job asks anything"] : answer.flatMap(\.lines)
    }
}

/// Answers to the questions of jobs, by command or by ticking a box in a note.
struct JobAnswers {
    private let core: AgentCore
    /// nil if no agent is running.
    private let runner: Runner?

    init(_ core: AgentCore, _ runner: Runner?) { (self.core, self.runner) = (core, runner) }

    fileprivate init(_ agent: AgentContext) { self.init(agent.core, agent.agent?.runner) }

    /// - Throws: `Fault(.usage)` if the job has no open question.
    func give(_ answer: QuestionRecord.Answer, to job: JobRecord) async throws -> JobLine {
        let open = try await core.ledger.read { try $0.openQuestions() }
        guard let (question, _) = open.first(where: { $0.1.id == job.id }) else {
            throw Fault(
                .usage,
                "the job \(job.id.prefix(12)) is \(job.state.rawValue) and asks nothing; `steward confirm` lists those that do"
            )
        }
        guard try await record(answer, to: question, "\(answer.rawValue) by command") != nil else {
            throw Fault(.usage, "the job \(job.id.prefix(12)) has just been answered")
        }
        return JobLine(job, "\(answer.rawValue): \(question.text)")
    }

    func record(
        _ answer: QuestionRecord.Answer, to question: QuestionRecord, _ why: String
    ) async throws -> JobRecord? {
        let job = try await core.ledger.write { try $0.answer(question, answer, "\(why): \(question.text)") }
        core.ledger.questions.tell()
        if let job, job.state == .ready {
            await runner?.submit([(job.id, job.whereabouts.place, job.whereabouts.path)])
        }
        return job
    }

    /// Takes ticked boxes in a saved note as answers.
    ///
    /// - Parameter note: absolute.
    /// - Returns: whether there were any that count (``TickPolicy``).
    func takeAnswers(in note: BytePath) async throws -> Bool {
        guard try await core.ledger.read({ try $0.hasQuestions(in: note) }) else { return false }
        let open = try await core.ledger.read { try $0.openQuestions(note: note) }
        let (files, policy, places) = (core.journal.files(), core.configuration.ticks, core.configuration.map)
        let ticks = try await BlockingPool("questions").run { () -> [Tick] in
            guard try files.status(note)?.kind == .file else { return [] }
            // Permissions are checked on the very file that was read, even if it has been replaced since.
            let file = try files.file(note)
            let bytes = try file.readAll(limit: 64 << 20)
            return try open.compactMap { question, job in
                guard let token = question.token, let isYes = QuestionBox.answer(to: token, in: bytes) else {
                    return nil
                }
                let place = places[name: job.whereabouts.place]
                let asked = try place.flatMap { try files.status($0.root.appending(job.whereabouts.path)) }?.owner
                return Tick(
                    question: question, job: job, isYes: isYes, objection: try policy.objection(to: file, asked: asked))
            }
        }
        for tick in ticks {
            if let objection = tick.objection {
                try await pass(over: tick, in: note, objection)
            } else {
                let how = tick.isYes ? "ticked in \(note)" : "declined in \(note)"
                _ = try await record(tick.isYes ? .confirmed : .declined, to: tick.question, how)
            }
        }
        return ticks.contains { $0.objection == nil }
    }

    /// A ticked box.
    private struct Tick {
        let question: QuestionRecord
        let job: JobRecord
        let isYes: Bool
        /// Why it does not count; nil if it does.
        let objection: String?
    }

    private func pass(over tick: Tick, in note: BytePath, _ objection: String) async throws {
        let message = """
            a tick in \(note) does not count, because \(objection), and `confirm` in steward.yaml lets others answer: \
            \(tick.question.text) (`steward confirm \(tick.job.id.prefix(12))` counts)
            """
        try await core.ledger.write {
            try $0.note("asking", message, job: tick.job.id, place: tick.job.place, path: tick.job.path)
        }
        core.log.warning("\(message)", metadata: LogFields.job(tick.job.id))
    }
}
