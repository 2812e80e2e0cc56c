import JSONText

/// A key of a rule, declared once for the loader, the schema and the manual.
package struct RuleKey: Sendable {
    package let name: String
    package let summary: String
    /// As a line of a rule.
    package let example: String
    package let required: Bool
    let schema: JSON

    package static let all: [RuleKey] = [
        RuleKey(
            name: "rule", summary: "The rule's name, one of its kind in all files.", example: "rule: Import comics",
            required: true,
            schema: ["type": "string", "minLength": 1]),
        RuleKey(
            name: "in", summary: "A place, or a list of places.", example: "in: comics", required: true,
            schema: ConditionSpec.oneOrMoreTexts),
        RuleKey(
            name: "on",
            summary:
                "What must have happened: `arrived` (the default; a file also arrives when it first meets the conditions), "
                + "`changed`, `renamed`, `removed`; one or a list.",
            example: "on: [arrived, changed]", required: false,
            schema: words(FileEvent.allCases.map(\.rawValue), orList: true)),
        RuleKey(
            name: "where", summary: "Conditions that must all hold; without it every file of the place is meant.",
            example: "where: { extension: cbz }", required: false, schema: ["$ref": "#/$defs/conditions"]),
        RuleKey(
            name: "settle", summary: "How long a file must have stood still, 1s by default.", example: "settle: 2s",
            required: false,
            schema: duration),
        RuleKey(
            name: "existing",
            summary:
                "What was there before the first start, or before the rule was new: `process` or `skip`. "
                + "By default `process` in places of kind inbox and dropbox, else `skip`.",
            example: "existing: process", required: false, schema: words(Rule.Existing.allCases.map(\.rawValue))),
        RuleKey(
            name: "do", summary: "The steps, in their order: each the name of an action with its parameters.",
            example: "do: [{ trash: {} }]", required: true, schema: ["$ref": "#/$defs/steps"]),
        RuleKey(
            name: "refused",
            summary:
                "What happens to a file that an action refuses: `quarantine` or `leave`. "
                + "By default `quarantine` in places of kind inbox and dropbox, else `leave`.",
            example: "refused: leave", required: false, schema: words(Rule.Refused.allCases.map(\.rawValue))),
        RuleKey(
            name: "then",
            summary: "`continue` (the default), or `stop`: later rules do not see a file that this one matched.",
            example: "then: stop", required: false, schema: words(Rule.Then.allCases.map(\.rawValue))),
        RuleKey(
            name: "repeat",
            summary:
                "`safe`: a step whose outcome is unknown after a crash is tried again instead of parked. "
                + "Beside the parameters of one step it is meant for that step alone.",
            example: "repeat: safe", required: false, schema: ["const": "safe"]),
    ]

    static let names = all.map(\.name)

    static let duration: JSON = ["type": "string", "pattern": "^[0-9.]+ *(ms|s|m|min|h|d|w)$"]

    static func words(_ words: [String], orList: Bool = false) -> JSON {
        let one: JSON = ["enum": .array(words.map { .string($0) })]
        return orList ? ["oneOf": [one, ["type": "array", "minItems": 1, "items": one]]] : one
    }
}
