import Platform
import Rules
import TKCore

/// What a review provides to the actions after it.
extension ReviewDraft {
    static let provided = [
        ValueSpec("review.findings", "the number of findings without an answer"),
        ValueSpec("review.new", "the number of new ones"),
        ValueSpec("review.accepted", "the number accepted in this review"),
        ValueSpec("review.skipped", "the number skipped in this review"),
        ValueSpec("review.orphaned", "how many were accepted, but could not be placed in the draft for certain"),
        ValueSpec("review.draft", "the draft's name"),
        ValueSpec("review.sidecar", "the sidecar's name"),
        ValueSpec("review.type", "the kind of text (`tk story-types list`); empty if nobody named it"),
        ValueSpec("review.stage", "its stage (`tk journey`): canvas, early, middle, late, revise or final"),
        ValueSpec("review.cycle", "the number of rounds of feedback so far"),
        ValueSpec("review.received", "the number of findings in all rounds"),
        ValueSpec("review.taken", "how many of those were accepted, edited or not"),
        ValueSpec("review.edited", "how many of those were accepted in the writer's own words"),
        ValueSpec("review.declined", "how many findings were skipped in all rounds"),
        ValueSpec("review.cost", "the cost of all advice for the draft, such as $0.0123; empty without a price"),
        ValueSpec(
            "review.trouble",
            "why a pass that asks a model gave nothing, or the draft is no text; empty where all is well"),
    ]

    static func values(_ round: ReviewRound, _ state: ReviewState, _ files: ReviewFiles) -> Values {
        let journey = state.journey ?? JourneyState()
        return [
            "review.type": .text(journey.storyType ?? ""), "review.stage": .text(journey.step),
            "review.cycle": .integer(journey.cycle), "review.received": .integer(journey.received),
            "review.taken": .integer(state.count(.accepted)), "review.edited": .integer(state.edited),
            "review.declined": .integer(state.count(.skipped)),
            "review.cost": .text(journey.cost?.description ?? ""),
            "review.findings": .integer(state.count(.pending)), "review.new": .integer(round.new.count),
            "review.accepted": .integer(round.accepted.count), "review.skipped": .integer(round.skipped.count),
            "review.orphaned": .integer(state.count(.orphaned)), "review.draft": .text(files.draft.nameText),
            "review.sidecar": .text(files.sidecar.nameText),
            "review.trouble": .text(state.unreadable ?? state.reading?.troubles.first ?? ""),
        ]
    }
}
