import TKCore

/// A `[?]` that was answered: another proposal, or an answer to a question.
package struct ReviewExchange: Codable, Sendable, Equatable {
    /// The writer's words; empty for just another proposal.
    package var question: String
    /// Who answered: an advisor's id, or that of the quick pass.
    package var by: String
    /// The answer, or why there is no other proposal; may be empty.
    package var reply: String
    /// The wording before; nil if it was left or there was none.
    package var refused: String?
}

/// Answers to `[?]`, by the findings' keys, with what they cost.
package struct GivenProposals: Sendable {
    package var byKey: [String: AnotherProposal.Answer] = [:]
    /// By the raw answers' keys.
    package var costs: [String: Cost] = [:]

    package init(_ byKey: [String: AnotherProposal.Answer] = [:]) { self.byKey = byKey }
}

extension ReviewFinding {
    /// Whether a later pass leaves its wording alone: a person has ticked it, or asked for it.
    var keepsWording: Bool { isTicked || exchanges != nil }

    /// Wordings that are not to be proposed again.
    package var refused: [String] { (exchanges ?? []).compactMap(\.refused) + [proposal].compactMap { $0 } }

    /// Puts an answer to `[?]` in place: the new wording, and what was said.
    mutating func record(_ answer: AnotherProposal.Answer, to question: String) {
        var exchange = ReviewExchange(question: question, by: answer.by, reply: answer.reply)
        if let new = answer.finding {
            exchange.refused = proposal
            (suggestion, edited, state) = (new, nil, .pending)
        }
        exchanges = (exchanges ?? []) + [exchange]
        (asked, note) = (nil, nil)
    }
}

extension ReviewState {
    /// Puts answers in place, except to findings that the writer has answered meanwhile.
    mutating func record(_ answers: GivenProposals) {
        for index in findings.indices where findings[index].isOpen && !findings[index].isTicked {
            guard let given = answers.byKey[findings[index].key] else { continue }
            findings[index].record(given, to: findings[index].asked ?? "")
        }
    }
}

extension GivenProposals {
    /// Other proposals without a model: for findings of the quick pass, and for reviews that ask none. Blocks briefly.
    ///
    /// - Parameters:
    ///   - asked: questions by the findings' keys.
    ///   - asksModel: whether a model answers what is left out here; otherwise there is an answer to everything.
    package init(
        to asked: [String: String], about draft: DraftText, _ state: ReviewState, asksModel: Bool,
        quick: () throws -> QuickPass
    ) rethrows {
        for finding in state.findings {
            guard let question = asked[finding.key] else { continue }
            let isQuick = finding.suggestion.rule != nil
            if asksModel, !isQuick || !question.isEmpty { continue }
            let maker = finding.suggestion.advisorID
            if var next = AnotherProposal.next(
                for: finding.suggestion, others: finding.others, in: draft, refused: finding.refused,
                quick: try quick())
            {
                if !question.isEmpty, next.reply.isEmpty { next.reply = Self.noModel }
                byKey[finding.key] = next
            } else if !asksModel {
                let reply = isQuick && question.isEmpty ? AnotherProposal.noOther : Self.noModel
                byKey[finding.key] = AnotherProposal.Answer(by: maker, reply: reply)
            }
        }
    }

    private static let noModel =
        "The rule that reviews this draft asks no model (`passes`), so nobody can answer."
}
