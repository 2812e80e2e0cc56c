/// The stages of a text (docs/design/advisors.md, "Journey").
package enum JourneyStage: String, Codable, Sendable, CaseIterable {
    case canvas, draft, revise, final
}

/// Why a step is not possible now.
package struct JourneyRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The step, the reason, and what to do.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// The way of a text from an idea to its final form: canvas, draft (early, middle, late), revise, final, and back.
///
/// Only the writer moves it. Pure: a step that is not possible is refused and changes nothing. It is part of a review's
/// state, which also holds the findings: the counts of answers come from those.
package struct JourneyState: Codable, Sendable, Hashable {
    package private(set) var stage: JourneyStage = .canvas
    /// Nil on the canvas; kept through revise and final.
    package private(set) var draftStage: DraftStage?
    /// The kind of text: the writer's choice, else that of the rule that reviews the draft.
    package private(set) var storyType: String?
    /// Whether the writer chose ``storyType``, which then counts more than the rule's.
    package private(set) var isTypeChosen = false
    /// Rounds of feedback.
    package private(set) var cycle = 0
    /// Findings over all rounds, including those that are gone by now.
    package private(set) var received = 0
    /// The cost of all answers of models, as far as prices are known; nil for none.
    package private(set) var cost: Cost?
    /// How many findings had an answer when the cycle began.
    private var answered = 0

    /// On the canvas.
    package init() {}

    // MARK: The writer's steps

    /// From the canvas to an early draft.
    ///
    /// - Parameter storyType: nil leaves it to the rule ("just start writing").
    package mutating func start(_ storyType: String?) throws(JourneyRefusal) {
        guard stage == .canvas else {
            throw JourneyRefusal("it has been started already (\(place)); go back to the canvas first")
        }
        if let storyType { (self.storyType, isTypeChosen) = (storyType, true) }
        (stage, draftStage) = (.draft, .early)
    }

    /// One step on: canvas, early, middle and late draft, revise, final.
    ///
    /// - Parameter open: the number of findings without an answer.
    package mutating func advance(open: Int) throws(JourneyRefusal) {
        switch (stage, draftStage) {
        case (.canvas, _): try start(nil)
        case (.draft, .early?): draftStage = .middle
        case (.draft, .middle?): draftStage = .late
        case (.draft, _): stage = .revise
        case (.revise, _): try finish(open: open)
        case (.final, _): try askForFeedback()
        }
    }

    /// Whether advisors may be asked for another round; refused for a final text.
    package func askForFeedback() throws(JourneyRefusal) {
        guard stage != .final else { throw JourneyRefusal("the text is final; go back to ask for more feedback") }
    }

    /// One step back, from the final text to revise, and so on to the canvas.
    package mutating func back() throws(JourneyRefusal) {
        switch (stage, draftStage) {
        case (.final, _): stage = .revise
        case (.revise, _): (stage, draftStage) = (.draft, draftStage ?? .late)
        case (.draft, .late?): draftStage = .middle
        case (.draft, .middle?): draftStage = .early
        case (.draft, _): (stage, draftStage, storyType, isTypeChosen) = (.canvas, nil, nil, false)
        case (.canvas, _): throw JourneyRefusal("it is on the canvas; start the draft")
        }
    }

    /// From revise to final, once every finding has an answer.
    ///
    /// - Parameter open: the number of findings without an answer.
    package mutating func finish(open: Int) throws(JourneyRefusal) {
        guard stage == .revise else {
            throw JourneyRefusal(
                stage == .final ? "the text is final already; nothing to do" : "it is \(place); advance to revise first"
            )
        }
        guard open == 0 else {
            throw JourneyRefusal(
                "the text cannot become final: \(open == 1 ? "1 finding has" : "\(open) findings have") no answer; take "
                    + "or skip \(open == 1 ? "it" : "them")")
        }
        stage = .final
    }

    // MARK: Feedback

    /// Counts the findings of a review. Advisors' reading begins a cycle; so do findings of a review without a model
    /// that follow answers.
    ///
    /// - Parameters:
    ///   - new: the number of new findings.
    ///   - all: the number of all that are known, which is more in states from before journeys were counted.
    ///   - answered: the number of findings with an answer so far.
    ///   - isReading: whether advisors read the draft; nil if none are asked about it.
    package mutating func receive(new: Int, inAll all: Int, answered: Int, isReading: Bool?) {
        received = max(received + new, all)
        let isNext = isReading ?? (new > 0 && (cycle == 0 || answered > self.answered))
        guard isNext else { return }
        cycle += 1
        self.answered = answered
    }

    /// Takes over the kind of text that a rule names, unless the writer chose one.
    package mutating func follow(ruleType: String?) {
        if !isTypeChosen { storyType = ruleType }
    }

    /// Adds the cost of answers.
    package mutating func spend(_ amount: Cost) { cost = (cost ?? .zero) + amount }

    /// The stage in words: `draft, early`.
    package var place: String {
        stage == .draft ? draftStage.map { "draft, \($0.rawValue)" } ?? "draft" : stage.rawValue
    }

    /// The stage in one word: `early`.
    package var step: String { stage == .draft ? draftStage?.rawValue ?? stage.rawValue : stage.rawValue }
}
