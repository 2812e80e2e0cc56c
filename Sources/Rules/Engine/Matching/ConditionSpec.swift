import JSONText

/// One condition's name, meaning and how it is read: the loader, the schema and the manual are made from it.
package struct ConditionSpec: Sendable {
    package let name: String
    package let summary: String
    /// A line of `where` that is valid YAML.
    package let example: String
    package let schema: JSON
    let usesBlocks: Bool
    let load: @Sendable (YamlNode, ConditionReader) -> Loaded?

    /// What a condition's value was read into.
    struct Loaded: Sendable {
        /// See ``Condition/extensions``.
        let extensions: Set<String>?
        let check: @Sendable (FileFacts, BlockFacts?) throws -> Observation

        init(
            extensions: Set<String>? = nil, _ check: @escaping @Sendable (FileFacts, BlockFacts?) throws -> Observation
        ) {
            self.extensions = extensions
            self.check = check
        }
    }

    init(
        _ name: String, _ summary: String, example: String, schema: JSON, usesBlocks: Bool = false,
        load: @escaping @Sendable (YamlNode, ConditionReader) -> Loaded?
    ) {
        self.name = name
        self.summary = summary
        self.example = example
        self.schema = schema
        self.usesBlocks = usesBlocks
        self.load = load
    }

    /// All conditions; a new one is a new entry here.
    package static let all: [ConditionSpec] = nameConditions + contentConditions + statusConditions

    /// The words that nest conditions, and what they mean.
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
