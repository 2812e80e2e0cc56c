import Platform

/// What `where` says: tests on one file, nested by all, any and not.
package indirect enum Condition: Sendable {
    case test(ConditionTest)
    case all([Condition])
    case any([Condition])
    case not(Condition)

    /// Holds for every file.
    package static let always = Condition.all([])

    /// Whether the condition holds; stops at the first test that decides. Blocks.
    ///
    /// - Parameter block: the gained block that is looked at, nil for none.
    /// - Throws: `Fault` where a test that decides cannot read the file.
    package func holds(_ facts: FileFacts, block: BlockFacts?) throws -> Bool {
        try values(facts, block: block) != nil
    }

    /// What the tests have found that made the condition hold; nil where it does not hold. Stops as ``holds(_:block:)``
    /// does: of `any` only the first that holds gives values, and `not` gives none. Blocks.
    package func values(_ facts: FileFacts, block: BlockFacts?) throws -> Values? {
        switch self {
        case .test(let test):
            let seen = try test.check(facts, block)
            return seen.held ? seen.values : nil
        case .all(let parts):
            var all: Values = [:]
            var later: Fault?
            for part in parts {
                do {
                    guard let found = try part.values(facts, block: block) else { return nil }
                    all.merge(found) { $1 }
                } catch let fault as Fault where fault.code == ContentFindings.later {
                    // Another part may decide without a look into the file.
                    later = fault
                }
            }
            if let later { throw later }
            return all
        case .any(let parts):
            for part in parts {
                if let found = try part.values(facts, block: block) { return found }
            }
            return nil
        case .not(let part): return try part.values(facts, block: block) == nil ? [:] : nil
        }
    }

    /// The values that steps may use because the condition held.
    package var provides: [ValueSpec] {
        switch self {
        case .test(let test): test.provides
        case .all(let parts), .any(let parts): parts.flatMap(\.provides)
        case .not: []
        }
    }

    /// Whether the condition could hold, as far as can be told without reading the file: false only where it cannot,
    /// whatever the file holds.
    ///
    /// - Parameter facts: of a file that has not been opened (``FileFacts/Content/unread``).
    package func mightHold(_ facts: FileFacts) -> Bool { outlook(facts).held != false }

    /// The same with every test's answer. Blocks; a test that cannot read the file has no verdict.
    package func explained(_ facts: FileFacts, block: BlockFacts?) -> ConditionResult {
        switch self {
        case .test(let test):
            do {
                let seen = try test.check(facts, block)
                return ConditionResult(text: test.text, held: seen.held, seen: seen.seen)
            } catch {
                return ConditionResult(text: test.text, held: nil, seen: explain(error))
            }
        case .all(let parts):
            let children = parts.map { $0.explained(facts, block: block) }
            let verdict =
                children.contains { $0.held == false } ? false : children.contains { $0.held == nil } ? nil : true
            return ConditionResult(text: "all", held: verdict, seen: "", children: children)
        case .any(let parts):
            let children = parts.map { $0.explained(facts, block: block) }
            let verdict =
                children.contains { $0.held == true } ? true : children.contains { $0.held == nil } ? nil : false
            return ConditionResult(text: "any", held: verdict, seen: "", children: children)
        case .not(let part):
            let child = part.explained(facts, block: block)
            return ConditionResult(text: "not", held: child.held.map { !$0 }, seen: "", children: [child])
        }
    }

    /// Whether a test of one of these names is among its tests.
    func asks(_ names: Set<String>) -> Bool {
        switch self {
        case .test(let test): names.contains(String(test.text.prefix { $0 != ":" }))
        case .all(let parts), .any(let parts): parts.contains { $0.asks(names) }
        case .not(let part): part.asks(names)
        }
    }

    /// Whether a test looks at gained blocks.
    package var usesBlocks: Bool {
        switch self {
        case .test(let test): test.usesBlocks
        case .all(let parts), .any(let parts): parts.contains(where: \.usesBlocks)
        case .not(let part): part.usesBlocks
        }
    }

    /// What its tests look at of a file that may change while the content does not: a change of one of these is news for
    /// the condition's rule.
    package var attributes: Set<FileAttribute> {
        switch self {
        case .test(let test): test.attributes
        case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.attributes) }
        case .not(let part): part.attributes
        }
    }

    /// The ends after the last dot, in lower case, without which this cannot hold; nil where any name may do.
    var extensions: Set<String>? {
        switch self {
        case .test(let test): return test.extensions
        case .all(let parts):
            return parts.compactMap(\.extensions).reduce(nil) { found, next in
                found.map { $0.intersection(next) } ?? next
            }
        case .any(let parts):
            var union: Set<String> = []
            for part in parts {
                guard let extensions = part.extensions else { return nil }
                union.formUnion(extensions)
            }
            return union
        case .not: return nil
        }
    }

    /// Of these one must stand in the file's name, or this cannot hold; nil where any name may do.
    var literals: [[UInt8]]? {
        switch self {
        case .test(let test): return test.literals
        case .all(let parts):
            // Those that say most.
            return parts.compactMap(\.literals).max { Self.least($0) < Self.least($1) }
        case .any(let parts):
            var union: [[UInt8]] = []
            for part in parts {
                guard let literals = part.literals else { return nil }
                union += literals
            }
            return union
        case .not: return nil
        }
    }

    private static func least(_ literals: [[UInt8]]) -> Int { literals.map(\.count).min() ?? 0 }
}

/// One test with what it looks for.
package struct ConditionTest: Sendable {
    /// As the rule writes it: `name: "*.cbz"`.
    package let text: String
    package let usesBlocks: Bool
    let extensions: Set<String>?
    /// See ``Condition/literals``.
    var literals: [[UInt8]]?
    /// What it may find, for templates.
    let provides: [ValueSpec]
    /// See ``Condition/attributes``.
    let attributes: Set<FileAttribute>
    /// Whether it holds for no file that has only just come.
    let asksForAge: Bool
    /// When it may next have another answer by time alone, after `now`; nil for never. Only of tests that look at `now`.
    var nextChange: NextChange?
    /// Whether it asks how old the file is, so that a clock that is wrong would matter.
    var countsAge = false
    let check: @Sendable (FileFacts, BlockFacts?) throws -> Observation

    /// Throws where that cannot be told without reading the file.
    typealias NextChange = @Sendable (FileFacts) throws -> Timestamp?
}

/// A test's answer, and the value it saw, for people.
package struct Observation: Sendable {
    package let held: Bool
    package let seen: String
    /// What steps may use where the test held: the groups of a regular expression.
    package let values: Values

    package init(_ held: Bool, seen: String, values: Values = [:]) {
        self.held = held
        self.seen = seen
        self.values = values
    }
}

/// One condition in `steward explain`.
package struct ConditionResult: Sendable, Codable, Equatable {
    /// The condition as the rule writes it.
    package let text: String
    /// Nil where it could not be decided; `seen` says why.
    package let held: Bool?
    /// The value that was seen.
    package let seen: String
    package let children: [ConditionResult]

    package init(text: String, held: Bool?, seen: String, children: [ConditionResult] = []) {
        self.text = text
        self.held = held
        self.seen = seen
        self.children = children
    }

    /// A line for each condition: `✓ name: "*.cbz" (Saga 01.cbz)`.
    package func lines(indent: String = "") -> [String] {
        let mark = held.map { $0 ? "✓" : "✗" } ?? "?"
        let line = "\(indent)\(mark) \(text)" + (seen.isEmpty ? "" : "  (\(seen))")
        return [line] + children.flatMap { $0.lines(indent: indent + "  ") }
    }
}
