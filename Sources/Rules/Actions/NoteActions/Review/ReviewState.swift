import Foundation
import JSONText
import Platform
import TKCore

/// The state of a draft's review: every finding with its answer. Stored as canonical JSON (keys sorted) below
/// `.tk/reviews`. The sidecar is generated from it alone.
package struct ReviewState: Codable, Sendable, Equatable {
    /// Format version.
    package var version = Self.current
    /// The file's name.
    package var draft: BytePath
    /// Hash of the last reviewed text; nil for none.
    package var content: ContentHash?
    /// Why that was not text; nil if it was.
    package var unreadable: String?
    /// Hash of the draft before answers were last written into it.
    package var previous: ContentHash?
    /// Hash of the draft as answers were last written into it.
    package var written: ContentHash?
    /// Hash of the rule's settings.
    package var settings: ContentHash?
    /// Hash of the sidecar as last written; nil if none was.
    package var rendered: ContentHash?
    /// The sidecar as last written, while an editor that has it open keeps the present one from being written; nil
    /// otherwise.
    package var shown: String?
    /// The present sidecar then: its answers have been taken, and are still in it.
    package var heard: String?
    /// The answers that wait for an editor; nil if none do.
    package var waiting: ReviewWaiting?
    /// Keys of the models' raw answers behind the findings.
    package var answers: [String] = []
    /// Whether a pass that asks a model still has to read this text.
    package var isOwed = false
    /// nil if no model was ever asked.
    package var reading: ReviewReading?
    /// What advisors have read; nil if that is unknown.
    package var read: ReadParagraphs?
    /// nil for a draft that was neither reviewed nor started.
    package var journey: JourneyState?
    /// The latest.
    package var council: ReviewCouncil?
    /// Where several advisors comment on the same words.
    package var discussions: [ReviewDiscussion] = []
    /// Notices at the top of the sidecar, beside the counts.
    package var notices: [String] = []
    /// In display order; answered ones last.
    package var findings: [ReviewFinding] = []

    package static let current = 1

    package init(draft: BytePath) { self.draft = draft }

    /// - Throws: `Fault(.failed)` if the bytes are not a state of this version. The file is left alone.
    package init(json bytes: [UInt8], at path: BytePath) throws {
        do {
            self = try JSONDecoder().decode(ReviewState.self, from: Data(bytes))
        } catch {
            throw Fault(
                .failed,
                "\(path) is not the state of a review: \(error); fix it, or move it away to have the draft reviewed again",
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

    /// The writer's answers to the findings of each rule.
    package var ruleAnswers: [String: RuleAnswers] {
        findings.reduce(into: [:]) { answers, finding in
            // House rules are not one writer's to mute.
            guard let rule = finding.suggestion.rule, finding.suggestion.advisorID != Suggestion.styles else { return }
            switch finding.state {
            case .accepted: answers[rule, default: RuleAnswers()].accepted += 1
            case .skipped: answers[rule, default: RuleAnswers()].skipped += 1
            case .pending, .orphaned: break
            }
        }
    }

    /// The sidecar as last written; empty if it was not.
    package var lastSidecar: String { shown ?? (rendered == nil ? "" : ReviewSidecar.text(self)) }

    package func count(_ state: ReviewFinding.State) -> Int { findings.count { $0.state == state } }
}

/// A finding and its answer.
package struct ReviewFinding: Codable, Sendable, Equatable {
    package enum State: String, Codable, Sendable {
        /// Waiting for an answer.
        case pending
        /// Its words are in the draft, or it was only to be noted. It never comes back.
        case accepted
        /// It never comes back.
        case skipped
        /// Accepted, but its words cannot be located for certain.
        case orphaned
    }

    /// Identifies it in the sidecar: the shortest prefix of its id that is unique in the draft.
    package var key: String
    package var state: State
    package var suggestion: Suggestion
    /// Equivalent suggestions by others; an answer to the finding covers them.
    package var others: [Suggestion] = []
    /// Ticked, but not yet applied to the draft.
    package var isTicked = false
    /// The writer's own words in place of the proposal.
    package var edited: String?
    /// Why it is still here although it was ticked.
    package var note: String?
    /// The words after `[?]`, until it is answered; empty for just another proposal.
    package var asked: String?
    /// Answered `[?]`, oldest first.
    package var exchanges: [ReviewExchange]?
    /// Anchor of the words that an answer put into the draft; nil if none did.
    package var applied: TextAnchor?

    package init(key: String, suggestion: Suggestion, others: [Suggestion] = []) {
        self.key = key
        self.suggestion = suggestion
        self.others = others
        state = .pending
    }

    package var all: [Suggestion] { [suggestion] + others }

    /// Makes the anchors of an open finding unambiguous, because the text will have changed when it is answered.
    package mutating func keepPlaces(by resolver: AnchorResolver) {
        guard isOpen else { return }
        suggestion.anchor = resolver.distinct(suggestion.anchor)
        for index in others.indices { others[index].anchor = resolver.distinct(others[index].anchor) }
    }

    package var isOpen: Bool { state == .pending || state == .orphaned }

    /// The text to put into the draft on acceptance; nil if the finding proposes none.
    package var proposal: String? { edited ?? (suggestion.hasReplacement ? suggestion.suggestedText : nil) }
}
