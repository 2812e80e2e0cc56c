import Platform

/// A key of a rule, for the loader, the schema and the manual.
package struct RuleKey: Sendable {
    package let name: String
    package let summary: String
    /// As a line of a rule.
    package let example: String
    package let required: Bool
    let schema: JSON

    package static let all: [RuleKey] = [
        RuleKey(
            name: "rule", summary: "The rule's name, unique among all files.", example: "rule: Import comics",
            required: true,
            schema: ["type": "string", "minLength": 1]),
        RuleKey(
            name: "in", summary: "A place, or a list of places.", example: "in: comics", required: true,
            schema: ConditionSpec.oneOrMoreTexts),
        RuleKey(
            name: "match",
            summary:
                "What the rule is about: `files` (the default), or `folders`: each folder as one thing, once nothing in it has "
                + "changed for the settle time. Without `depth` or `path` in `where`, the folders that lie directly in the "
                + "place.",
            example: "match: folders", required: false, schema: words(RuleSubject.allCases.map(\.rawValue))),
        RuleKey(
            name: "on",
            summary:
                "The event: `arrived` (the default; a file also arrives when it first meets the conditions), "
                + "`changed`, `renamed`, `removed`; one or a list.",
            example: "on: [arrived, changed]", required: false,
            schema: words(FileEvent.happenings.map(\.rawValue), orList: true)),
        RuleKey(
            name: "at",
            summary:
                "The rule runs at these times over all files of its places that meet its conditions: `every day 03:00`, "
                + "`every monday 03:00`, `every month 1 03:00` (in a shorter month, its last day); one or a list, by the "
                + "agent's time zone. What was missed is made up for once. Without `on` nothing else starts the rule.",
            example: "at: every day 03:00", required: false, schema: ConditionSpec.oneOrMoreTexts),
        RuleKey(
            name: "every",
            summary:
                "The same each time that so long has passed since the rule was first read: `7d`; a minute at least.",
            example: "every: 7d", required: false, schema: duration),
        RuleKey(
            name: "where", summary: "Conditions that must all hold; without it every file of the place is meant.",
            example: "where: { extension: cbz }", required: false, schema: ["$ref": "#/$defs/conditions"]),
        RuleKey(
            name: "settle", summary: "How long a file must be unchanged, 1s by default.", example: "settle: 2s",
            required: false,
            schema: duration),
        RuleKey(
            name: "existing",
            summary:
                "Files from before the first start, or from before the rule was added: `process` or `skip`. "
                + "By default `process` in places of kind inbox and dropbox, else `skip`.",
            example: "existing: process", required: false, schema: words(Rule.Existing.allCases.map(\.rawValue))),
        RuleKey(
            name: "do", summary: "The steps, in their order: each the name of an action with its parameters.",
            example: "do: [{ trash: {} }]", required: true, schema: ["$ref": "#/$defs/steps"]),
        RuleKey(
            name: "otherwise",
            summary:
                "Steps for files of the rule's places and events for which `where` does not hold. They are a rule of "
                + "their own, called `NAME, otherwise`.",
            example: "otherwise: [{ trash: {} }]", required: false,
            schema: ["$ref": "#/$defs/steps"]),
        RuleKey(
            name: "on-failure",
            summary:
                "Steps that follow once where a step fails for good or refuses the file, as a job of their own, called "
                + "`NAME, on failure`. They may use `failure.message` and `failure.step`. The job that failed stays what "
                + "it is.",
            example: "on-failure: [{ append-block: { text: \"{{ file.name }}: {{ failure.message }}\" } }]",
            required: false, schema: ["$ref": "#/$defs/steps"]),
        RuleKey(
            name: "refused",
            summary:
                "What happens to a file that an action refuses: `quarantine` or `leave`. "
                + "By default `quarantine` in places of kind inbox and dropbox, else, and in rules with `on-failure`, "
                + "`leave`.",
            example: "refused: leave", required: false, schema: words(Rule.Refused.allCases.map(\.rawValue))),
        RuleKey(
            name: "then",
            summary: "`continue` (the default), or `stop`: later rules do not see a file that this one matched.",
            example: "then: stop", required: false, schema: words(Rule.Then.allCases.map(\.rawValue))),
        RuleKey(
            name: "values",
            summary:
                "A table beside this file, or a list of them, for `{{ lookup:customers.name[match.id] }}`: CSV (commas or "
                + "semicolons) or TSV in UTF-8, the first line names the columns, the first column is the key.",
            example: "values: customers.csv", required: false, schema: ConditionSpec.oneOrMoreTexts),
        RuleKey(
            name: "repeat",
            summary:
                "`safe`: a step whose outcome is unknown after a crash is tried again instead of parked. "
                + "Beside the parameters of one step it is meant for that step alone.",
            example: "repeat: safe", required: false, schema: ["const": "safe"]),
        RuleKey(
            name: "examples",
            summary:
                "Files and their expected results: `steward rules test` runs them in a temporary home "
                + "(docs/first-rules.md). Not part of the rule itself.",
            example: "examples: [{ file: { name: a.log, age: 40d }, expect: { trashed: true } }]", required: false,
            schema: RuleExampleReader.schema),
    ]

    static let names = all.map(\.name)

    static let duration: JSON = ["type": "string", "pattern": "^[0-9.]+ *(ms|s|m|min|h|d|w)$"]

    static func words(_ words: [String], orList: Bool = false) -> JSON {
        let one: JSON = ["enum": .array(words.map { .string($0) })]
        return orList ? ["oneOf": [one, ["type": "array", "minItems": 1, "items": one]]] : one
    }
}
