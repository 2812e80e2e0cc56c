import Platform

/// The YAML at the top of a note (docs/design/front-matter.md), flattened: `author: { name: X }` becomes
/// `author.name`.
package struct FrontMatter: Sendable {
    package let values: Values

    /// nil if the text has no YAML front matter; empty if it is not valid YAML.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let span = FrontMatterSpan(bytes.span), span.syntax == .yaml else { return nil }
        // Front matter is untrusted input, so limits are small.
        var limits = YamlParser.Limits()
        limits.bytes = 65_536
        limits.depth = 8
        limits.nodes = 2_000
        let reader = YamlReader(file: "front matter", bytes: Array(bytes[span.inner]), limits: limits)
        var values: Values = [:]
        if let root = reader.root { Self.flatten(root, "", &values) }
        self.values = values
    }

    /// The text after the front matter, including TOML.
    package static func body(of text: String) -> Substring {
        let end = FrontMatterSpan(text.utf8.span)?.end ?? 0
        return text[text.utf8.index(text.startIndex, offsetBy: end)...]
    }

    private static func flatten(_ node: YamlNode, _ key: String, _ values: inout Values) {
        switch node.content {
        case .scalar(let text, let plain):
            if !key.isEmpty { values[key] = value(text, plain: plain) }
        case .sequence(let items):
            if !key.isEmpty { values[key] = .list(items.compactMap { $0.scalar.map(Value.text) }) }
        case .mapping(let entries):
            for entry in entries { flatten(entry.value, key.isEmpty ? entry.key : "\(key).\(entry.key)", &values) }
        }
    }

    private static func value(_ text: String, plain: Bool) -> Value {
        guard plain else { return .text(text) }
        if text == "~" || text == "null" { return .text("") }
        if text == "true" || text == "false" { return .boolean(text == "true") }
        // Only if it round-trips: `007` stays text.
        if let number = Int(text), String(number) == text { return .integer(number) }
        return .text(text)
    }
}
