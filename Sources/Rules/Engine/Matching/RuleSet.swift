import Foundation
import Platform

/// A rule that matches a file, with the new blocks that matched if it is about blocks.
package struct RuleMatch: Sendable {
    package let rule: Rule
    /// One job for each: for the file, or for each matching block.
    package let hits: [Hit]

    package struct Hit: Sendable {
        /// nil for the file.
        package let block: BlockFacts?
        /// Values found by the conditions.
        package let values: Values
    }
}

/// The rules in force. Immutable; a reload replaces it as a whole.
package struct RuleSet: Sendable {
    /// In execution order: by file name, then by position.
    package let rules: [Rule]
    package let index: RuleIndex
    private let hasHidingRules: Bool
    private let looksAtAttributes: Bool
    /// Names of the rules for arrivals, by ``identity(of:)``.
    let arrivals: [String: String]
    let arrivalNames: Set<String>
    /// Indexed by rule number, as are the arrays below.
    let identities: [String]
    let looksAtTime: [Bool]
    let hasTime: Bool
    /// Whether the rule removes files based on their age, which a wrong clock must not trigger.
    let mindsClock: [Bool]
    private let usesBlocks: [Bool]
    /// Identifies the set in the ledger.
    package let id: String
    /// False only for ``notYetRead``.
    package let isRead: Bool

    /// Before the rule files are first read, or while they have had errors since the start. The rules are then
    /// unknown, so nothing runs.
    package static let notYetRead = RuleSet([], isRead: false)

    package init(_ rules: [Rule]) { self.init(rules, isRead: true) }

    private init(_ rules: [Rule], isRead: Bool) {
        self.isRead = isRead
        self.rules = rules
        index = RuleIndex(rules)
        hasHidingRules = rules.contains(where: \.hidesNames)
        looksAtAttributes = rules.contains { !$0.condition.attributes.isEmpty }
        identities = rules.map { Self.identity(of: $0) }
        let wanting = zip(identities, rules).filter { $1.events.contains(.arrived) }.map { ($0, $1.name) }
        arrivals = Dictionary(wanting) { first, _ in first }
        arrivalNames = Set(arrivals.values)
        looksAtTime = rules.map { $0.events.contains(.arrived) && $0.condition.looksAtTime }
        hasTime = looksAtTime.contains(true)
        mindsClock = rules.map(\.mindsClock)
        usesBlocks = rules.map(\.condition.usesBlocks)
        id = String(ContentHash(of: Array(arrivals.keys.sorted().joined(separator: "\n").utf8)).description.prefix(16))
    }

    /// Loads the rule files of `directories`; later ones replace earlier ones. Blocks.
    ///
    /// - Returns: the valid rules, and all diagnostics. After an error, the caller keeps the rules in force.
    package static func load(
        directories: [BytePath], _ files: RuleFileReader, registry: ActionRegistry, places: [PlaceInfo],
        timeZone: Zone
    ) -> (RuleSet, [Diagnostic]) {
        let loaded = RuleDirectories.load(directories, files, registry: registry, places: places, timeZone: timeZone)
        return (RuleSet(loaded.rules), loaded.diagnostics)
    }

    /// The identities of the rules for arrivals, as the ledger knows them.
    package var arrivalIdentities: Set<String> { Set(arrivals.keys) }

    func identity(of rule: Rule) -> String { Self.identity(of: rule) }

    /// The rule's name: the part after the digest and a space.
    package static func name(inIdentity identity: String) -> String { String(identity.dropFirst(17)) }

    /// A rule with changed content counts as another rule.
    private static func identity(of rule: Rule) -> String { "\(rule.digest.description.prefix(16)) \(rule.name)" }

    package subscript(name: String) -> Rule? { rules.first { $0.name == name } }

    /// The rules that match the file, in order, up to one with `then: stop`. Blocks: reads what the conditions need.
    ///
    /// - Throws: `Fault` if a decisive condition cannot read the file.
    package func match(_ facts: FileFacts) throws -> [RuleMatch] {
        var matches: [RuleMatch] = []
        for number in candidates(facts, facts.event) {
            let rule = rules[number]
            guard let match = try Self.match(rule, facts), try isSafe(number, facts) else { continue }
            matches.append(match)
            if rule.then == .stop { break }
        }
        return matches
    }

    /// Whether a rule that depends on age also matches without an unconfirmed jump of the clock.
    private func isSafe(_ number: Int, _ facts: FileFacts) throws -> Bool {
        guard mindsClock[number], let safe = facts.sources.heldTime()?.safe else { return true }
        return try facts.countingAges(to: safe) { try Self.match(rules[number], facts) } != nil
    }

    /// Identities of the rules that remove files based on their age.
    var clockMinders: Set<String> { Set(rules.indices.filter { mindsClock[$0] }.map { identities[$0] }) }

    /// Numbers of the rules for the subject of `facts`.
    func candidates(_ facts: FileFacts, _ event: FileEvent) -> [Int] {
        index.candidates(place: facts.place.name, event: event, name: facts.path.name, facts.subject)
    }

    /// Whether a rule of the place is about folders.
    package func hasFolderRules(_ place: String) -> Bool { index.hasRules(place: place, .folders) }

    /// Whether any rule could match the file, whatever happened to it and whatever its content. Reads nothing.
    ///
    /// - Parameter facts: facts about a file that has not been opened (``FileFacts/Content/unread``).
    package func mightMatch(_ facts: FileFacts) -> Bool {
        // For a schedule, it is enough that the file exists.
        FileEvent.happenings.filter { $0 != .removed }.contains { event in
            candidates(facts, event).contains { usesBlocks[$0] || rules[$0].condition.mightHold(facts) }
        }
    }

    /// The attributes whose change could trigger some rule for a file with this name.
    func attributes(place: String, name: [UInt8]) -> Set<FileAttribute> {
        guard looksAtAttributes else { return [] }
        return [FileEvent.arrived, .changed].flatMap { index.candidates(place: place, event: $0, name: name) }
            .reduce(into: []) { $0.formUnion(rules[$1].condition.attributes) }
    }

    /// Whether one rule's conditions hold, leaving place and event aside.
    static func match(_ rule: Rule, _ facts: FileFacts) throws -> RuleMatch? {
        if rule.condition.usesBlocks {
            let hits = try facts.gainedBlocks.compactMap { block in
                try rule.condition.values(facts, block: block).map { RuleMatch.Hit(block: block, values: $0) }
            }
            if !hits.isEmpty { return RuleMatch(rule: rule, hits: hits) }
        }
        return try rule.condition.values(facts, block: nil).map {
            RuleMatch(rule: rule, hits: [RuleMatch.Hit(block: nil, values: $0)])
        }
    }

    /// Whether a rule that hides names could match a file with this name.
    package func hidesName(place: String, name: [UInt8]) -> Bool {
        hasHidingRules
            && FileEvent.allCases.flatMap { index.candidates(place: place, event: $0, name: name) }
                .contains { rules[$0].hidesNames }
    }

    /// The longest settle time, in seconds, of the rules that might match a file or folder with this name; nil if
    /// there are none.
    package func settleTime(place: String, name: [UInt8], _ subject: RuleSubject = .files) -> Double? {
        FileEvent.allCases.filter { $0 != .removed }
            .flatMap { index.candidates(place: place, event: $0, name: name, subject) }.map { rules[$0].settle }.max()
    }
}
