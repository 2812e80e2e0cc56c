import Platform

/// A YAML value with its position. Aliases are expanded, tags ignored, and scalars kept as text.
package struct YamlNode: Sendable {
    package enum Content: Sendable {
        /// `plain` is false for quoted text and block scalars.
        case scalar(String, plain: Bool)
        case sequence([YamlNode])
        case mapping([YamlEntry])
    }

    package let content: Content
    package let position: SourcePosition

    package init(_ content: Content, at position: SourcePosition) {
        self.content = content
        self.position = position
    }

    /// The text of a scalar.
    package var scalar: String? {
        guard case .scalar(let text, _) = content else { return nil }
        return text
    }

    /// Whether the value is empty, `~` or `null`.
    package var isNull: Bool {
        guard case .scalar(let text, plain: true) = content else { return false }
        return text.isEmpty || text == "~" || text == "null"
    }

    /// For messages: `a list`, `a mapping`, `text`, `nothing`.
    package var kindName: String {
        switch content {
        case .scalar: isNull ? "nothing" : "text"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    /// The content in canonical form, independent of comments, layout, quoting and key order.
    package var canonical: String {
        switch content {
        case .scalar(let text, _): isNull ? "null" : Self.quoted(text)
        case .sequence(let items): "[" + items.map(\.canonical).joined(separator: ",") + "]"
        case .mapping(let entries):
            "{" + entries.map { Self.quoted($0.key) + ":" + $0.value.canonical }.sorted().joined(separator: ",") + "}"
        }
    }

    /// The content on one line, for explanations.
    package var oneLine: String {
        switch content {
        case .scalar(let text, _):
            text.isEmpty || text.contains(where: { "\n,[]{}#".contains($0) }) ? Self.quoted(text) : text
        case .sequence(let items): "[" + items.map(\.oneLine).joined(separator: ", ") + "]"
        case .mapping(let entries):
            "{ " + entries.map { "\($0.key): \($0.value.oneLine)" }.joined(separator: ", ") + " }"
        }
    }

    private static func quoted(_ text: String) -> String { JSON.string(text).line }
}

/// One `key: value` of a mapping.
package struct YamlEntry: Sendable {
    package let key: String
    package let keyPosition: SourcePosition
    package let value: YamlNode

    package init(key: String, keyPosition: SourcePosition, value: YamlNode) {
        self.key = key
        self.keyPosition = keyPosition
        self.value = value
    }
}

/// A mapping whose keys have been checked.
package struct YamlMapping: Sendable {
    package let entries: [YamlEntry]
    package let position: SourcePosition

    package init(entries: [YamlEntry], position: SourcePosition) {
        self.entries = entries
        self.position = position
    }

    package subscript(key: String) -> YamlNode? { entries.first { $0.key == key }?.value }
}
