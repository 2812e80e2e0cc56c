import Platform

/// A condition's name, meaning and parser, for the loader, the schema and the manual.
package struct ConditionSpec: Sendable {
    package let name: String
    package let summary: String
    /// A valid YAML line of `where`.
    package let example: String
    package let schema: JSON
    let usesBlocks: Bool
    /// The subjects it supports.
    package let takes: RuleSubjects
    /// The values it always provides; those of a pattern's groups come with ``Loaded``.
    package let provides: [ValueSpec]
    let load: @Sendable (YamlNode, ConditionReader) -> Loaded?

    /// A parsed condition.
    struct Loaded: Sendable {
        /// See ``Condition/extensions``.
        let extensions: Set<String>?
        /// See ``Condition/literals``.
        let literals: [[UInt8]]?
        /// The values it may find besides those of its ``ConditionSpec``.
        let provides: [ValueSpec]
        /// See ``Condition/attributes``.
        let attributes: Set<FileAttribute>
        /// See ``ConditionTest/asksForAge``.
        let asksForAge: Bool
        /// See ``ConditionTest/countsAge``.
        let countsAge: Bool
        /// See ``ConditionTest/nextChange``.
        let nextChange: ConditionTest.NextChange?
        let check: @Sendable (FileFacts, BlockFacts?) throws -> Observation

        init(
            extensions: Set<String>? = nil, literals: [[UInt8]]? = nil, provides: [ValueSpec] = [],
            attributes: Set<FileAttribute> = [],
            asksForAge: Bool = false, countsAge: Bool = false, nextChange: ConditionTest.NextChange? = nil,
            _ check: @escaping @Sendable (FileFacts, BlockFacts?) throws -> Observation
        ) {
            self.extensions = extensions
            self.literals = literals
            self.provides = provides
            self.attributes = attributes
            self.asksForAge = asksForAge
            self.countsAge = countsAge
            self.nextChange = nextChange
            self.check = check
        }
    }

    init(
        _ name: String, _ summary: String, example: String, schema: JSON, usesBlocks: Bool = false,
        takes: RuleSubjects = .files, provides: [ValueSpec] = [],
        load: @escaping @Sendable (YamlNode, ConditionReader) -> Loaded?
    ) {
        self.name = name
        self.summary = summary
        self.example = example
        self.schema = schema
        self.usesBlocks = usesBlocks
        self.takes = takes
        self.provides = provides
        self.load = load
    }

    /// All conditions. To add one, add it here.
    package static let all: [ConditionSpec] =
        nameConditions + [nameLikeCondition, nameMatchesCondition] + contentConditions + insideConditions
        + statusConditions + timeConditions
        + [emptyCondition] + attributeConditions + clockConditions + folderConditions
        + [holdsCondition, duplicateCondition, mountedCondition]

    /// The keywords that nest conditions, and their meanings.
    package static let nesting: [(name: String, summary: String)] = [
        ("all", "A list of conditions that must all hold."),
        ("any", "A list of conditions of which one must hold."),
        ("not", "Conditions that must not all hold."),
    ]

    package static let keys = all.map(\.name) + nesting.map(\.name)
    static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }

    static let oneOrMoreTexts: JSON = [
        "oneOf": [
            ["type": "string", "minLength": 1],
            ["type": "array", "minItems": 1, "items": ["type": "string", "minLength": 1]],
        ]
    ]
    static let comparisons: JSON = [
        "oneOf": [
            ["type": ["string", "integer"]],
            ["type": "array", "minItems": 1, "items": ["type": ["string", "integer"]]],
        ]
    ]
    static let presence: JSON = ["type": ["object", "array", "string"]]
}
