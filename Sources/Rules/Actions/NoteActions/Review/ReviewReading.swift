import Platform
import TKCore

/// What the passes that ask a model said about one version of a draft.
package struct ModelFindings: Sendable {
    /// The advisors' findings, each about words of the draft; nil where that pass gave nothing, or was not asked for.
    package var suggestions: [Suggestion]?
    /// Nil where there was none.
    package var council: CouncilReport?
    package var reading = ReviewReading()
    /// The keys of the answers that all this was read from.
    package var answers: [String] = []
    /// Whether a pass gave nothing, so that it may be asked again.
    package var isIncomplete = false

    package init(suggestions: [Suggestion]? = nil, council: CouncilReport? = nil) {
        self.suggestions = suggestions
        self.council = council
    }
}

/// What a person is told of the passes that ask a model.
package struct ReviewReading: Codable, Sendable, Equatable {
    /// Why a pass gave nothing, a sentence each.
    package var troubles: [String] = []
    /// Who has read it, what was dropped, and what else there is to know; a sentence each.
    package var notes: [String] = []

    package init() {}
}

/// A council's debate, and the text that it was about.
package struct ReviewCouncil: Codable, Sendable, Equatable {
    package var content: ContentHash
    package var report: CouncilReport
}

/// Several advisors on the same words (docs/design/advisors.md, "What is believed").
package struct ReviewDiscussion: Codable, Sendable, Equatable {
    /// Of the draft, from 1.
    package var line: Int
    package var advisors: [String]
    /// Whether they want different words there.
    package var isConflict: Bool
    /// The ids of what they propose, each once.
    package var suggestions: [String]

    init(_ thread: DiscussionThread) {
        line = thread.anchor.line
        advisors = thread.participants.map(\.advisorID)
        isConflict = thread.verdict == .conflict
        suggestions = thread.participants.flatMap(\.suggestions).map(\.id)
    }
}
