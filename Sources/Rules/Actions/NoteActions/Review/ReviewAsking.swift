import Foundation
import Platform
import Rules
import TKCore

/// A pending question to a model about a draft, with the facts that it was decided on.
struct ReviewQuestion: Codable, Sendable, Equatable {
    /// Of the draft.
    let content: ContentHash
    let settings: ContentHash
    /// As configured, for people.
    let model: String

    /// nil if no model is needed: no pass asks one, or one has read this text already.
    init?(_ draft: DraftText, _ known: ReviewState, _ settings: ReviewSettings) {
        guard settings.asksModel else { return nil }
        content = ContentHash(of: Array(draft.string.utf8))
        if ReviewRound.isKnown(known, content, settings), !known.isOwed { return nil }
        self.settings = settings.hash
        model = settings.model ?? ""
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
        guard let question = intent.question else { return intent }
        return try await services.reviews.turns.run(intent.draft) { try await plan(intent, question, context) }
    }

    private func plan(_ intent: Intent, _ question: ReviewQuestion, _ context: StepContext) async throws -> Intent {
        let (settings, services) = (settings, services)
        let files = services.files
        if let kept = try await files.run({ try Self.keptPlan(intent, context, services) }) { return kept }
        let (draft, team) = try await files.run {
            (
                try Self.unansweredDraft(intent, question, settings, services, context.files),
                try services.reviews.team(settings)
            )
        }
        var found: ModelFindings?
        if let draft {
            let mayGiveUp = context.attempt + 1 >= Self.tries
            found = try await context.whileCurrent {
                try await services.reviews.models.ask(draft, settings, team, mayGiveUp: mayGiveUp, pool: files)
            }
        }
        let models = found
        return try await files.run {
            if try Self.text(intent.draft, context.files).map({ ContentHash(of: Array($0.string.utf8)) })
                != question.content
            {
                throw ReviewWriting.changed(intent.draft)
            }
            let plan = try Self.decide(
                intent.draft, root: intent.root, settings, services, context.files, models: models,
                saved: intent.saved ?? "")
            guard plan.question == nil else { throw ReviewWriting.changed(intent.draft) }
            try services.reviews.plans.write(plan, try Self.key(intent, context))
            FaultPoint.reach("review decided")
            return plan
        }
    }

    /// The draft as it was when the question arose; nil if another job got it answered since.
    private static func unansweredDraft(
        _ intent: Intent, _ question: ReviewQuestion, _ wanted: ReviewSettings, _ services: ReviewServices,
        _ held: HeldFiles
    ) throws -> DraftText? {
        guard let draft = try text(intent.draft, held) else {
            throw Fault(.superseded, "\(intent.draft) is gone, so there is nothing to review", path: intent.draft)
        }
        let settings = inForce(wanted, services)
        let known = try state(ReviewFiles(draft: intent.draft), held).state
        guard let now = ReviewQuestion(draft, known, settings) else { return nil }
        guard now == question else { throw ReviewWriting.changed(intent.draft) }
        return draft
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
        guard intent.question != nil || intent.moved != nil else { return intent }
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
        guard intent.question != nil || intent.moved != nil else { return }
        try services.reviews.plans.remove(try key(intent, context))
    }
}
