import Platform

/// The YAML between two `---` lines at the start of a note, flattened: `author: { name: X }` becomes `author.name`.
package struct FrontMatter: Sendable {
    package let values: Values

    /// Nil where the text has no front matter; empty where it has one that is not valid YAML.
    package init?(_ text: String) {
        guard let (inner, _) = Self.split(text) else { return nil }
        // Front matter comes from outside: small limits.
        var limits = YamlParser.Limits()
        limits.bytes = 65_536
        limits.depth = 8
        limits.nodes = 2_000
        let reader = YamlReader(file: "front matter", bytes: Array(inner.utf8), limits: limits)
        var values: Values = [:]
        if let root = reader.root { Self.flatten(root, "", &values) }
        self.values = values
    }

    /// The text after the front matter.
    package static func body(of text: String) -> Substring {
        split(text)?.body ?? text[...]
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
        // Only what reads back as it was written: `007` stays text.
        if let number = Int(text), String(number) == text { return .integer(number) }
        return .text(text)
    }

    private static func split(_ text: String) -> (inner: Substring, body: Substring)? {
        var rest = text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...]
        guard let first = line(&rest), first == "---" else { return nil }
        let start = rest.startIndex
        while !rest.isEmpty {
            let end = rest.startIndex
            guard let line = line(&rest) else { return nil }
            if line == "---" || line == "..." { return (text[start..<end], rest) }
        }
        return nil
    }

    /// Takes the next line off `rest`, without its end and the spaces before it.
    private static func line(_ rest: inout Substring) -> Substring? {
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex(where: \.isNewline) ?? rest.endIndex
        var line = rest[..<end]
        rest = end == rest.endIndex ? rest[end...] : rest[rest.index(after: end)...]
        while line.last == " " || line.last == "\t" { line = line.dropLast() }
        return line
    }
}
