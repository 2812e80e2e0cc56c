import Foundation
import Platform
import Rules
import TKCore

/// That a model is to be asked about a draft, and what was known of it when that was decided.
struct ReviewQuestion: Codable, Sendable, Equatable {
    /// Of the draft.
    let content: ContentHash
    let settings: ContentHash
    /// As it is configured, for people.
    let model: String

    /// Nil where nobody is to be asked: the passes need no model, or one has read this text already.
    init?(_ draft: DraftText, _ known: ReviewState, _ settings: ReviewSettings) {
        guard settings.asksModel else { return nil }
        content = ContentHash(of: Array(draft.string.utf8))
        if ReviewRound.isKnown(known, content, settings), !known.isOwed { return nil }
        self.settings = settings.hash
        model = settings.model ?? ""
    }
}

/// The part of a review that waits for a model. Answers are on the disk before they are read, and what follows from them
/// is before it is written: wherever the agent is killed, the next life pays for nothing again and writes the same.
extension ReviewDraft {
    /// So often a model that cannot be reached is asked in vain before the review goes on without it.
    private static let tries = 5

    /// What is to be written: the intent itself, or what follows from the answers to its question.
    func plan(_ intent: Intent, _ context: StepContext) async throws -> Intent {
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
            found = try await services.reviews.models.ask(
                draft, settings, team, mayGiveUp: context.attempt + 1 >= Self.tries, lanes: files)
        }
        let models = found
        return try await files.run {
            if try Self.text(intent.draft, context.files).map({ ContentHash(of: Array($0.string.utf8)) })
                != question.content
            {
                throw ReviewWriting.changed(intent.draft)
            }
            let plan = try Self.decide(
                intent.draft, root: intent.root, settings, services, context.files, models: models)
            guard plan.question == nil else { throw ReviewWriting.changed(intent.draft) }
            try services.reviews.plans.write(plan, try Self.key(intent, context))
            FaultPoint.reach("review decided")
            return plan
        }
    }

    /// The draft as it was when the question arose; nil where another job has had it answered since.
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

    private static func key(_ intent: Intent, _ context: StepContext) throws -> ContentHash {
        // By their names, since texts that the step itself alone needed are not there when it is undone.
        let json = try LedgerJSON.encode(intent, naming: NamedTexts())
        return ContentHash(of: Array(context.stepID.utf8) + [0] + Array(json.utf8))
    }

    /// The intent itself, or what was decided when its question was answered; nil where it was not. Blocks.
    static func keptPlan(_ intent: Intent, _ context: StepContext, _ services: ReviewServices) throws -> Intent? {
        guard intent.question != nil else { return intent }
        return try services.reviews.plans.read(Intent.self, try key(intent, context))
    }

    /// What was decided when the step was to be undone; nil where nothing was. Blocks.
    static func keptUndo(_ intent: Intent, _ context: StepContext, _ services: ReviewServices) throws -> Intent? {
        try services.reviews.plans.read(Intent.self, try undoKey(intent, context))
    }

    /// Keeps what is going to be written so that the step is undone. Blocks.
    static func keepUndo(
        _ undo: Intent, of intent: Intent, _ context: StepContext, _ services: ReviewServices
    ) throws {
        try services.reviews.plans.write(undo, try undoKey(intent, context))
    }

    private static func undoKey(_ intent: Intent, _ context: StepContext) throws -> ContentHash {
        ContentHash(of: Array("undo".utf8) + (try key(intent, context)).bytes)
    }

    static func forgetPlan(_ intent: Intent, _ context: StepContext, _ services: ReviewServices) throws {
        guard intent.question != nil else { return }
        try services.reviews.plans.remove(try key(intent, context))
    }
}
