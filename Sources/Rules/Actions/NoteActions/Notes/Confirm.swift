import FileActions
import Foundation
import Ledger
import Platform
import Rules

/// Asks a person and waits for a yes, by command or by a ticked box in a note (`docs/design/shape.md`).
struct Confirm: ExternalAction {
    static let declaration = ActionDeclaration(
        name: "confirm", summary: "Asks a person before the steps that follow, and waits for `steward confirm`.",
        guarantee: .exactlyOnce, work: .disk, canUndo: true, takes: .both,
        parameters: [
            ParameterSpec("text", .template, required: true, "the question, in one line"),
            ParameterSpec(
                "note", .template,
                "a note that gets the question with a box to tick: `today` for the daily note, else a path below the "
                    + "vault; a saved tick is a yes"),
            ParameterSpec("place", .place, "the vault; needed only where there are several places of kind `notes`"),
            ParameterSpec("heading", .template, default: "Questions", "the H2 above the box"),
            ParameterSpec("within", .duration, "how long it waits: no answer by then is a no"),
        ],
        example: "confirm: { text: \"Delete {{ file.name }}?\", within: 7d }")

    private let arguments: Arguments
    private let services: NoteServices
    /// Writes the box; nil if the rule names no note.
    private let block: QuestionBlock?

    init(_ arguments: Arguments, _ services: NoteServices) throws {
        self.arguments = arguments
        self.services = services
        block = arguments.has("note") ? try QuestionBlock(arguments, services) : nil
    }

    struct Intent: Codable, Sendable, Equatable {
        let job: String
        let step: String
        let text: IntentText
        /// When silence becomes a no.
        let until: Timestamp?
        /// The box; nil for none.
        let request: NoteRequest?
    }

    func intent(for input: StepInput) async throws -> Intent {
        let text = try arguments.lineText("text", values: input.values)
        let until = try arguments.has("within") ? Timestamp.now().adding(seconds: arguments.duration("within")) : nil
        return Intent(
            job: input.jobID, step: input.stepID, text: IntentText(text), until: until,
            request: try await block?.request(for: input))
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        let ledger = services.journal.ledger
        let known = try await ledger.read { try $0.question(step: intent.step) }
        let question: QuestionRecord
        if let known {
            question = known
        } else {
            var token: String?
            if let request = intent.request {
                token = try await services.notes.written(step: intent.step)
                if token == nil { token = try await services.notes.append(request) }
            }
            question = QuestionRecord(
                step: intent.step, job: intent.job, text: try intent.text.text(), asked: .now(), until: intent.until,
                note: intent.request?.note, token: token)
            try await ledger.write { [question] in try $0.addQuestion(question) }
        }
        switch question.answer {
        case .confirmed: return Self.receipt(question)
        case .declined:
            throw Fault(.failed, "somebody answered no: \(question.text)", code: Fault.declined)
        case nil:
            throw Fault(
                .transient,
                "\(question.text) (`steward confirm \(intent.job.prefix(12))` or `steward decline "
                    + "\(intent.job.prefix(12))`)", code: Fault.unanswered)
        }
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        let question = try await services.journal.ledger.read { try $0.question(step: intent.step) }
        guard let question, question.answer == .confirmed else { return .notDone }
        return .done(Self.receipt(question))
    }

    /// No-op, because an answer has changed nothing.
    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        Receipt("the answer is kept")
    }

    func summary(of intent: Intent) -> String { "ask a person: \(intent.text.shown)" }

    var destinations: [String] { block.map { [$0.vault.name] } ?? [] }

    private static func receipt(_ question: QuestionRecord) -> Receipt { Receipt("confirmed: \(question.text)") }
}
