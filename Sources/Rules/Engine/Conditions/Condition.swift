import Platform

/// The condition in `where`: tests on a file, nested with all, any and not.
package indirect enum Condition: Sendable {
    case test(ConditionTest)
    case all([Condition])
    case any([Condition])
    case not(Condition)

    /// Holds for every file.
    package static let always = Condition.all([])

    /// Whether the condition holds; stops at the first decisive test. Blocks.
    ///
    /// - Parameter block: the new block to test, or nil.
    /// - Throws: `Fault` if a decisive test cannot read the file.
    package func holds(_ facts: FileFacts, block: BlockFacts?) throws -> Bool {
        try values(facts, block: block) != nil
    }

    /// The values found by the tests that made the condition hold; nil if it does not hold. Stops early like
    /// ``holds(_:block:)``: in `any`, only the first part that holds gives values, and `not` gives none. Blocks.
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
                    // Another part may decide without inspecting the file.
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

    /// The values available to steps because the condition held.
    package var provides: [ValueSpec] {
        switch self {
        case .test(let test): test.provides
        case .all(let parts), .any(let parts): parts.flatMap(\.provides)
        case .not: []
        }
    }

    /// Whether the condition could hold, judging without reading the file; false only if no content can satisfy it.
    ///
    /// - Parameter facts: facts about a file that has not been opened (``FileFacts/Content/unread``).
    package func mightHold(_ facts: FileFacts) -> Bool { outlook(facts).held != false }

    /// The same with the result of every test. Blocks; a test that cannot read the file is undecided.
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

    /// Whether it contains a test with one of these names.
    func asks(_ names: Set<String>) -> Bool {
        switch self {
        case .test(let test): names.contains(String(test.text.prefix { $0 != ":" }))
        case .all(let parts), .any(let parts): parts.contains { $0.asks(names) }
        case .not(let part): part.asks(names)
        }
    }

    /// Whether a test looks at new blocks.
    package var usesBlocks: Bool {
        switch self {
        case .test(let test): test.usesBlocks
        case .all(let parts), .any(let parts): parts.contains(where: \.usesBlocks)
        case .not(let part): part.usesBlocks
        }
    }

    /// The attributes its tests look at that can change independently of the content. A change triggers the
    /// condition's rule.
    package var attributes: Set<FileAttribute> {
        switch self {
        case .test(let test): test.attributes
        case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.attributes) }
        case .not(let part): part.attributes
        }
    }

    /// The extensions, in lower case, required for this to hold; nil if any name may match.
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

    /// Texts of which the file's name must contain one for this to hold; nil if any name may match.
    var literals: [[UInt8]]? {
        switch self {
        case .test(let test): return test.literals
        case .all(let parts):
            // The most selective ones.
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

/// One test with its parameters.
package struct ConditionTest: Sendable {
    /// As written in the rule: `name: "*.cbz"`.
    package let text: String
    package let usesBlocks: Bool
    let extensions: Set<String>?
    /// See ``Condition/literals``.
    var literals: [[UInt8]]?
    /// The values it may find, for templates.
    let provides: [ValueSpec]
    /// See ``Condition/attributes``.
    let attributes: Set<FileAttribute>
    /// Whether it never holds for a file that has just arrived.
    let asksForAge: Bool
    /// When time alone may next change its result, after `now`; nil for never. Only for tests that depend on `now`.
    var nextChange: NextChange?
    /// Whether it depends on the file's age, so that a wrong clock matters.
    var countsAge = false
    let check: @Sendable (FileFacts, BlockFacts?) throws -> Observation

    /// Throws if that needs the file to be read.
    typealias NextChange = @Sendable (FileFacts) throws -> Timestamp?
}

/// A test's result, and the value it saw, for people.
package struct Observation: Sendable {
    package let held: Bool
    package let seen: String
    /// Values for steps if the test held: the groups of a regular expression.
    package let values: Values

    package init(_ held: Bool, seen: String, values: Values = [:]) {
        self.held = held
        self.seen = seen
        self.values = values
    }
}

/// One condition in `steward explain`.
package struct ConditionResult: Sendable, Codable, Equatable {
    /// As written in the rule.
    package let text: String
    /// nil if undecided; `seen` gives the reason.
    package let held: Bool?
    /// The value that was tested.
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
