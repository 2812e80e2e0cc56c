import Platform

/// The JSON Schema (2020-12) of rule files, generated from the same declarations as the loader. For editors with
/// completion and validation.
package enum RuleSchema {
    package static func json(registry: ActionRegistry) -> JSON {
        .object([
            ("$schema", "https://json-schema.org/draft/2020-12/schema"),
            ("title", "Steward rules"),
            ("description", "A file of rules.d: a list of rules."),
            (
                "oneOf",
                [["type": "array", "items": ["$ref": "#/$defs/rule"]], ["$ref": "#/$defs/rule"], ["type": "null"]]
            ),
            (
                "$defs",
                [
                    "rule": rule, "conditions": ["oneOf": [["$ref": "#/$defs/where"], conditionList]],
                    "where": conditions,
                    "steps": ["oneOf": [["$ref": "#/$defs/step"], stepList]], "step": step(registry),
                    "action": .object(
                        registry.definitions.map { ($0.declaration.name, action($0.declaration)) }),
                ]
            ),
        ])
    }

    private static let conditionList: JSON = [
        "type": "array", "minItems": 1, "items": ["$ref": "#/$defs/conditions"],
    ]
    private static let stepList: JSON = ["type": "array", "minItems": 1, "items": ["$ref": "#/$defs/step"]]

    private static var rule: JSON {
        .object([
            ("type", "object"),
            ("additionalProperties", false),
            ("required", .array(RuleKey.all.filter(\.required).map { .string($0.name) })),
            ("properties", .object(RuleKey.all.map { ($0.name, described($0.schema, $0.summary)) })),
        ])
    }

    private static var conditions: JSON {
        let tests = ConditionSpec.all.map { ($0.name, described($0.schema, $0.summary)) }
        let nesting = ConditionSpec.nesting.map {
            ($0.name, described(["$ref": "#/$defs/conditions"], $0.summary))
        }
        return .object([
            ("type", "object"), ("additionalProperties", false),
            ("properties", .object(tests + nesting)),
        ])
    }

    private static func step(_ registry: ActionRegistry) -> JSON {
        let bare = registry.definitions.filter { !$0.declaration.parameters.contains(where: \.required) }
        let reference = registry.definitions.map { definition -> (String, JSON) in
            (definition.declaration.name, ["$ref": .string("#/$defs/action/\(definition.declaration.name)")])
        }
        return [
            "oneOf": [
                ["enum": .array(bare.map { .string($0.declaration.name) })],
                [
                    "type": "object", "minProperties": 1, "maxProperties": 1,
                    "additionalProperties": false,
                    "properties": .object(reference),
                ],
            ]
        ]
    }

    private static func action(_ declaration: ActionDeclaration) -> JSON {
        let required = declaration.parameters.filter(\.required).map { JSON.string($0.name) }
        let own = declaration.parameters.map {
            ($0.name, described(schema($0.kind), $0.summary, $0.defaultValue))
        }
        let names = Set(declaration.parameters.map(\.name))
        let common = RuleKey.all.filter { $0.name == "repeat" && !names.contains($0.name) }
            .map { ($0.name, described($0.schema, $0.summary)) }
        return .object([
            ("description", .string(declaration.summary)),
            ("type", required.isEmpty ? ["object", "null"] : "object"),
            ("additionalProperties", false),
            ("required", .array(required)),
            ("properties", .object(own + common)),
        ])
    }

    private static let scalar: JSON = ["type": ["string", "number", "boolean"]]

    private static func schema(_ kind: ParameterSpec.Kind) -> JSON {
        switch kind {
        case .template: scalar
        case .templateList: ["oneOf": [scalar, ["type": "array", "items": scalar]]]
        case .literal: scalar
        case .choice(let words): RuleKey.words(words)
        case .boolean: ["type": "boolean"]
        case .integer(let range):
            ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        case .duration: RuleKey.duration
        case .place: ["type": "string"]
        case .templateMap: ["type": "object", "additionalProperties": scalar]
        case .steps: ["$ref": "#/$defs/steps"]
        }
    }

    private static func described(_ schema: JSON, _ summary: String, _ standard: String? = nil) -> JSON {
        guard case .object(let members) = schema else { return schema }
        let text = standard.map { "\(summary) Default: \($0)." } ?? summary
        return .object([("description", .string(text))] + members)
    }
}
