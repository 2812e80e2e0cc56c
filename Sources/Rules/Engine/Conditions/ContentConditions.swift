import Foundation
import Platform

/// Conditions on a file's content.
extension ConditionSpec {
    static let contentConditions: [ConditionSpec] = [
        ConditionSpec(
            "kind",
            "What the content is, whatever the name says: note (Markdown), text, link, image, comic, pdf, "
                + "archive or other. A list: one must match.",
            example: "kind: [note, text]",
            schema: [
                "oneOf": [
                    ["enum": kinds], ["type": "array", "minItems": 1, "items": ["enum": kinds]],
                ]
            ]
        ) { node, context in
            let words = ContentKind.allCases.map(\.rawValue)
            let items = context.reader.oneOrMore(node)
            if items.isEmpty { context.reader.report(node.position, "`kind` is an empty list") }
            let wanted = items.compactMap { context.reader.choice($0, "`kind`", among: words) }
            guard wanted.count == items.count, !items.isEmpty else { return nil }
            return Loaded { facts, _ in
                let found = try facts.kind().kind.rawValue
                return Observation(wanted.contains(found), seen: found)
            }
        },
        ConditionSpec(
            "mime", "The content's MIME type, by globs. A list: one must match.", example: "mime: \"image/*\"",
            schema: oneOrMoreTexts
        ) { node, context in
            guard let globs = context.globs(node, "mime") else { return nil }
            return Loaded { facts, _ in
                let found = try facts.kind().mime
                return Observation(globs.contains { $0.matches(found) }, seen: found)
            }
        },
        ConditionSpec(
            "text",
            "What a text or note contains: `contains` (as it stands, case counts) or `matches` (a regular "
                + "expression; `^` and `$` are ends of lines). The first mebibyte is looked at. Lists: one must match. A group "
                + "`(?<number>…)` gives the value `match.number`.",
            example: "text: { contains: \"#inbox\" }",
            schema: [
                "type": "object", "additionalProperties": false, "minProperties": 1,
                "properties": ["contains": oneOrMoreTexts, "matches": oneOrMoreTexts],
            ], load: loadText),
        ConditionSpec(
            "front-matter",
            "A note's front matter, YAML between `---` at its very top and `---` or `...`: keys with a value, a glob, a list "
                + "of them, `present` or `absent`. Nested keys are dotted. All keys must hold.",
            example: "front-matter: { status: [draft, review], due: present }", schema: presence
        ) { node, context in
            guard let wanted = context.expectations(node, "front-matter") else { return nil }
            return Loaded { facts, _ in
                let front = try facts.frontMatter()
                var seen: [String] = []
                var held = true
                for (key, expectation) in wanted {
                    let found: [String]? =
                        switch front?.values[key] {
                        case .list(let items)?: items.map { $0.shown(.gmt) }
                        case let value?: [value.shown(.gmt)]
                        case nil: nil
                        }
                    held = held && expectation.holds(found)
                    seen.append("\(printable(key)): \(found.map { printable($0.joined(separator: ", ")) } ?? "absent")")
                }
                return Observation(held, seen: front == nil ? "no front matter" : seen.joined(separator: "; "))
            }
        },
    ]

    private static let kinds = JSON.array(ContentKind.allCases.map { .string($0.rawValue) })

    @Sendable private static func loadText(_ node: YamlNode, _ context: ConditionReader) -> Loaded? {
        guard let mapping = context.reader.mapping(node, "`text`", keys: ["contains", "matches"]) else { return nil }
        if mapping.entries.isEmpty {
            context.reader.report(node.position, "`text` needs `contains` or `matches`")
            return nil
        }
        var contained: [String]?
        var patterns: [TextPattern]?
        if let contains = mapping["contains"] {
            contained = context.texts(contains, "contains")
            if contained == nil { return nil }
        }
        if let matches = mapping["matches"] {
            guard let texts = context.texts(matches, "matches") else { return nil }
            let compiled = zip(context.reader.oneOrMore(matches), texts).map { item, text -> TextPattern? in
                if let pattern = TextPattern(text) { return pattern }
                context.reader.report(item.position, "`\(printable(text))` is not a valid regular expression")
                return nil
            }
            let good = compiled.compactMap(\.self)
            guard good.count == compiled.count else { return nil }
            patterns = good
        }
        return Loaded(provides: patterns?.flatMap(\.provides) ?? []) { [contained, patterns] facts, _ in
            guard let text = try facts.text() else { return Observation(false, seen: "not a text") }
            var seen = "\(text.utf8.count) bytes of text"
            if let contained {
                guard let found = contained.first(where: { text.contains($0) }) else {
                    return Observation(false, seen: seen)
                }
                seen = "`\(printable(found))`"
            }
            if let patterns {
                for pattern in patterns {
                    switch pattern.firstMatch(in: text) {
                    case .found(let match, let values):
                        return Observation(true, seen: "`\(printable(match))`", values: values)
                    case .none: continue
                    case .gaveUp:
                        seen = "`\(printable(pattern.text))` was abandoned: it needs too many steps for this text"
                    }
                }
                return Observation(false, seen: seen)
            }
            return Observation(true, seen: seen)
        }
    }
}
