import Platform

/// One rule's result for one file, condition by condition: `steward explain`.
package struct RuleExplanation: Sendable, Codable {
    package enum Verdict: String, Sendable, Codable {
        case matches
        case doesNotMatch = "does not match"
        /// A condition could not be decided because the file cannot be read.
        case undecided
        /// It would match, but an earlier rule has `then: stop`.
        case stopped
    }

    package let rule: String
    /// `rules.d/10-comics.yaml:4`.
    package let source: String
    package let verdict: Verdict
    /// Place, event and conditions, in this order; all of them, even after one that does not hold.
    package let conditions: [ConditionResult]
    /// For rules about blocks: the blocks that matched.
    package let blocks: [BlockFacts]?
    /// The rule that stopped this one.
    package let stoppedBy: String?
    /// Names of the actions that `do` would run.
    package let actions: [String]

    /// For a terminal.
    package var lines: [String] {
        let note = stoppedBy.map { " (stopped by `\($0)`)" } ?? ""
        return ["\(rule): \(verdict.rawValue)\(note)  [\(source)]"] + conditions.flatMap { $0.lines(indent: "  ") }
    }
}

extension RuleSet {
    /// The result of every rule for the file. Blocks: reads everything that any condition needs.
    package func explain(_ facts: FileFacts) -> [RuleExplanation] { explain(ignoredFor: nil) { _ in facts } }

    /// - Parameters:
    ///   - pattern: the ignore pattern that matches the file's name, if any.
    ///   - facts: returns the file as a rule sees it.
    package func explain(ignoredFor pattern: String?, _ facts: (Rule) -> FileFacts) -> [RuleExplanation] {
        var stopper: String?
        return rules.map { rule in
            let explanation = Self.explain(rule, facts(rule), ignoredFor: pattern, stopper: stopper)
            if explanation.verdict == .matches, rule.then == .stop { stopper = rule.name }
            return explanation
        }
    }

    private static func explain(
        _ rule: Rule, _ facts: FileFacts, ignoredFor pattern: String?, stopper: String?
    ) -> RuleExplanation {
        let names = rule.places.map(\.name)
        let events = FileEvent.allCases.filter(rule.events.contains).map(\.rawValue)
        var results = [
            ConditionResult(
                text: "in: \(names.joined(separator: ", "))", held: names.contains(facts.place.name),
                seen: facts.place.name),
            ConditionResult(
                text: "on: \(events.joined(separator: ", "))", held: rule.events.contains(facts.event),
                seen: facts.event.rawValue),
        ]
        if rule.subject == .folders || facts.subject == .folders {
            results.append(
                ConditionResult(
                    text: "match: \(rule.subject.rawValue)", held: rule.subject == facts.subject,
                    seen: facts.subject.one))
        }
        if let pattern { results.append(ConditionResult(text: "not passed over", held: false, seen: pattern)) }
        var matched: [BlockFacts]?
        if rule.subject != facts.subject {
            // Conditions for one subject cannot be evaluated for the other.
        } else if rule.condition.usesBlocks, !facts.gainedBlocks.isEmpty {
            let each = facts.gainedBlocks.map { ($0, rule.condition.explained(facts, block: $0)) }
            let holding = each.filter { $0.1.held == true }
            matched = holding.map(\.0)
            // If no block holds, the file itself still may: `any: [anchor, name]`.
            let without = rule.condition.explained(facts, block: nil)
            results += top(holding.first?.1 ?? (without.held == true ? without : each[0].1))
        } else {
            results += top(rule.condition.explained(facts, block: nil))
        }
        if rule.subject == facts.subject, rule.mindsClock, let held = facts.sources.heldTime() {
            let isSafe = facts.countingAges(to: held.safe) { rule.condition.explained(facts, block: nil).held }
            if isSafe != true {
                results.append(
                    ConditionResult(text: "old enough by time that was seen", held: isSafe, seen: held.message))
            }
        }
        let verdict: RuleExplanation.Verdict =
            if results.contains(where: { $0.held == false }) {
                .doesNotMatch
            } else if results.contains(where: { $0.held == nil }) {
                .undecided
            } else {
                stopper == nil ? .matches : .stopped
            }
        return RuleExplanation(
            rule: rule.name, source: rule.source, verdict: verdict, conditions: results, blocks: matched,
            stoppedBy: verdict == .stopped ? stopper : nil, actions: rule.steps.map(\.declaration.name))
    }

    /// The conditions of `where`, without the enclosing `all`.
    private static func top(_ result: ConditionResult) -> [ConditionResult] {
        result.text == "all" ? result.children : [result]
    }
}
