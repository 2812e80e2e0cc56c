import Platform

/// A `.vale.ini`: which styles and rules apply to which files.
struct StyleSettings: Sendable {
    /// The switch of a rule.
    enum Choice: Sendable, Equatable { case off, on, level(StyleLevel) }

    /// The part for files whose names match.
    struct Section: Sendable {
        /// nil for `[*]`, and for keys before any section.
        var glob: Glob?
        /// nil if the section names none.
        var styles: [String]?
        var choices: [String: Choice] = [:]
        /// Source text that is no prose, as patterns with their lines.
        var ignores: [(pattern: String, line: Int)] = []
    }

    let path: BytePath
    private(set) var stylesFolder: BytePath
    /// As in Vale, suggestions are shown only if asked for.
    private(set) var minimum = StyleLevel.warning
    private(set) var vocabularies: [String] = []
    private(set) var sections = [Section()]
    /// The endings of names that sections speak of, by those of files: `md` for `mdx`.
    private var formats: [String: String] = [:]
    private(set) var problems: [FileProblem] = []

    /// Keys of ours and of Vale that are no rules'.
    private static let others: Set<String> = [
        "Packages", "IgnoredScopes", "SkippedScopes", "IgnoredClasses", "WordTemplate", "DictionaryPath", "Lang",
        "CommentDelimiters", "Transform", "SphinxBuildPath", "SphinxAutoBuild", "NLPEndpoint", "Blueprint", "View",
    ]

    init(_ text: String, path: BytePath) {
        self.path = path
        stylesFolder = path.parent.appending("styles")
        var (isSkipped, isFormats) = (false, false)
        for (line, number) in Self.lines(text) {
            guard let first = line.first else { continue }
            if first == "[" {
                isFormats = line.lowercased() == "[formats]"
                isSkipped = !open(line[...], number)
            } else if isFormats {
                let parts = line.split(separator: "=").map { String(Self.trimmed($0)) }
                if parts.count == 2 { formats[parts[0]] = parts[1] }
            } else if !isSkipped {
                read(line[...], number)
            }
        }
    }

    /// Without comments, and with those joined that end in a backslash.
    private static func lines(_ text: String) -> [(text: String, number: Int)] {
        var lines: [(text: String, number: Int)] = []
        var isContinued = false
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            var line = String(trimmed(line))
            if line.hasPrefix("#") || line.hasPrefix(";") { line = "" }
            if let comment = line.firstRange(of: #/\s[#;](?=\s|$)/#) {
                line = String(trimmed(line[..<comment.lowerBound]))
            }
            let continues = line.hasSuffix("\\")
            if continues { line = String(trimmed(line.dropLast())) }
            if isContinued { lines[lines.count - 1].text += line } else { lines.append((line, index + 1)) }
            isContinued = continues
        }
        return lines
    }

    /// The path that `relative` leads to from a folder, without links.
    private static func path(_ relative: BytePath, from folder: BytePath) -> BytePath {
        var path = relative.isAbsolute ? BytePath("/") : folder
        for part in relative.bytes.split(separator: UInt8(ascii: "/")) {
            switch String(decoding: part, as: UTF8.self) {
            case ".": continue
            case "..": path = path.parent
            default: path = path.appending(name: part)
            }
        }
        return path
    }

    private mutating func note(_ line: Int, _ message: String) {
        problems.append(FileProblem(path: path, line: line, message: message))
    }

    /// - Returns: whether the section is about rules.
    private mutating func open(_ line: Substring, _ number: Int) -> Bool {
        guard line.last == "]" else {
            note(number, "a section is a glob in brackets, such as [*.md]")
            return false
        }
        let name = String(line.dropFirst().dropLast())
        if ["formats", "asciidoctor", "adoc"].contains(name.lowercased()) { return false }
        do {
            // Vale's `*` matches across folders.
            let glob = name == "*" ? nil : try Glob(name.hasPrefix("**/") || name.hasPrefix("/") ? name : "**/" + name)
            sections.append(Section(glob: glob))
            return true
        } catch {
            note(number, "the section `\(name)` is no glob: \(error.message)")
            return false
        }
    }

    private mutating func read(_ line: Substring, _ number: Int) {
        guard let sign = line.firstIndex(of: "=") else { return note(number, "a line is `Key = value`") }
        let key = String(Self.trimmed(line[..<sign]))
        let value = Self.trimmed(line[line.index(after: sign)...])
        let list = value.split(separator: ",").map { String(Self.trimmed($0)) }.filter { !$0.isEmpty }
        let last = sections.count - 1
        switch key {
        case "StylesPath": stylesFolder = Self.path(BytePath(String(value)), from: path.parent)
        case "MinAlertLevel":
            guard let level = StyleLevel(rawValue: value.lowercased()) else {
                return note(number, "MinAlertLevel is suggestion, warning or error, and not `\(value)`")
            }
            minimum = level
        case "Vocab": vocabularies += list
        case "BasedOnStyles": sections[last].styles = (sections[last].styles ?? []) + list
        case "BlockIgnores", "TokenIgnores", "IgnorePatterns":
            // Commas separate patterns, but not in `{1,2}`.
            sections[last].ignores += Self.patterns(value).map { ($0, number) }
        default:
            guard key.contains(".") else {
                if !Self.others.contains(key) { note(number, "the key `\(key)` is not known here and has no effect") }
                return
            }
            switch value.lowercased() {
            case "no", "false", "off": sections[last].choices[key] = .off
            case "yes", "true", "on": sections[last].choices[key] = .on
            case let word:
                guard let level = StyleLevel(rawValue: word) else {
                    return note(number, "`\(key)` is YES, NO, suggestion, warning or error, and not `\(value)`")
                }
                sections[last].choices[key] = .level(level)
            }
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return text
    }

    private static func patterns(_ value: Substring) -> [String] {
        var parts = [""]
        var depth = 0
        for character in value {
            if "([{".contains(character) { depth += 1 }
            if ")]}".contains(character) { depth -= 1 }
            if character == ",", depth <= 0 { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        return parts.map { String(trimmed(Substring($0))) }.filter { !$0.isEmpty }
    }

    /// The sections for a file; the last word counts.
    private func sections(for file: BytePath) -> [Section] {
        let path = [UInt8(ascii: "/")] + (file.relative(to: self.path.parent) ?? file).bytes
        let general = sections.filter { $0.glob == nil }
        var names = [path]
        let ending = file.stemAndExtension.extension.map { String(decoding: $0, as: UTF8.self) }
        if let ending, let format = formats[ending] { names.append(path.dropLast(ending.utf8.count) + format.utf8) }
        let special = sections.filter { section in
            names.contains { name in
                section.glob.map { $0.matches(name) || $0.matches(Array(name.dropFirst())) } ?? false
            }
        }
        return general + special
    }

    /// What applies to a file: its styles, the switches of rules, and the patterns of text that is no prose.
    func effective(for file: BytePath) -> Effective {
        var effective = Effective()
        for section in sections(for: file) {
            if let styles = section.styles { effective.styles = Set(styles) }
            effective.choices.merge(section.choices) { $1 }
            effective.ignores += section.ignores.map(\.pattern)
        }
        return effective
    }

    /// See ``effective(for:)``.
    struct Effective: Sendable {
        var styles: Set<String> = []
        var choices: [String: Choice] = [:]
        var ignores: [String] = []

        func runs(_ rule: StyleRule) -> Bool {
            switch choices[rule.name] {
            case .off?: false
            case .on?, .level?: true
            case nil: styles.contains(String(rule.style))
            }
        }
    }

    /// The styles that some file may need, with `Style.Rule` of rules that are switched on alone.
    var mentioned: (styles: Set<String>, rules: Set<String>) {
        let styles = Set(sections.flatMap { $0.styles ?? [] })
        let rules = sections.flatMap { $0.choices.filter { $0.value != .off }.keys }
        return (styles, Set(rules))
    }

    /// The level set for a rule.
    func level(of rule: String) -> StyleLevel? {
        for section in sections.reversed() {
            if case .level(let level)? = section.choices[rule] { return level }
        }
        return nil
    }
}
