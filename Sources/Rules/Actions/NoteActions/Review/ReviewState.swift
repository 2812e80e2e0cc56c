import Foundation
import JSONText
import Platform
import TKCore

/// What is known of a draft's review: every finding with its answer. Kept as canonical JSON (keys sorted) below
/// `.tk/reviews`; the sidecar is made from it, and from nothing else.
package struct ReviewState: Codable, Sendable, Equatable {
    /// The format's number.
    package var version = Self.current
    /// The file's name.
    package var draft: BytePath
    /// The text that was reviewed last; nil for none.
    package var content: ContentHash?
    /// Why that was no text; nil where it was one.
    package var unreadable: String?
    /// What the draft held before answers were put into it the last time.
    package var previous: ContentHash?
    /// Of what the rule asks for.
    package var settings: ContentHash?
    /// Of the sidecar as it was written last; nil where none was.
    package var rendered: ContentHash?
    /// The keys of the models' raw answers that findings came from.
    package var answers: [String] = []
    /// Whether a pass that asks a model has yet to read this text.
    package var isOwed = false
    /// Nil where no model was ever asked.
    package var reading: ReviewReading?
    /// The latest.
    package var council: ReviewCouncil?
    /// Places where several advisors speak about the same words.
    package var discussions: [ReviewDiscussion] = []
    /// What the sidecar says at its top, beside the numbers.
    package var notices: [String] = []
    /// In the order in which they are shown; those that are answered at the end.
    package var findings: [ReviewFinding] = []

    package static let current = 1

    package init(draft: BytePath) { self.draft = draft }

    /// - Throws: `Fault(.failed)` where the bytes are no state of this version: they are left as they are.
    package init(json bytes: [UInt8], at path: BytePath) throws {
        do {
            self = try JSONDecoder().decode(ReviewState.self, from: Data(bytes))
        } catch {
            throw Fault(
                .failed,
                "\(path) is not the state of a review: \(error); mend it, or move it away to have the draft reviewed anew",
                path: path)
        }
        guard version == Self.current else {
            throw Fault(
                .failed,
                "\(path) has format \(version), this version of the agent knows \(Self.current); update the agent",
                path: path)
        }
    }

    package func json() throws -> String {
        try JSONText.document(self)
    }

    /// How the writer has answered the findings of each rule.
    package var ruleAnswers: [String: RuleAnswers] {
        findings.reduce(into: [:]) { answers, finding in
            guard let rule = finding.suggestion.rule else { return }
            switch finding.state {
            case .accepted: answers[rule, default: RuleAnswers()].accepted += 1
            case .skipped: answers[rule, default: RuleAnswers()].skipped += 1
            case .pending, .orphaned: break
            }
        }
    }

    package func count(_ state: ReviewFinding.State) -> Int { findings.count { $0.state == state } }
}

/// One finding and what became of it.
package struct ReviewFinding: Codable, Sendable, Equatable {
    package enum State: String, Codable, Sendable {
        /// Waits for an answer.
        case pending
        /// Its words are in the draft, or were taken note of. It never comes back.
        case accepted
        /// It never comes back.
        case skipped
        /// It was accepted, but the words that it was about cannot be found for certain.
        case orphaned
    }

    /// Names it in the sidecar: the beginning of its id, so long that no other finding of the draft has the same.
    package var key: String
    package var state: State
    package var suggestion: Suggestion
    /// What others say that comes to the same; an answer to the finding answers them as well.
    package var others: [Suggestion] = []
    /// Ticked, and not yet put into the draft.
    package var isTicked = false
    /// The writer's own words in place of those that were proposed.
    package var edited: String?
    /// Why it is still here although it was ticked.
    package var note: String?
    /// The words that an answer has put into the draft; nil where none has.
    package var applied: TextAnchor?

    package init(key: String, suggestion: Suggestion, others: [Suggestion] = []) {
        self.key = key
        self.suggestion = suggestion
        self.others = others
        state = .pending
    }

    package var all: [Suggestion] { [suggestion] + others }

    /// Has the places of an open finding told from their twins, since the text will have changed when it is answered.
    package mutating func keepPlaces(by resolver: AnchorResolver) {
        guard isOpen else { return }
        suggestion.anchor = resolver.distinct(suggestion.anchor)
        for index in others.indices { others[index].anchor = resolver.distinct(others[index].anchor) }
    }

    package var isOpen: Bool { state == .pending || state == .orphaned }

    /// What is put into the draft if it is accepted; nil where the finding has no words of its own.
    package var proposal: String? { edited ?? (suggestion.hasReplacement ? suggestion.suggestedText : nil) }
}
