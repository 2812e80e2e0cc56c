/// Reads one YAML file and collects all errors. Each accessor reports an error and returns nil, so that the caller
/// can continue and all errors are reported together. Not thread-safe. Used for rule files and the configuration.
package final class YamlReader {
    package let source: SourceText
    /// nil for an empty document, or after a parse error, for which there is a diagnostic.
    package let root: YamlNode?
    private var collected: [Diagnostic]
    /// Those of them about missing configuration.
    private var lacking: [Diagnostic] = []

    /// - Parameter file: as a person would call it.
    package init(file: String, bytes: [UInt8], limits: YamlParser.Limits = .init()) {
        guard bytes.count <= limits.bytes else {
            source = SourceText(file: file, bytes: [])
            root = nil
            let size = "the file has \(bytes.count) bytes, more than the \(limits.bytes) that are read"
            collected = [source.diagnostic(at: .start, size, hint: "split it into several files")]
            return
        }
        source = SourceText(file: file, bytes: bytes)
        (root, collected) = YamlParser.parse(source, limits: limits)
    }

    /// All diagnostics so far, in file order.
    package var diagnostics: [Diagnostic] {
        collected.enumerated().sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }.map(
            \.element)
    }

    package func report(
        _ position: SourcePosition, _ message: String, hint: String? = nil, severity: Diagnostic.Severity = .error
    ) {
        collected.append(source.diagnostic(at: position, message, hint: hint, severity: severity))
    }

    /// Reports something missing from the configuration: an error, unless the file also serves other configurations.
    package func reportLack(_ position: SourcePosition, _ message: String, hint: String? = nil) {
        let complaint = source.diagnostic(at: position, message, hint: hint)
        collected.append(complaint)
        lacking.append(complaint)
    }

    /// The result of `body`. If the configuration lacks something it needs, returns nil instead, and of its
    /// diagnostics keeps only those about that, converted by `tell`.
    func unlessLacking<R>(tell: (Diagnostic) -> Diagnostic, _ body: () -> R) -> R? {
        let (before, lackingBefore) = (collected, lacking)
        lacking = []
        let result = body()
        let lacks = lacking
        lacking = lackingBefore
        guard !lacks.isEmpty else { return result }
        collected = before + lacks.map(tell)
        return nil
    }

    /// A mapping with only the keys in `allowed` (nil: any).
    ///
    /// - Parameter what: for messages: `a rule`, `where`.
    package func mapping(_ node: YamlNode, _ what: String, keys allowed: [String]? = nil) -> YamlMapping? {
        guard case .mapping(let entries) = node.content else {
            report(node.position, "\(what) must be a mapping of keys to values, not \(node.kindName)")
            return nil
        }
        guard let allowed else { return YamlMapping(entries: entries, position: node.position) }
        for entry in entries where !allowed.contains(entry.key) {
            let hint = Suggest.hint(for: entry.key, among: allowed)
            report(entry.keyPosition, "unknown key `\(printable(entry.key))` in \(what)", hint: hint)
        }
        return YamlMapping(entries: entries.filter { allowed.contains($0.key) }, position: node.position)
    }

    package func sequence(_ node: YamlNode, _ what: String) -> [YamlNode]? {
        guard case .sequence(let items) = node.content else {
            report(node.position, "\(what) must be a list, not \(node.kindName)")
            return nil
        }
        return items
    }

    /// A list's items, or the single value itself.
    package func oneOrMore(_ node: YamlNode) -> [YamlNode] {
        guard case .sequence(let items) = node.content else { return [node] }
        return items
    }

    /// Text that is not empty.
    package func text(_ node: YamlNode, _ what: String) -> String? {
        guard let text = anyText(node, what) else { return nil }
        if text.trimmedSpaces.isEmpty {
            report(node.position, "\(what) is empty")
            return nil
        }
        return text
    }

    /// Text, possibly empty.
    package func anyText(_ node: YamlNode, _ what: String) -> String? {
        guard let text = node.scalar else {
            let hint = looksLikeTemplate(node) ? "quote text that begins with `{{`: \"{{ … }}\"" : nil
            report(node.position, "\(what) must be text, not \(node.kindName)", hint: hint)
            return nil
        }
        return text
    }

    /// One or more non-empty texts, from a list or a single value; an empty list is an error.
    package func texts(_ node: YamlNode, _ what: String) -> [String]? {
        let items = oneOrMore(node)
        if items.isEmpty {
            report(node.position, "\(what) is an empty list")
            return nil
        }
        let texts = items.compactMap { text($0, what) }
        return texts.count == items.count ? texts : nil
    }

    package func boolean(_ node: YamlNode, _ what: String) -> Bool? {
        switch node.scalar?.lowercased() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default:
            report(node.position, "\(what) must be `true` or `false`, not \(shown(node))")
            return nil
        }
    }

    package func integer(_ node: YamlNode, _ what: String, in range: ClosedRange<Int> = Int.min...Int.max) -> Int? {
        guard let number = node.scalar.flatMap({ Int($0.filter { $0 != "_" }) }) else {
            report(node.position, "\(what) must be a whole number, not \(shown(node))")
            return nil
        }
        guard range.contains(number) else {
            report(node.position, "\(what) must be between \(range.lowerBound) and \(range.upperBound), not \(number)")
            return nil
        }
        return number
    }

    /// Seconds: `2s`, `1.5m`, `500ms`, `1h`, `7d`.
    package func duration(_ node: YamlNode, _ what: String) -> Double? {
        if let seconds = node.scalar.flatMap(Quantity.seconds) { return seconds }
        let hint = node.scalar.flatMap(Double.init) != nil ? "did you mean `\(shown(node, quote: ""))s`?" : nil
        report(
            node.position, "\(what) must be a duration such as `2s`, `500ms`, `1h` or `7d`, not \(shown(node))",
            hint: hint)
        return nil
    }

    /// Bytes: `100`, `1.5 KiB`, `2 GiB`, `10 MB`.
    package func size(_ node: YamlNode, _ what: String) -> Int64? {
        if let bytes = node.scalar.flatMap(Quantity.bytes) { return bytes }
        report(node.position, "\(what) must be a size such as `500 KiB` or `2 GiB`, not \(shown(node))")
        return nil
    }

    package func choice(_ node: YamlNode, _ what: String, among words: [String]) -> String? {
        if let word = node.scalar, words.contains(word) { return word }
        let hint = node.scalar.flatMap { Suggest.closest(to: $0, among: words) }.map { "did you mean `\($0)`?" }
        let list = words.map { "`\($0)`" }.joined(separator: ", ")
        report(node.position, "\(what) must be one of \(list), not \(shown(node))", hint: hint)
        return nil
    }

    /// A value as quoted in messages.
    package func shown(_ node: YamlNode, quote: String = "`") -> String {
        guard let text = node.scalar, !node.isNull else { return node.kindName }
        return quote + printable(text) + quote
    }

    /// Without quotes, `text: {{ x }}` is a mapping with a mapping as its key.
    private func looksLikeTemplate(_ node: YamlNode) -> Bool {
        guard source.lines.indices.contains(node.position.line - 1) else { return false }
        return source.lines[node.position.line - 1].unicodeScalars.dropFirst(node.position.column - 1).starts(
            with: "{{".unicodeScalars)
    }
}
