import Foundation
import Platform

/// A rule that wants a file, and for which gained blocks, where it asks for blocks.
package struct RuleMatch: Sendable {
    package let rule: Rule
    /// The job runs once for each; nil: once for the file.
    package let blocks: [BlockFacts]?
}

/// The rules in force: pure, immutable, replaced as a whole at a reload.
package struct RuleSet: Sendable {
    /// In the order in which they run: by file name, then by position.
    package let rules: [Rule]
    package let index: RuleIndex
    private let hasHidingRules: Bool
    /// The names of the rules that want arrivals, by ``identity(of:)``.
    let arrivals: [String: String]
    /// Stands for all of those in the ledger.
    package let era: String

    package static let empty = RuleSet([])

    package init(_ rules: [Rule]) {
        self.rules = rules
        index = RuleIndex(rules)
        hasHidingRules = rules.contains(where: \.hidesNames)
        let wanting = rules.filter { $0.events.contains(.arrived) }.map { (Self.identity(of: $0), $0.name) }
        arrivals = Dictionary(wanting) { first, _ in first }
        era = String(ContentHash(of: Array(arrivals.keys.sorted().joined(separator: "\n").utf8)).description.prefix(16))
    }

    /// Reads the rule files of `directories`, later ones replacing earlier ones. Blocks.
    ///
    /// - Returns: the rules that are valid, and all complaints. If one is an error the caller keeps what was in force.
    package static func load(
        directories: [BytePath], _ files: RuleFileReader, registry: ActionRegistry, places: [PlaceInfo],
        timeZone: TimeZone
    ) -> (RuleSet, [Diagnostic]) {
        let loaded = RuleDirectories.load(directories, files, registry: registry, places: places, timeZone: timeZone)
        return (RuleSet(loaded.rules), loaded.diagnostics)
    }

    /// What the ledger knows of the rules that want arrivals.
    package var arrivalIdentities: Set<String> { Set(arrivals.keys) }

    /// A rule with another content is another rule.
    private static func identity(of rule: Rule) -> String { "\(rule.digest.description.prefix(16)) \(rule.name)" }

    package subscript(name: String) -> Rule? { rules.first { $0.name == name } }

    /// The rules that want the file, in their order, up to one that says `then: stop`. Blocks: reads what the
    /// conditions ask for.
    ///
    /// - Throws: `Fault` where a condition that decides cannot read the file.
    package func match(_ facts: FileFacts) throws -> [RuleMatch] {
        var matches: [RuleMatch] = []
        for number in index.candidates(place: facts.place.name, event: facts.event, name: facts.path.name) {
            let rule = rules[number]
            guard let match = try Self.match(rule, facts) else { continue }
            matches.append(match)
            if rule.then == .stop { break }
        }
        return matches
    }

    /// Whether any rule could want the file, whatever happened to it and whatever it holds. Reads nothing.
    ///
    /// - Parameter facts: of a file that has not been opened (``FileFacts/Content/unread``).
    package func mightMatch(_ facts: FileFacts) -> Bool {
        FileEvent.allCases.filter { $0 != .removed }.contains { event in
            index.candidates(place: facts.place.name, event: event, name: facts.path.name).contains {
                rules[$0].condition.usesBlocks || rules[$0].condition.mightHold(facts)
            }
        }
    }

    /// Whether one rule's conditions hold, its place and event aside.
    static func match(_ rule: Rule, _ facts: FileFacts) throws -> RuleMatch? {
        if rule.condition.usesBlocks {
            let blocks = try facts.gainedBlocks.filter { try rule.condition.holds(facts, block: $0) }
            if !blocks.isEmpty { return RuleMatch(rule: rule, blocks: blocks) }
        }
        return try rule.condition.holds(facts, block: nil) ? RuleMatch(rule: rule, blocks: nil) : nil
    }

    /// Whether a rule that hides names could want a file of this name.
    package func hidesName(place: String, name: [UInt8]) -> Bool {
        hasHidingRules
            && FileEvent.allCases.flatMap { index.candidates(place: place, event: $0, name: name) }
                .contains { rules[$0].hidesNames }
    }

    /// The longest settle time, in seconds, of the rules that might want a file of this name; nil if none could.
    package func settleTime(place: String, name: [UInt8]) -> Double? {
        FileEvent.allCases.filter { $0 != .removed }
            .flatMap { index.candidates(place: place, event: $0, name: name) }.map { rules[$0].settle }.max()
    }
}
