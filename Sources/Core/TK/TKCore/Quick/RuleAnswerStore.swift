import JSONText
import Platform

/// One finding of the quick pass with the user's answer.
package struct RuleAnswer: Sendable, Hashable {
    /// The finding's id.
    package var finding: String
    package var rule: String
    /// As proposed, or edited; otherwise it was skipped.
    package var isAccepted: Bool

    package init(finding: String, rule: String, isAccepted: Bool) {
        (self.finding, self.rule, self.isAccepted) = (finding, rule, isAccepted)
    }
}

extension RuleAnswers {
    /// Counts each rule's acceptances and skips.
    package static func tally(_ answers: some Sequence<RuleAnswer>) -> [String: RuleAnswers] {
        answers.reduce(into: [:]) { sums, answer in
            if answer.isAccepted {
                sums[answer.rule, default: RuleAnswers()].accepted += 1
            } else {
                sums[answer.rule, default: RuleAnswers()].skipped += 1
            }
        }
    }
}

/// A user's answers to the quick pass in all drafts, stored in `~/.tk/rule-answers.json`: a rule whose findings are
/// always skipped is muted (``RuleAnswers/isMuted``).
///
/// Each finding counts once, by its last answer, and only the newest ``limit`` answers count, so that recent behaviour
/// decides. Everything here blocks briefly; a damaged file is a `Fault` (`.usage`) with its line.
package struct RuleAnswerStore: Sendable {
    /// The number of answers stored.
    package static let limit = 1000

    package let path: BytePath

    package init(home: TKHome) { path = home.folder.appending("rule-answers.json") }

    /// By rule.
    package func answers() throws -> [String: RuleAnswers] { RuleAnswers.tally(try load()) }

    /// The muted rules.
    package func mutedRules() throws -> Set<String> { RuleAnswers.mutedRules(try answers()) }

    /// Stores answers atomically.
    ///
    /// - Returns: the rules that these answers have muted.
    package func record(_ new: [RuleAnswer]) throws -> Set<String> {
        guard !new.isEmpty else { return [] }
        return try change { kept in
            let findings = Set(new.map(\.finding))
            kept.removeAll { findings.contains($0.finding) }
            kept += new
            kept = kept.suffix(Self.limit)
        }.muted
    }

    /// Removes the answers to these rules, or to all if nil, which unmutes them.
    ///
    /// - Returns: those of them that were muted.
    package func forget(_ rules: Set<String>?) throws -> Set<String> {
        try change { kept in kept.removeAll { rules?.contains($0.rule) ?? true } }.heard
    }

    /// - Returns: the newly muted rules, and the newly unmuted ones.
    private func change(_ body: (inout [RuleAnswer]) -> Void) throws -> (muted: Set<String>, heard: Set<String>) {
        try TKFile.exclusively(in: path.parent) {
            var kept = try load()
            let before = RuleAnswers.mutedRules(RuleAnswers.tally(kept))
            body(&kept)
            let after = RuleAnswers.mutedRules(RuleAnswers.tally(kept))
            let list = JSON.list(kept) {
                ["finding": .string($0.finding), "rule": .string($0.rule), "accepted": .bool($0.isAccepted)]
            }
            try TKFile.replace(path, with: try JSONText.document(["answers": list]), mode: 0o600)
            return (after.subtracting(before), before.subtracting(after))
        }
    }

    private func load() throws -> [RuleAnswer] {
        guard let bytes = try TKFile.read(path) else { return [] }
        do {
            let file = try JSONFile(bytes, path: path)
            guard case .array(let list)? = file.members["answers"] else { throw Self.damaged(file) }
            return try list.map { value in
                guard let members = value.members, case .string(let finding)? = members["finding"],
                    case .string(let rule)? = members["rule"], case .bool(let isAccepted)? = members["accepted"]
                else { throw Self.damaged(file) }
                return RuleAnswer(finding: finding, rule: rule, isAccepted: isAccepted)
            }
        } catch let problem as FileProblem {
            throw problem.fault
        }
    }

    private static func damaged(_ file: JSONFile) -> FileProblem {
        file.problem(
            "answers",
            "`answers` must be a list of objects with finding, rule and accepted; fix it, or remove the file")
    }
}
