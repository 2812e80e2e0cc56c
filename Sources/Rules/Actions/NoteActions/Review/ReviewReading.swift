import Platform
import TKCore

/// What the passes that ask a model said about one version of a draft.
package struct ModelFindings: Sendable {
    /// The advisors' findings, each about words of the draft; nil if that pass failed or was not requested.
    package var suggestions: [Suggestion]?
    /// The parts of the draft that the advisors read; nil for all of it.
    package var parts: [Range<Int>]?
    /// Those of the program; nil if that pass failed or was not requested.
    package var program: [Suggestion]?
    /// nil if there was none.
    package var council: CouncilReport?
    package var reading = ReviewReading()
    /// Keys of the answers behind all this.
    package var answers: [String] = []
    /// What each of them cost, if its price is known.
    package var costs: [String: Cost] = [:]
    /// Whether a pass failed, so that it may be repeated.
    package var isIncomplete = false

    package init(suggestions: [Suggestion]? = nil, council: CouncilReport? = nil) {
        self.suggestions = suggestions
        self.council = council
    }
}

/// Messages for people about the passes that ask a model.
package struct ReviewReading: Codable, Sendable, Equatable {
    /// Why a pass failed, one sentence each.
    package var troubles: [String] = []
    /// Who read the draft, what was dropped, and other remarks, one sentence each.
    package var notes: [String] = []

    package init() {}
}

/// A council's debate and the text that it is about.
package struct ReviewCouncil: Codable, Sendable, Equatable {
    package var content: ContentHash
    package var report: CouncilReport
}

/// Several advisors on the same words (docs/design/advisors.md, "What is believed").
package struct ReviewDiscussion: Codable, Sendable, Equatable {
    /// Line of the draft, from 1.
    package var line: Int
    package var advisors: [String]
    /// Whether their proposals conflict.
    package var isConflict: Bool
    /// Ids of their proposals, without duplicates.
    package var suggestions: [String]

    init(_ thread: DiscussionThread) {
        line = thread.anchor.line
        advisors = thread.participants.map(\.advisorID)
        isConflict = thread.verdict == .conflict
        suggestions = thread.participants.flatMap(\.suggestions).map(\.id)
    }
}
