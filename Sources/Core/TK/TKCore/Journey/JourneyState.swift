/// The stages of a text (docs/design/advisors.md, "Journey").
public enum JourneyStage: String, Codable, Sendable, CaseIterable {
    case canvas, draft, revise, final
}

/// An event in a journey.
public enum JourneyEvent: Sendable, Hashable {
    /// Canvas to draft, with the kind of text and the advisors, or with neither ("just start writing").
    case start(storyType: String?, advisors: [String])
    /// Draft to canvas: choose the kind of text again.
    case reconsider
    case setDraftStage(DraftStage)
    case setAdvisors([String])
    /// Findings of a round of feedback: draft to revise, another round within revise, or final back to revise.
    case receive([Suggestion])
    case accept(String)
    case edit(String, text: String)
    case skip(String)
    /// An answered comment becomes pending again.
    case reopen(String)
    /// Revise or final to draft: the writer continues writing.
    case resumeDraft
    /// Revise to final: every comment is answered.
    case finish
}

/// Why an event is not allowed now.
public struct JourneyRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The event, the reason, and what to do.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// The state of a text on its way from an idea to its final form: canvas, draft, revise, final, and back. Pure: an
/// event yields the next state or is refused, and a refused one changes nothing.
public struct JourneyState: Codable, Sendable, Hashable {
    /// The current stage.
    public private(set) var stage: JourneyStage = .canvas
    /// Nil on the canvas; kept through revise and final.
    public private(set) var draftStage: DraftStage?
    /// The kind of text; nil if the writer skipped the choice.
    public private(set) var storyType: String?
    /// Ids of advisors, each once, at most ten.
    public private(set) var advisors: [String] = []
    /// In order of arrival.
    public private(set) var comments: [ReviewComment] = []
    /// Rounds of feedback received.
    public private(set) var revisionCycle = 0
    /// Over all rounds, including comments that are gone by now.
    public private(set) var totalReceived = 0
    /// Accepted proposals, edited or not.
    public private(set) var totalAccepted = 0
    /// The part of ``totalAccepted`` that was edited.
    public private(set) var totalEdited = 0
    /// Declined ones.
    public private(set) var totalSkipped = 0

    /// The maximum number of advisors for a text.
    public static let mostAdvisors = 10

    /// On the canvas.
    public init() {}

    /// The unanswered comments.
    public var pending: [ReviewComment] { comments.filter { $0.status == .pending } }

    /// Whether the review is done, so that the text may become final.
    public var isFullyAnswered: Bool { stage == .revise && pending.isEmpty }

    /// The state after an event.
    public func applying(_ event: JourneyEvent) throws(JourneyRefusal) -> JourneyState {
        var next = self
        try next.apply(event)
        return next
    }

    /// - Throws: the problem and the remedy; nothing has changed then.
    public mutating func apply(_ event: JourneyEvent) throws(JourneyRefusal) {
        switch event {
        case .start(let type, let ids):
            try require([.canvas], "start a draft", "go back to the canvas first")
            try check(ids)
            (storyType, advisors) = (type, ids)
            (stage, draftStage) = (.draft, .early)
        case .reconsider:
            try require([.draft], "go back to the canvas", "go back to the draft first")
            (stage, draftStage) = (.canvas, nil)
        case .setDraftStage(let value):
            try require([.draft, .revise], "set the stage of the draft", "start or resume the draft first")
            draftStage = value
        case .setAdvisors(let ids):
            try require([.canvas, .draft, .revise], "choose advisors", "resume the draft first")
            try check(ids)
            advisors = ids
        case .receive(let suggestions):
            try receive(suggestions)
        case .accept(let id):
            try answer(id, .accepted, nil)
            totalAccepted += 1
        case .edit(let id, let text):
            try answer(id, .edited, text)
            totalAccepted += 1
            totalEdited += 1
        case .skip(let id):
            try answer(id, .skipped, nil)
            totalSkipped += 1
        case .reopen(let id):
            try reopen(id)
        case .resumeDraft:
            try require([.revise, .final], "go on with the draft", "there is nothing to go back from")
            stage = .draft
        case .finish:
            try require([.revise], "call the text final", "have it reviewed first")
            guard pending.isEmpty else {
                throw JourneyRefusal(
                    "the text cannot become final: \(pending.count) of \(comments.count) comments have no answer; "
                        + "accept, edit or skip them")
            }
            stage = .final
        }
    }

    /// An answered finding does not come back, and an existing one is not counted twice. Pending ones of an earlier
    /// round that were not found again are dropped: they refer to a text that has changed.
    private mutating func receive(_ suggestions: [Suggestion]) throws(JourneyRefusal) {
        try require([.draft, .revise, .final], "receive feedback", "start a draft first")
        var seen: Set<String> = []
        let offered = suggestions.filter { seen.insert($0.id).inserted }
        let known = Dictionary(comments.map { ($0.id, $0) }) { first, _ in first }
        var kept: [ReviewComment] = comments.filter { $0.status != .pending }
        for suggestion in offered {
            switch known[suggestion.id]?.status {
            case nil:
                totalReceived += 1
                kept.append(ReviewComment(suggestion))
            case .pending?: kept.append(ReviewComment(suggestion))
            case .accepted?, .edited?, .skipped?: continue
            }
        }
        comments = kept
        revisionCycle += 1
        stage = .revise
    }

    private mutating func answer(
        _ id: String, _ status: ReviewComment.Status, _ text: String?
    ) throws(JourneyRefusal) {
        try require([.revise], "answer a comment", "ask for feedback first")
        let index = try index(of: id)
        guard comments[index].status == .pending else {
            throw JourneyRefusal(
                "comment \(id) is \(comments[index].status.rawValue) already; reopen it to answer it otherwise")
        }
        if status == .accepted, !comments[index].suggestion.hasReplacement {
            throw JourneyRefusal("comment \(id) proposes no wording to accept; edit the text, or skip it")
        }
        comments[index].set(status, editedText: text)
    }

    private mutating func reopen(_ id: String) throws(JourneyRefusal) {
        try require([.revise], "reopen a comment", "ask for feedback first")
        let index = try index(of: id)
        switch comments[index].status {
        case .pending: throw JourneyRefusal("comment \(id) is pending: there is nothing to reopen")
        case .accepted: totalAccepted -= 1
        case .edited:
            totalAccepted -= 1
            totalEdited -= 1
        case .skipped: totalSkipped -= 1
        }
        comments[index].set(.pending)
    }

    private func index(of id: String) throws(JourneyRefusal) -> Int {
        guard let index = comments.firstIndex(where: { $0.id == id }) else {
            throw JourneyRefusal("there is no comment \(id) in this review")
        }
        return index
    }

    private func require(_ stages: [JourneyStage], _ doing: String, _ advice: String) throws(JourneyRefusal) {
        guard stages.contains(stage) else {
            throw JourneyRefusal("cannot \(doing) in the stage \(stage.rawValue); \(advice)")
        }
    }

    private func check(_ ids: [String]) throws(JourneyRefusal) {
        guard ids.count <= Self.mostAdvisors else {
            throw JourneyRefusal("\(ids.count) advisors are too many; choose at most \(Self.mostAdvisors)")
        }
        guard Set(ids).count == ids.count else { throw JourneyRefusal("an advisor is named twice; name each once") }
    }
}
