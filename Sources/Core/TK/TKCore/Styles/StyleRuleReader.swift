import Platform

/// Compiles a rule's file as Vale would (docs/tk.md, "House rules").
struct StyleRuleReader {
    let file: StyleFile
    /// `Style.Rule`.
    let name: String
    /// Set in `.vale.ini`; overrides the file's.
    let level: StyleLevel?
    /// The words that vocabularies accept, as patterns.
    let accepted: [String]
    /// Of a `spelling` rule's `ignore`, in lower case.
    var ignored: Set<String> = []

    private static let unsupported: Set<String> = ["script", "sequence", "metric", "readability"]
    private static let boundary = #"(?m)\b(?:"#

    /// - Throws: ``FileProblem``, which says what to do.
    func rule() throws -> StyleRule {
        let kind = try file.text("extends")?.lowercased() ?? ""
        guard !Self.unsupported.contains(kind) else {
            throw file.problem("extends", "rules that extend `\(kind)` are not supported; \(name) is left out")
        }
        if file.holds("pos") {
            throw file.problem("pos", "parts of speech (`pos`) are not supported; \(name) is left out")
        }
        guard let message = try file.text("message") else {
            throw file.problem("extends", "a rule needs a `message`")
        }
        let stated = try file.text("level") ?? "warning"
        guard let own = StyleLevel(rawValue: stated.lowercased()) else {
            throw file.problem("level", "`level` must be suggestion, warning or error, and is `\(stated)`")
        }
        let usesVocabulary = try file.flag("vocab") ?? true
        let exceptions = try file.list("exceptions") + (usesVocabulary ? accepted.map { ($0, nil) } : [])
        let ignoresCase = try file.flag("ignorecase") ?? false
        return StyleRule(
            name: name, level: level ?? own, message: message, link: try file.text("link"), scopes: try scopes(),
            ignoresCase: ignoresCase, exceptions: try exceptionPattern(exceptions), action: try action(),
            limit: try file.count("limit").flatMap { $0 > 0 ? $0 : nil },
            check: try check(kind, ignoresCase, exceptions.map(\.text)))
    }

    private func scopes() throws -> [StyleScope] {
        let written = try file.texts("scope")
        guard !written.isEmpty else { return [.text] }
        let scopes = written.compactMap(StyleScope.init)
        guard !scopes.isEmpty else {
            throw file.problem(
                "scope", "the scope `\(written.joined(separator: ", "))` is not supported; \(name) is left out")
        }
        return scopes
    }

    private func action() throws -> StyleAction? {
        guard let (name, parameters) = try file.action() else { return nil }
        return StyleAction(name, parameters)
    }

    /// The longest first, so that `iOS app` is found before `iOS`.
    private func exceptionPattern(_ exceptions: [(text: String, line: Int?)]) throws -> StylePattern? {
        let sorted = exceptions.filter { !$0.text.isEmpty }.sorted { $0.text.count > $1.text.count }
        guard !sorted.isEmpty else { return nil }
        return try compiled(Self.boundary + sorted.map(\.text).joined(separator: "|") + ")\\b", "exceptions", sorted)
    }

    private func check(_ kind: String, _ ignoresCase: Bool, _ exceptions: [String]) throws -> StyleRule.Check {
        let isWhole = try !(file.flag("nonword") ?? false)
        /// Vale's template around tokens.
        func around(_ body: String, isWhole: Bool, raw: String = "", isAppended: Bool = false) -> String {
            let words = isWhole ? Self.boundary + body + ")\\b" : "(?m)(?:\(body))"
            return (ignoresCase ? "(?i)" : "") + (isAppended ? words + raw : raw + words)
        }
        switch kind {
        case "existence":
            let tokens = try file.list("tokens").filter { !$0.text.allSatisfy(\.isWhitespace) }
            let raw = try file.texts("raw").joined()
            guard !tokens.isEmpty || !raw.isEmpty else {
                throw file.problem("extends", "the rule needs `tokens` or `raw`")
            }
            if raw.isEmpty {
                let choices = tokens.map { StyleAlternation.Choice(pattern: $0.text, index: 0) }
                if let patterns = StyleAlternation(choices, wrap: { around($0, isWhole: isWhole) }) {
                    return .existence(patterns)
                }
            }
            let pattern = around(
                tokens.map(\.text).joined(separator: "|"), isWhole: isWhole && !tokens.isEmpty, raw: raw,
                isAppended: try file.flag("append") ?? false)
            return .existence(StyleAlternation(try compiled(pattern, tokens.isEmpty ? "raw" : "tokens", tokens)))
        case "substitution":
            let swap = try file.pairs("swap").sorted { ($0.key.count, $1.key) > ($1.key.count, $0.key) }
            guard !swap.isEmpty else { throw file.problem("extends", "the rule needs `swap`") }
            let choices = swap.enumerated().map { StyleAlternation.Choice(pattern: $1.key, index: $0) }
            guard let patterns = StyleAlternation(choices, wrap: { around($0, isWhole: isWhole) }) else {
                throw notUnderstood(swap.map(\.key).joined(separator: "|"), "swap", swap.map { ($0.key, $0.line) })
            }
            let replacements = try swap.map { key, value, line in
                guard value.contains(/\$\{?\d/) else { return StyleRule.Replacement(text: value) }
                let pattern = try compiled((ignoresCase ? "(?i)" : "") + key, "swap", [(key, line)])
                return StyleRule.Replacement(text: value, pattern: pattern)
            }
            return .substitution(patterns, replacements, capitalizes: try file.flag("capitalize") ?? false)
        case "occurrence":
            guard let token = try file.text("token") ?? file.texts("tokens").first else {
                throw file.problem("extends", "the rule needs a `token`")
            }
            let pattern = try compiled((ignoresCase ? "(?i)" : "") + "(?:\(token))", "token", [])
            return .occurrence(
                pattern, max: try file.count("max").flatMap { $0 > 0 ? $0 : nil }, min: try file.count("min"))
        case "repetition":
            let tokens = try file.list("tokens")
            let pattern = try compiled(
                (ignoresCase ? "(?i)(" : "(") + tokens.map(\.text).joined(separator: "|") + ")", "tokens",
                tokens)
            return .repetition(pattern, max: try file.count("max") ?? 0, onlyLetters: try file.flag("alpha") ?? false)
        case "consistency":
            return .consistency(
                try file.pairs("either").map {
                    try compiled(around("(\($0.key))|(\($0.value))", isWhole: isWhole), "either", [($0.key, $0.line)])
                })
        case "conditional":
            guard let first = try file.text("first"), let second = try file.text("second") else {
                throw file.problem("extends", "the rule needs `first` and `second`")
            }
            return .conditional(
                first: try compiled(first, "first", []), second: try compiled(second, "second", []))
        case "capitalization": return .capitalization(try capitalization(exceptions))
        case "spelling":
            let own = try file.flag("custom") ?? false
            let filters = try file.list("filters").map { ($0.text, $0.line) } + (own ? [] : Self.spellingFilters)
            return .spelling(
                filters: try filters.map { try compiled($0.0, "filters", [$0]) },
                known: ignored.union(exceptions.map { $0.lowercased() }))
        default:
            throw file.problem("extends", "there is no kind of rule `\(kind)`; \(name) is left out")
        }
    }

    static let usualFilters = spellingFilters.compactMap { StylePattern($0.0) }
    /// Names in capitals or with inner capitals, and words with digits.
    private static let spellingFilters: [(String, Int?)] = [
        (#"[A-Z][a-z]+[A-Z]+\w*"#, nil), (#"^[a-z]+[A-Z]\w*$"#, nil), (#"^[A-Z]{2,}(?:s|'s|’s)?$"#, nil),
        (#"[A-Z]$"#, nil),
        (#"[\d_]"#, nil),
    ]

    private func capitalization(_ exceptions: [String]) throws -> StyleCapitalization {
        let match = try file.text("match") ?? "$title"
        let form: StyleCapitalization.Form
        switch match {
        case "$title":
            let style = try file.text("style") ?? "AP"
            form = style == "Chicago" ? StyleCapitalization.chicago : StyleCapitalization.associatedPress
        case "$sentence": form = .sentence
        case "$lower": form = .lower
        case "$upper": form = .upper
        default: form = .pattern(try compiled(match, "match", []))
        }
        let threshold = try file.number("threshold") ?? 0
        let capitals = StyleCapitalization(
            form, indicators: try file.texts("indicators"), threshold: threshold == 0 ? 0.8 : threshold,
            prefix: try file.text("prefix").map { try compiled($0, "prefix", []) }, exceptions: exceptions)
        guard let capitals else {
            throw notUnderstood(exceptions.joined(separator: "|"), "exceptions", try file.list("exceptions"))
        }
        return capitals
    }

    /// - Throws: ``FileProblem`` with the line of the part that is invalid, if one of `parts` is on its own.
    private func compiled(
        _ pattern: String, _ key: String, _ parts: [(text: String, line: Int?)]
    ) throws -> StylePattern {
        if let compiled = StylePattern(pattern) { return compiled }
        throw notUnderstood(pattern, key, parts)
    }

    private func notUnderstood(
        _ pattern: String, _ key: String, _ parts: [(text: String, line: Int?)]
    ) -> FileProblem {
        let wrong = parts.first { StylePattern($0.text) == nil }
        let message =
            "`\(BytePath.escape((wrong?.text ?? pattern).utf8))` in `\(key)` is no regular expression that is "
            + "understood; rewrite it, or switch \(name) off in .vale.ini"
        return FileProblem(path: file.path, line: wrong?.line ?? file.problem(key, "").line, message: message)
    }
}
