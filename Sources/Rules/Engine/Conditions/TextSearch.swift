import Platform

/// The search of `contains` in a document's text.
struct TextSearch: Sendable {
    private let texts: [String]?
    private let patterns: [TextPattern]?
    private let ignoresCase: Bool

    /// nil after reporting an error.
    init?(_ node: YamlNode, _ context: ConditionReader) {
        let reader = context.reader
        guard case .mapping = node.content else {
            guard let texts = context.texts(node, "contains") else { return nil }
            (self.texts, self.patterns, self.ignoresCase) = (texts, nil, true)
            return
        }
        guard let mapping = reader.mapping(node, "`contains`", keys: ["text", "matches", "case"]) else { return nil }
        if mapping["text"] == nil && mapping["matches"] == nil {
            reader.report(node.position, "`contains` needs `text` or `matches`")
            return nil
        }
        var ignoresCase = true
        if let choice = mapping["case"] {
            guard let word = reader.choice(choice, "`case`", among: ["match", "ignore"]) else { return nil }
            ignoresCase = word == "ignore"
        }
        var texts: [String]?
        if let text = mapping["text"] {
            texts = context.texts(text, "text")
            if texts == nil { return nil }
        }
        var patterns: [TextPattern]?
        if let matches = mapping["matches"] {
            guard let sources = context.texts(matches, "matches") else { return nil }
            var good: [TextPattern] = []
            for (item, source) in zip(reader.oneOrMore(matches), sources) {
                guard let pattern = TextPattern(ignoresCase ? "(?i)\(source)" : source) else {
                    reader.report(item.position, "`\(printable(source))` is not a valid regular expression")
                    continue
                }
                good.append(pattern)
            }
            guard good.count == sources.count else { return nil }
            patterns = good
        }
        (self.texts, self.patterns, self.ignoresCase) = (texts, patterns, ignoresCase)
    }

    /// The values that a match provides.
    var provides: [ValueSpec] { patterns?.flatMap(\.provides) ?? [] }

    /// - Parameter isCut: whether the document continues after the text.
    func look(in text: String, isCut: Bool) -> Observation {
        let size = "\(text.utf8.count) bytes of text" + (isCut ? ", and more that is not looked at" : "")
        var seen = size
        if let texts {
            let flat = flattened(text)
            guard let found = texts.first(where: { flat.firstRange(of: flattened($0)) != nil }) else {
                return Observation(false, seen: size)
            }
            seen = "`\(printable(found))`"
        }
        guard let patterns else { return Observation(true, seen: seen) }
        seen = size
        for pattern in patterns {
            switch pattern.firstMatch(in: text) {
            case .found(let match, let values):
                return Observation(true, seen: "`\(printable(match))`", values: values)
            case .none: continue
            case .gaveUp: seen = "`\(printable(pattern.text))` was abandoned: it needs too many steps for this text"
            }
        }
        return Observation(false, seen: seen)
    }

    /// Collapses white space into single spaces, and folds case if it is ignored. A document's line breaks depend
    /// only on its page width.
    private func flattened(_ text: String) -> [UInt8] {
        let cased = (ignoresCase ? text.lowercased() : text).composed
        var flat: [UInt8] = []
        flat.reserveCapacity(cased.utf8.count)
        for scalar in cased.unicodeScalars {
            if scalar.properties.isWhitespace {
                if flat.last != 0x20 { flat.append(0x20) }
            } else {
                flat.append(contentsOf: String(scalar).utf8)
            }
        }
        return flat
    }
}
