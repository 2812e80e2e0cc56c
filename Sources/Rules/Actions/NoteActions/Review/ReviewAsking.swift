import Foundation
import Platform
import Rules
import TKCore

/// A pending question to a model or a program about a draft, with the facts that it was decided on.
struct ReviewQuestion: Codable, Sendable, Equatable {
    /// Of the draft.
    let content: ContentHash
    let settings: ContentHash
    /// As configured, for people.
    let model: String
    /// Whether the passes have to read the draft; nil in what an older version stored, as true.
    var reads: Bool?
    /// The number of findings that the sidecar asks about with `[?]`; nil as 0.
    var asked: Int?
    /// nil without a program.
    var program: ReviewProgram?

    /// nil if nobody is to be asked: no pass does, or this text has been read already, and no model is asked about a
    /// finding.
    ///
    /// - Parameter reads: whether the passes may read the draft now. A final text is read no more.
    init?(
        _ draft: DraftText, _ known: ReviewState, _ settings: ReviewSettings, reads: Bool = true, asked: Int = 0,
        program: ReviewProgram? = nil
    ) {
        guard settings.asksOthers else { return nil }
        let asked = settings.asksModel ? asked : 0
        self.program = program
        content = ContentHash(of: Array(draft.string.utf8))
        let isRead = known.journey?.stage == .final || ReviewRound.isKnown(known, content, settings) && !known.isOwed
        guard reads && !isRead || asked > 0 else { return nil }
        self.reads = reads && !isRead
        self.asked = asked
        self.settings = settings.hash
        model = settings.model ?? ""
    }

    /// For the log.
    func summary(_ settings: ReviewSettings, _ draft: BytePath) -> String {
        let advisors = settings.advisors.joined(separator: ", ")
        guard reads == true else { return "asks \(advisors) about findings in \(draft.nameText) by way of \(model)" }
        var readers: [String] = []
        if settings.asksModel { readers.append("\(advisors) read \(draft.nameText) by way of \(model)") }
        if let program { readers.append("\(program.name) read \(draft.nameText)") }
        return "has " + readers.joined(separator: ", and ")
    }

    /// Whether it was decided on the same facts, whatever it asks.
    func isBased(on other: ReviewQuestion) -> Bool {
        content == other.content && settings == other.settings && model == other.model && program == other.program
    }
}

/// The part of a review that waits for a model. Answers are durable before they are read, and the plan made from them
/// is durable before it is written. After a crash at any point, no answer is paid for twice and the same plan is
/// written.
extension ReviewDraft {
    /// Attempts to reach a model before the review goes on without it.
    private static let tries = 5

    /// The plan to write: the intent itself, or one made from the answers to its question.
    func plan(_ intent: Intent, _ context: StepContext) async throws -> Intent {
        if let move = intent.moved { return try await plan(intent, after: move, context) }
        if let question = intent.question {
            return try await services.reviews.turns.run(intent.draft) { try await plan(intent, question, context) }
        }
        guard let editing = intent.editing else { return intent }
        return try await services.reviews.turns.run(intent.draft) { try await plan(intent, editing, context) }
    }

    private func plan(_ intent: Intent, _ question: ReviewQuestion, _ context: StepContext) async throws -> Intent {
        let (settings, services, files) = (settings, services, services.files)
        if let kept = try await files.run({ try Self.keptPlan(intent, context, services) }), kept.waits == nil {
            return kept
        }
        let owed = try await files.run { try Self.owed(intent, question, settings, services, context.files) }
        let request = intent.editing?.request
        // What is ticked beside a `[?]` does not wait for the model.
        if let request, !request.accepted.isEmpty { _ = try await answeredInEditor(intent.draft, request) }
        var (found, given): (ModelFindings?, GivenProposals?)
        if let owed {
            let (models, mayGiveUp) = (services.reviews.models, context.attempt + 1 >= Self.tries)
            let runner = runner
            (found, given) = try await context.whileCurrent {
                var heard: ModelFindings?
                if owed.reads {
                    var found = ModelFindings()
                    if owed.settings.asksModel {
                        found = try await models.ask(
                            owed.draft, known: owed.known, owed.settings, owed.team, mayGiveUp: mayGiveUp, pool: files)
                    }
                    if let runner, let program = question.program {
                        try await program.read(owed.draft, intent.draft, by: runner, context, &found)
                    }
                    heard = found
                }
                guard owed.settings.asksModel else { return (heard, nil) }
                return (
                    heard,
                    try await models.another(
                        owed.asked, given: owed.given, owed.draft, known: owed.known, owed.settings, owed.team,
                        mayGiveUp: mayGiveUp, pool: files)
                )
            }
        }
        if given == nil, question.reads == false { given = GivenProposals() }
        let (models, proposals) = (found, given)
        let reply = try await answeredInEditor(
            intent.draft, request ?? EditorRequest(draft: intent.draft, content: question.content))
        return try await files.run {
            if try Self.text(intent.draft, context.files).map({ ContentHash(of: Array($0.string.utf8)) })
                != question.content
            {
                throw ReviewWriting.changed(intent.draft)
            }
            let plan = try Self.decide(
                intent.editing?.file ?? intent.draft, root: intent.root, settings, services, context.files,
                models: models, proposals: proposals, reply: reply, saved: intent.saved ?? "")
            guard !plan.isPlannedLater else { throw ReviewWriting.changed(intent.draft) }
            try services.reviews.plans.write(plan, try Self.key(intent, context))
            FaultPoint.reach("review decided")
            return plan
        }
    }

    /// What a model has to answer.
    private struct Owed: Sendable {
        let draft: DraftText
        let known: ReviewState
        let settings: ReviewSettings
        let team: ReviewTeam
        let reads: Bool
        /// As in ``SidecarQuestions``.
        let asked: [String: String]
        /// Those that need no model.
        let given: GivenProposals
    }

    /// The question's facts as they were when it arose; nil if another job got it answered since.
    private static func owed(
        _ intent: Intent, _ question: ReviewQuestion, _ wanted: ReviewSettings, _ services: ReviewServices,
        _ held: HeldFiles
    ) throws -> Owed? {
        guard let draft = try text(intent.draft, held) else {
            throw Fault(.superseded, "\(intent.draft) is gone, so there is nothing to review", path: intent.draft)
        }
        let files = ReviewFiles(draft: intent.draft)
        let known = try state(files, held).state
        let settings = try inForce(
            wanted, intent.draft, root: intent.root, known.journey, services, held
        ).settings
        let asked = SidecarQuestions.asked(in: try text(files.sidecar, held)?.string, of: known)
        guard
            let now = ReviewQuestion(
                draft, known, settings, reads: question.reads ?? true, asked: asked.count, program: question.program)
        else { return nil }
        guard now.isBased(on: question) else { throw ReviewWriting.changed(intent.draft) }
        return Owed(
            draft: draft, known: known, settings: settings, team: try services.reviews.team(settings),
            reads: now.reads ?? true, asked: asked,
            given: try GivenProposals(
                to: asked, about: draft, known, asksModel: settings.asksModel, quick: services.reviews.quickPass))
    }

    // MARK: Plans

    static func key(_ intent: Intent, _ context: StepContext) throws -> ContentHash {
        // Encode texts by name: those that only the step needed no longer exist at undo.
        let json = try LedgerJSON.encode(intent, naming: NamedTexts())
        return ContentHash(of: Array(context.stepID.utf8) + [0] + Array(json.utf8))
    }

    /// The intent itself, or the plan made when its question was answered or the review had moved; nil if that has not
    /// happened. Blocks.
    static func keptPlan(_ intent: Intent, _ context: StepContext, _ services: ReviewServices) throws -> Intent? {
        guard intent.isPlannedLater else { return intent }
        return try services.reviews.plans.read(Intent.self, try key(intent, context))
    }

    /// The plan to undo the step; nil if there is none. Blocks.
    static func keptUndo(_ intent: Intent, _ context: StepContext, _ services: ReviewServices) throws -> Intent? {
        try services.reviews.plans.read(Intent.self, try undoKey(intent, context))
    }

    /// Stores the plan to undo the step. Blocks.
    static func keepUndo(
        _ undo: Intent, of intent: Intent, _ context: StepContext, _ services: ReviewServices
    ) throws {
        try services.reviews.plans.write(undo, try undoKey(intent, context))
    }

    private static func undoKey(_ intent: Intent, _ context: StepContext) throws -> ContentHash {
        ContentHash(of: Array("undo".utf8) + (try key(intent, context)).bytes)
    }

    static func forgetPlan(_ intent: Intent, _ context: StepContext, _ services: ReviewServices) throws {
        guard intent.isPlannedLater else { return }
        try services.reviews.plans.remove(try key(intent, context))
    }
}
