import Platform

/// How a value's own markup is treated when the value is inserted into Markdown.
package enum Markup: Sendable {
    /// All of it is escaped and shows as typed; web addresses stay clickable.
    case escaped
    /// Kept, because the rule says so.
    case raw
}

/// The only place where untrusted text becomes Markdown. A value is one line and shows as typed, and the template's
/// own markup keeps its meaning whatever its values contain.
///
/// Escaping is sound because a value's own backslashes are escaped first. Combinations across the borders of values
/// and template (`!` and `[`, `]` and `(`) are escaped too.
package struct SafeMarkdown {
    enum Kind {
        /// Text within a note, below one of our anchors.
        case block
        /// A whole file, including front matter.
        case file
        /// The text of one heading.
        case heading
        /// A line without links of ours, which may contain code.
        case line
    }

    /// The start of a link address in the template.
    private struct Destination {
        var start: Int
        var isPicture: Bool
        var isInAngles = false
        /// Whether the address begins with the template's own text.
        var isBegun = false
    }

    private let kind: Kind
    private var out: [Unicode.Scalar] = []
    /// Whether the last scalar of `out` comes from a value.
    private var endsInValue = false
    /// The template's open brackets; true for a picture's.
    private var brackets: [Bool] = []
    /// The bracket that the template has just closed: its index, and whether it was a picture's.
    private var closed: (index: Int, isPicture: Bool)?
    private var destination: Destination?
    /// Length of the template's current run of backticks.
    private var backticks = 0
    /// Length of the run that began the template's code; 0 outside of code.
    private var code = 0
    private var hasFrontMatter = false

    static func text(_ segments: [Template.Segment], as kind: Kind) -> String {
        var markdown = SafeMarkdown(kind: kind)
        markdown.hasFrontMatter = kind == .file && beginsWithFrontMatter(segments)
        for segment in segments {
            switch segment {
            case .text(let text): markdown.append(template: text)
            case .value(let text, let markup): markdown.append(value: text, markup)
            }
        }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: markdown.out)
        return String(view)
    }

    /// Untrusted text, with our own words, at the start of a Markdown line without links of ours. Its code works.
    package static func line(_ text: String) -> String { self.text([.value(text, .escaped)], as: .line) }

    private init(kind: Kind) { self.kind = kind }

    /// Whether the template itself opens and closes front matter. A value in it may be any of its lines.
    private static func beginsWithFrontMatter(_ segments: [Template.Segment]) -> Bool {
        let own = segments.map { if case .text(let text) = $0 { text } else { ":" } }.joined()
        return FrontMatterSpan(own.utf8.span)?.syntax == .yaml
    }

    // MARK: Template text

    private mutating func append(template text: String) {
        for scalar in text.unicodeScalars {
            part(from: scalar)
            if scalar == "`", backticks > 0 || code > 0 || !isEscaped {
                backticks += 1
            } else {
                endBackticks()
                // In code, a bracket closes nothing.
                if !isEscaped, code == 0 || scalar != "]" { follow(scalar) }
            }
            out.append(scalar)
            endsInValue = false
        }
    }

    /// A run of backticks begins code, or ends it if it is as long as the one that began it.
    private mutating func endBackticks() {
        if code == 0 { code = backticks } else if code == backticks { code = 0 }
        backticks = 0
    }

    /// Tracks the brackets and addresses that the template has opened.
    private mutating func follow(_ scalar: Unicode.Scalar) {
        if let open = destination {
            let isEmpty = out[open.start...].allSatisfy { $0 == " " }
            switch scalar {
            case "<" where isEmpty && !open.isInAngles:
                destination = Destination(start: out.count + 1, isPicture: open.isPicture, isInAngles: true)
            case ">" where open.isInAngles, ")" where !open.isInAngles, "\n": destination = nil
            case " " where !open.isInAngles: if !isEmpty { destination = nil }
            default: destination?.isBegun = true
            }
            if destination != nil { return }
        }
        switch scalar {
        case "\n" where line.allSatisfy(Self.isBlank):
            brackets = []
            code = 0
        case "[":
            let followsMark = out.last == "!" && !isEscaped(at: out.count - 1)
            brackets.append(followsMark)
        case "]":
            if let isPicture = brackets.popLast() { closed = (out.count, isPicture) }
        case "(", ":":
            guard let closed, closed.index == out.count - 1 else { break }
            // A definition must be at the start of its line.
            guard scalar == "(" || line.first(where: { !Self.isBlank($0) }) == "[" else { break }
            destination = Destination(start: out.count + 1, isPicture: closed.isPicture)
        default: break
        }
    }

    // MARK: Values

    private mutating func append(value text: String, _ markup: Markup) {
        if markup == .raw, kind == .file { return appendRaw(text) }
        var text = SafeText.withoutControls(text)[...]
        guard !text.isEmpty else { return }
        endBackticks()
        // In code, a backslash escapes nothing.
        if code > 0, markup != .raw { text = text.replacing("`", with: "'")[...] }
        // A trailing backslash from the template or from raw text must not consume one of ours.
        if isEscaped { out.append("\\") }
        if isInFrontMatter {
            if mayBecomeFence(with: text) { out.append("\\") }
            // Templater reads the whole file, and YAML has no escape that works in every scalar.
            for scalar in text.unicodeScalars {
                if scalar == "%", out.last == "<" { out.append(" ") }
                out.append(scalar)
            }
        } else if destination != nil, markup != .raw {
            appendAddress(Array(text.unicodeScalars))
        } else {
            let opening = opening
            if opening == .empty || opening == .marks { text = text.drop { $0 == " " } }
            let source = Array(text.unicodeScalars)
            var piece =
                markup == .raw ? source : shown(source)
            let first = piece.first
            switch opening {
            case .digits: MarkdownBlockStart.disarmNumber(&piece, isGoingOn: true)
            case .empty, .marks: MarkdownBlockStart.disarm(&piece, source)
            case .text, nil: break
            }
            if markup != .raw { disarmTag(before: source) }
            // A character escaped at the start of a line cannot combine with the one before it either.
            if let first = piece.first { part(from: first) }
            // Would make a picture with the template's `!`, or a footnote with its `[`.
            if first == piece.first, first == "[" && out.last == "!" || first == "^" && out.last == "[",
                !isEscaped(at: out.count - 1)
            {
                piece.insert("\\", at: 0)
            }
            out += piece
        }
        endsInValue = markup != .raw
    }

    /// The body of a whole file, as it is; only anchors are escaped, which are reserved for A4.
    private mutating func appendRaw(_ text: String) {
        for scalar in text.unicodeScalars {
            if scalar == "^", out.last.map(Self.breaksLine) ?? true { out.append("\\") }
            out.append(scalar)
        }
        endsInValue = false
        destination = nil
    }

    /// A link address from a value: it cannot end the address, and leads to the web or to a file. For a picture it
    /// leads to a file.
    private mutating func appendAddress(_ source: [Unicode.Scalar]) {
        guard let destination else { return }
        let isFirst = out[destination.start...].allSatisfy { $0 == " " }
        for (index, scalar) in source.enumerated() where !(isFirst && source[...index].allSatisfy { $0 == " " }) {
            switch scalar {
            case "\\", "`", "$": out += ["\\", scalar]
            case "<": appendPercented("%3C")
            case ">": appendPercented("%3E")
            case "%": appendPercented(MarkdownLink.isPercented(source[index...]) ? "%" : "%25")
            case "(",
                ")" where !destination.isInAngles:
                out += ["\\", scalar]
            case "&" where MarkdownLink.mayBeEntity(source[index...]): out += ["\\", scalar]
            case " " where !destination.isInAngles: appendPercented("%20")
            default: out.append(scalar)
            }
        }
        guard !destination.isBegun, !MarkdownLink.isInert(out[destination.start...], isPicture: destination.isPicture)
        else { return }
        let start = out[destination.start...].firstIndex { $0 != " " } ?? destination.start
        out.insert(contentsOf: "./".unicodeScalars, at: start)
    }

    private mutating func appendPercented(_ code: String) {
        // After the template's `<`, this would begin a Templater command.
        if out.last == "<" { out += "./".unicodeScalars }
        out += code.unicodeScalars
    }

    /// The value as typed, with possible markup escaped. In a line of ours, code works and is not escaped.
    private func shown(_ source: [Unicode.Scalar]) -> [Unicode.Scalar] {
        guard kind == .line else {
            // Within the template's angle brackets, a web address needs no escaping.
            if out.last == "<", !isEscaped(at: out.count - 1), Self.isWebAddress(source) {
                return MarkdownLink.percented(source)
            }
            return MarkdownPunctuation.escaped(source)
        }
        var piece: [Unicode.Scalar] = []
        var rest = source[...]
        while let start = rest.firstIndex(of: "`") {
            let mark = rest[start...].prefix { $0 == "`" }
            var inside = rest[mark.endIndex...]
            var end: Int?
            while let next = inside.firstIndex(of: "`") {
                let run = inside[next...].prefix { $0 == "`" }
                if run.count == mark.count {
                    end = run.endIndex
                    break
                }
                inside = inside[run.endIndex...]
            }
            let code = end.map { rest[mark.endIndex..<($0 - mark.count)] }
            guard let end, let code, code.first != "=", !code.contains("$"), !code.contains("%") else {
                piece += MarkdownPunctuation.escaped(Array(rest[..<mark.endIndex]))
                rest = rest[mark.endIndex...]
                continue
            }
            piece += MarkdownPunctuation.escaped(Array(rest[..<start])) + rest[start..<end]
            rest = rest[end...]
        }
        return piece + MarkdownPunctuation.escaped(Array(rest))
    }

    static func escaped(_ text: String) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: MarkdownPunctuation.escaped(Array(SafeText.withoutControls(text).unicodeScalars)))
        return String(view)
    }

    // MARK: Positions

    /// Keeps a value's last character from combining with the next one of the template or of another value.
    private mutating func part(from next: Unicode.Scalar) {
        guard endsInValue, let last = out.last else { return }
        // An Obsidian comment or a Templater template; both ignore a backslash before their first character.
        if next == "%", last == "%" || last == "<" { out.append("\\") }
        guard !isEscaped(at: out.count - 1) else { return }
        if last == "!" && next == "[" || last == "]" && ["(", "[", ":"].contains(next) {
            out.insert("\\", at: out.count - 1)
        }
    }

    /// Keeps a value from making a tag with the template's `<`; a web address still becomes a link.
    private mutating func disarmTag(before source: [Unicode.Scalar]) {
        guard out.last == "<", !isEscaped(at: out.count - 1), source.first.map(Self.beginsTag) == true,
            !Self.isWebAddress(source)
        else { return }
        out.insert("\\", at: out.count - 1)
    }

    /// Whether all of it is one web address: what follows a `>` of its own would be outside of the template's brackets.
    private static func isWebAddress(_ source: [Unicode.Scalar]) -> Bool {
        !source.contains(">") && MarkdownLink.webAddress(["<"] + source + [">"]) != nil
    }

    private enum Opening {
        /// Nothing but blanks, quotation marks and list marks.
        case empty
        /// A number that could begin a list.
        case digits
        /// Marks that could make a heading, a list or a thematic break: `*` in `*{{ … }}*`.
        case marks
        case text
    }

    /// What comes before the next value on its line; nil if it is not at the start of a line.
    private var opening: Opening? {
        guard kind != .heading else { return nil }
        var rest = line
        while true {
            rest = rest.drop(while: Self.isBlank)
            guard let first = rest.first else { return .empty }
            let digits = rest.prefix { ("0"..."9").contains($0) }
            if digits.count < rest.count, rest.allSatisfy("#*-+_=~.)0123456789".unicodeScalars.contains) {
                return .marks
            }
            let after = rest.dropFirst(max(1, digits.count))
            switch first {
            case ">": rest = rest.dropFirst()
            case "-", "+", "*":
                guard after.first.map(Self.isBlank) == true else { return .text }
                rest = after
            case _ where digits.count == rest.count: return digits.count < 10 ? .digits : .text
            case _ where !digits.isEmpty:
                guard let mark = after.first, mark == "." || mark == ")",
                    after.dropFirst().first.map(Self.isBlank) == true
                else { return .text }
                rest = after.dropFirst()
            case "[" where Self.isTaskBox(rest.prefix(4)): rest = rest.dropFirst(4)
            default: return .text
            }
        }
    }

    /// `[ ] `, the beginning of a task.
    private static func isTaskBox(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        text.count == 4 && text.dropFirst(2).first == "]" && text.last.map(isBlank) == true
    }

    /// The text since the last line break.
    private var line: ArraySlice<Unicode.Scalar> {
        out[(out.lastIndex(where: Self.breaksLine).map { $0 + 1 } ?? 0)...]
    }

    /// Whether the line followed by `text`, with more to come, may be a fence or begin another document.
    private func mayBecomeFence(with text: Substring) -> Bool {
        let begun = Array(line) + text.unicodeScalars
        return (["-", "."] as [Unicode.Scalar]).contains { mark in
            let marks = begun.prefix { $0 == mark }
            return marks.count > 2 ? line.count < 3 : marks.count == begun.count
        }
    }

    private var isInFrontMatter: Bool {
        guard hasFrontMatter else { return false }
        return !out.split(omittingEmptySubsequences: false, whereSeparator: Self.breaksLine).dropFirst().dropLast()
            .contains { line in
                let text = String(String.UnicodeScalarView(line))
                return FrontMatterSpan.endsYAML(text.utf8.span)
            }
    }

    /// Whether the next character follows a backslash that escapes it.
    private var isEscaped: Bool { isEscaped(at: out.count) }

    private func isEscaped(at index: Int) -> Bool {
        !out[..<index].reversed().prefix { $0 == "\\" }.count.isMultiple(of: 2)
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

    private static func breaksLine(_ scalar: Unicode.Scalar) -> Bool { scalar == "\n" || scalar == "\r" }

    private static func beginsTag(_ scalar: Unicode.Scalar) -> Bool {
        MarkdownLink.isLetter(scalar) || scalar == "/" || scalar == "!" || scalar == "?"
    }
}
