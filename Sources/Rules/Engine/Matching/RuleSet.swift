import Foundation
import Platform

/// A rule that wants a file, and for which gained blocks, where it asks for blocks.
package struct RuleMatch: Sendable {
    package let rule: Rule
    /// The job runs once for each: for the file, or for each block that matched.
    package let hits: [Hit]

    package struct Hit: Sendable {
        /// Nil: the file.
        package let block: BlockFacts?
        /// What the conditions have found.
        package let values: Values
    }
}

/// The rules in force: pure, immutable, replaced as a whole at a reload.
package struct RuleSet: Sendable {
    /// In the order in which they run: by file name, then by position.
    package let rules: [Rule]
    package let index: RuleIndex
    private let hasHidingRules: Bool
    private let looksAtAttributes: Bool
    /// The names of the rules that want arrivals, by ``identity(of:)``.
    let arrivals: [String: String]
    let arrivalNames: Set<String>
    /// By the rules' numbers.
    let identities: [String]
    let looksAtTime: [Bool]
    let hasTime: Bool
    /// Which rules take files away by their age: a clock that is wrong must not do that.
    let mindsClock: [Bool]
    private let usesBlocks: [Bool]
    /// Stands for all of those in the ledger.
    package let id: String
    /// False in ``notYetRead`` alone.
    package let isRead: Bool

    /// Before the rule files were read for the first time, or while they have errors since the start: nobody knows what
    /// the rules are, so nothing is carried out by them.
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

    /// Reads the rule files of `directories`, later ones replacing earlier ones. Blocks.
    ///
    /// - Returns: the rules that are valid, and all complaints. If one is an error the caller keeps what was in force.
    package static func load(
        directories: [BytePath], _ files: RuleFileReader, registry: ActionRegistry, places: [PlaceInfo],
        timeZone: Zone
    ) -> (RuleSet, [Diagnostic]) {
        let loaded = RuleDirectories.load(directories, files, registry: registry, places: places, timeZone: timeZone)
        return (RuleSet(loaded.rules), loaded.diagnostics)
    }

    /// What the ledger knows of the rules that want arrivals.
    package var arrivalIdentities: Set<String> { Set(arrivals.keys) }

    func identity(of rule: Rule) -> String { Self.identity(of: rule) }

    /// The rule's name: what follows the digest and a space.
    package static func name(inIdentity identity: String) -> String { String(identity.dropFirst(17)) }

    /// A rule with another content is another rule.
    private static func identity(of rule: Rule) -> String { "\(rule.digest.description.prefix(16)) \(rule.name)" }

    package subscript(name: String) -> Rule? { rules.first { $0.name == name } }

    /// The rules that want the file, in their order, up to one that says `then: stop`. Blocks: reads what the
    /// conditions ask for.
    ///
    /// - Throws: `Fault` where a condition that decides cannot read the file.
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

    /// Whether a rule that the file's age has brought about wants it also without the time that nobody has seen pass.
    private func isSafe(_ number: Int, _ facts: FileFacts) throws -> Bool {
        guard mindsClock[number], let safe = facts.sources.heldTime()?.safe else { return true }
        return try facts.countingAges(to: safe) { try Self.match(rules[number], facts) } != nil
    }

    /// The identities of rules that take files away by their age.
    var clockMinders: Set<String> { Set(rules.indices.filter { mindsClock[$0] }.map { identities[$0] }) }

    /// The numbers of the rules that are about such as `facts` are of.
    func candidates(_ facts: FileFacts, _ event: FileEvent) -> [Int] {
        index.candidates(place: facts.place.name, event: event, name: facts.path.name, facts.subject)
    }

    /// Whether a rule of the place is about folders.
    package func hasFolderRules(_ place: String) -> Bool { index.hasRules(place: place, .folders) }

    /// Whether any rule could want the file, whatever happened to it and whatever it holds. Reads nothing.
    ///
    /// - Parameter facts: of a file that has not been opened (``FileFacts/Content/unread``).
    package func mightMatch(_ facts: FileFacts) -> Bool {
        // For a schedule it is enough to know that the file is there.
        FileEvent.happenings.filter { $0 != .removed }.contains { event in
            candidates(facts, event).contains { usesBlocks[$0] || rules[$0].condition.mightHold(facts) }
        }
    }

    /// The attributes whose change could be news of a file of this name to some rule.
    func attributes(place: String, name: [UInt8]) -> Set<FileAttribute> {
        guard looksAtAttributes else { return [] }
        return [FileEvent.arrived, .changed].flatMap { index.candidates(place: place, event: $0, name: name) }
            .reduce(into: []) { $0.formUnion(rules[$1].condition.attributes) }
    }

    /// Whether one rule's conditions hold, its place and event aside.
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

    /// Whether a rule that hides names could want a file of this name.
    package func hidesName(place: String, name: [UInt8]) -> Bool {
        hasHidingRules
            && FileEvent.allCases.flatMap { index.candidates(place: place, event: $0, name: name) }
                .contains { rules[$0].hidesNames }
    }

    /// The longest settle time, in seconds, of the rules that might want a file, or a folder, of this name; nil if none could.
    package func settleTime(place: String, name: [UInt8], _ subject: RuleSubject = .files) -> Double? {
        FileEvent.allCases.filter { $0 != .removed }
            .flatMap { index.candidates(place: place, event: $0, name: name, subject) }.map { rules[$0].settle }.max()
    }
}
