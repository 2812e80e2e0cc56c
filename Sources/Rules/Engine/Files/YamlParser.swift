import Platform
import Yams

/// Parses YAML text into ``YamlNode`` and reports all errors. No input can make it crash or use unbounded memory.
///
/// Duplicate keys do not end parsing, as they do in Yams: the earlier key is renamed in the text, which is parsed
/// again, so that all errors in a file are reported together.
package enum YamlParser {
    package struct Limits: Sendable {
        /// Of a file; enforced by ``YamlReader``.
        package var bytes = 1 << 20
        package var depth = 32
        package var nodes = 200_000

        package init() {}
    }

    /// - Returns: the root; nil for an empty document, or if it cannot be parsed.
    package static func parse(_ source: SourceText, limits: Limits = Limits()) -> (root: YamlNode?, [Diagnostic]) {
        if let fault = source.fault {
            let hint = "save the file as plain UTF-8 text"
            return (nil, [source.diagnostic(at: fault.position, fault.message, hint: hint)])
        }
        if let position = bomb(source) {
            let message = "so many anchors and aliases could expand to more values than are read"
            return (nil, [source.diagnostic(at: position, message, hint: "write the values out")])
        }
        if mostNesting(source) < 100 { return compose(source, limits) }
        return DeepStack.run { compose(source, limits) }
    }

    /// An upper bound of the nesting: all opening brackets, plus the most leading spaces and dashes of any line.
    private static func mostNesting(_ source: SourceText) -> Int {
        let brackets = source.text.utf8.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
        return brackets + (source.lines.map { $0.utf8.prefix { " \t-?".utf8.contains($0) }.count }.max() ?? 0)
    }

    private static func compose(_ source: SourceText, _ limits: Limits) -> (YamlNode?, [Diagnostic]) {
        var text = source.text
        var renamed: [SourcePosition: String] = [:]
        while true {
            do {
                // The basic resolver keeps scalars as text; the reader interprets them.
                let node = try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
                var builder = Builder(source: source, limits: limits, renamed: renamed)
                return (node.flatMap { builder.node($0, depth: 0) }, builder.diagnostics)
            } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
                let position = SourcePosition(line: context.mark.line, column: context.mark.column)
                if let key = keys.first, renamed.count < 100,
                    let changed = rename(key, at: position, in: text, number: renamed.count)
                {
                    text = changed
                    renamed[position] = key
                    continue
                }
                let named = keys.map { "`\($0)`" }.joined(separator: ", ")
                return (
                    nil,
                    [source.diagnostic(at: position, "the key \(BytePath.escape(Array(named.utf8))) is repeated")]
                )
            } catch {
                return (nil, [diagnostic(error, source)])
            }
        }
    }

    /// The position of the first anchor, if anchors and aliases could expand without reasonable bounds. Scans the raw
    /// text before parsing: `k` anchors with `a` aliases give at most (1 + a/k)^k values.
    private static func bomb(_ source: SourceText) -> SourcePosition? {
        var anchors = 0.0
        var aliases = 0.0
        var first: SourcePosition?
        for (number, line) in source.lines.enumerated() {
            var previous: Unicode.Scalar = " "
            let scalars = Array(line.unicodeScalars)
            for (index, scalar) in scalars.enumerated() {
                let starts = " \t[{,:?-".unicodeScalars.contains(previous)
                let continues = index + 1 < scalars.count && !" \t".unicodeScalars.contains(scalars[index + 1])
                if starts, continues, scalar == "&" {
                    anchors += 1
                    if first == nil { first = SourcePosition(line: number + 1, column: index + 1) }
                } else if starts, continues, scalar == "*" {
                    aliases += 1
                }
                previous = scalar
            }
        }
        guard anchors > 0, aliases > 0 else { return nil }
        var expansion = 1.0
        for _ in 0..<Int(min(anchors, 1_000)) where expansion < 1e6 { expansion *= 1 + aliases / anchors }
        return expansion > 100_000 ? first : nil
    }

    /// Replaces the key at `position` with as many private-use characters, so that all other positions stay the same.
    private static func rename(_ key: String, at position: SourcePosition, in text: String, number: Int) -> String? {
        let wanted = Array(key.unicodeScalars)
        guard !wanted.isEmpty, let junk = Unicode.Scalar(0xE000 + UInt32(number)) else { return nil }
        var scalars = Array(text.unicodeScalars)
        var index = 0
        var line = 1
        while line < position.line {
            guard index < scalars.count else { return nil }
            let scalar = scalars[index]
            index += 1
            if scalar == "\r", index < scalars.count, scalars[index] == "\n" { index += 1 }
            if ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"].contains(scalar) { line += 1 }
        }
        index += position.column - 1
        guard index < scalars.count else { return nil }
        if scalars[index] == "\"" || scalars[index] == "'" { index += 1 }
        guard index + wanted.count <= scalars.count, Array(scalars[index..<(index + wanted.count)]) == wanted else {
            return nil
        }
        for offset in wanted.indices { scalars[index + offset] = junk }
        var changed = String.UnicodeScalarView()
        changed.append(contentsOf: scalars)
        return String(changed)
    }

    private static func diagnostic(_ error: any Error, _ source: SourceText) -> Diagnostic {
        switch error {
        case YamlError.scanner(let context, let problem, let mark, _),
            YamlError.parser(let context, let problem, let mark, _),
            YamlError.composer(let context, let problem, let mark, _):
            // A mark past the end is useless; fall back to that of the context.
            let position = SourcePosition(line: min(mark.line, source.lines.count), column: mark.column)
            let before = context.map { "\($0.text.trimmedSpaces), " } ?? ""
            return source.diagnostic(
                at: position, "this is not valid YAML: \(before)\(problem)",
                hint: hint(problem, source, position.line) ?? context.flatMap { hint(problem, source, $0.mark.line) })
        default:
            return source.diagnostic(at: .start, "this is not valid YAML")
        }
    }

    /// The most common mistakes: `name: *.cbz`, `size: > 1 GiB`, `text: {{ x }}`, tabs.
    private static func hint(_ problem: String, _ source: SourceText, _ number: Int) -> String? {
        let line = source.lines.indices.contains(number - 1) ? source.lines[number - 1] : ""
        if line.contains("\t"), problem.contains("token") { return "indent with spaces, not tabs" }
        if line.contains(": *") || line.contains("- *") || line.contains("[*") {
            return "quote the pattern: \"*…\" (a bare `*` begins a YAML alias)"
        }
        if line.contains(": >") { return "quote the comparison: \"> …\" (a bare `>` begins a YAML block)" }
        if line.contains("{{") { return "quote the text that holds `{{ }}`" }
        return nil
    }

    /// Converts the Yams tree to ours, within the limits.
    private struct Builder {
        let source: SourceText
        let limits: Limits
        let renamed: [SourcePosition: String]
        var diagnostics: [Diagnostic] = []
        var count = 0

        init(source: SourceText, limits: Limits, renamed: [SourcePosition: String]) {
            self.source = source
            self.limits = limits
            self.renamed = renamed
        }

        mutating func node(_ node: Node, depth: Int) -> YamlNode? {
            count += 1
            let position = SourcePosition(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
            guard count <= limits.nodes else {
                if count == limits.nodes + 1 {
                    diagnostics.append(source.diagnostic(at: position, "the file holds too many values"))
                }
                return nil
            }
            guard depth < limits.depth else {
                let message = "values are nested more than \(limits.depth) deep"
                if diagnostics.last?.message != message { diagnostics.append(source.diagnostic(at: position, message)) }
                return nil
            }
            switch node {
            case .scalar(let scalar):
                return YamlNode(
                    .scalar(scalar.string, plain: scalar.style == .plain || scalar.style == .any), at: position)
            case .sequence(let sequence):
                return YamlNode(.sequence(sequence.compactMap { self.node($0, depth: depth + 1) }), at: position)
            case .mapping(let mapping):
                return YamlNode(.mapping(entries(mapping, depth: depth)), at: position)
            case .alias:
                diagnostics.append(source.diagnostic(at: position, "this alias refers to nothing"))
                return nil
            }
        }

        private mutating func entries(_ mapping: Node.Mapping, depth: Int) -> [YamlEntry] {
            var entries: [YamlEntry] = []
            var first: [String: SourcePosition] = [:]
            for (key, value) in mapping {
                let position = SourcePosition(line: key.mark?.line ?? 1, column: key.mark?.column ?? 1)
                guard case .scalar(let scalar) = key else {
                    let hint = "quote text that begins with `{` or `[`"
                    diagnostics.append(source.diagnostic(at: position, "a key must be text", hint: hint))
                    continue
                }
                let name = renamed[position] ?? scalar.string
                if let earlier = first[name] {
                    let message = "the key `\(printable(name))` is repeated; the first is on line \(earlier.line)"
                    diagnostics.append(source.diagnostic(at: position, message, hint: "remove one of them"))
                    continue
                }
                first[name] = position
                if let value = node(value, depth: depth + 1) {
                    entries.append(YamlEntry(key: name, keyPosition: position, value: value))
                }
            }
            return entries
        }
    }
}
