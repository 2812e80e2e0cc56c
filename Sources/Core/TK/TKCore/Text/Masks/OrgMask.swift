extension MaskBuilder {
    /// Org: source blocks, examples, comments, drawers, tables, keywords and time stamps are not prose.
    mutating func maskOrg() {
        let lines = LineMask(draft: draft)
        var reader = OrgLines(lines: lines)
        lines.run(&self, { reader.read($1, $2) }, { OrgLines.marks.spans(in: lines.scalars, $0, &$1) })
    }
}

/// Classifies the lines of an Org document.
private struct OrgLines {
    let lines: LineMask
    /// The line that closes the open block, in lower case, and the kind of its content.
    private var open: (end: String, kind: DraftMask.Kind)?

    /// The states of a task that this file sets.
    private var keywords: Set<String> = []

    init(lines: LineMask) { self.lines = lines }

    mutating func read(_ text: Range<Int>, _ usual: LineMask.Line) -> LineMask.Line {
        guard !text.isEmpty else { return open.map { .kept($0.kind) } ?? .blank }
        let inside = lines.trimmed(text)
        let content = lines.text(inside)
        let lower = content.lowercased()
        if let open {
            if lower.hasPrefix(open.end) { self.open = nil }
            return .kept(open.kind)
        }
        if lower.hasPrefix("#+begin_") {
            let name = lower.dropFirst(8).prefix { !$0.isWhitespace }
            switch name {
            case "quote", "verse": open = ("#+end_\(name)", .quotation)
            case "center", "abstract": return .kept(.structure)
            default: open = ("#+end_\(name)", .code)
            }
            return .kept(open?.kind ?? .code)
        }
        if lower.hasPrefix("\\begin{"), let name = lower.dropFirst(7).split(separator: "}").first {
            if !lower.contains("\\end{\(name)}") { open = ("\\end{\(name)}", .math) }
            return .kept(.math)
        }
        if content.contains(/^:[\w-]+:$/), !lower.hasPrefix(":end:") {
            open = (":end:", .structure)
            return .kept(.structure)
        }
        if lower.hasPrefix("#+begin:") { open = ("#+end:", .code) }
        for key in ["#+todo:", "#+seq_todo:", "#+typ_todo:"] where lower.hasPrefix(key) {
            // `WAIT(w@)` is the state `WAIT` with a key to choose it by.
            let states = content.dropFirst(key.count).split { $0 == " " || $0 == "|" }
            keywords.formUnion(states.map { String($0.prefix { $0 != "(" }) })
        }
        if content.hasPrefix("#+") { return .kept(.frontMatter) }
        if content == "#" || content.hasPrefix("# ") || content == ":" || content.hasPrefix(": ") {
            return .kept(.code)
        }
        if content.hasPrefix("|") || content.hasPrefix("+-") || content.hasPrefix("%%(") || content.contains(/^-{5,}$/)
            || content.contains(/^(CLOCK|SCHEDULED|DEADLINE|CLOSED):/)
        {
            return .kept(.structure)
        }
        if inside.lowerBound == text.lowerBound, content.contains(/^\*+\s/),
            let space = lines.scalars[inside].firstIndex(of: " ")
        {
            var words = withoutKeywords(lines.trimmed(space..<inside.upperBound))
            // `:tags:` at its end.
            if content.contains(/\s:[\w@#%:]+:$/) {
                words = words.lowerBound..<(lines.scalars[words].lastIndex(of: " ") ?? words.lowerBound)
            }
            return .heading(words)
        }
        if let item = lines.item(inside, bullets: inside.lowerBound > text.lowerBound ? "-+*" : "-+") {
            return .item(item)
        }
        return .prose(inside)
    }

    /// The states of a task that Org has unless a file sets others (`#+TODO:`), and a mark that excludes a subtree.
    private static let keywords: Set<String> = ["TODO", "DONE", "COMMENT"]

    /// A heading without its task's state, its priority (`[#A]`) and `COMMENT`.
    private func withoutKeywords(_ heading: Range<Int>) -> Range<Int> {
        var rest = heading
        while true {
            let first = rest.prefix { lines.scalars[$0] != " " && lines.scalars[$0] != "\t" }
            let word = lines.text(first)
            let isPriority = word.hasPrefix("[#") && word.hasSuffix("]")
            guard isPriority || keywords.contains(word) || Self.keywords.contains(word) else { return rest }
            rest = lines.trimmed(first.upperBound..<rest.upperBound)
        }
    }

    static let marks = MarkScan(
        pairs: [
            .init(open: "[[", close: "]]", kind: .link), .init(open: "<<", close: ">>", kind: .structure),
            .init(open: "~", close: "~", kind: .code, isTight: true),
            .init(open: "=", close: "=", kind: .code, isTight: true),
            .init(open: "@@", close: "@@", kind: .html), .init(open: "{{{", close: "}}}", kind: .template),
            .init(open: "\\(", close: "\\)", kind: .math), .init(open: "\\[", close: "\\]", kind: .math),
            .init(open: "$$", close: "$$", kind: .math), .init(open: "$", close: "$", kind: .math, isTight: true),
        ],
        other: { index, scalars, range, brackets in
            switch scalars[index] {
            case "[", "<":
                let inside = scalars[index + 1..<min(range.upperBound, index + 6)]
                let isStamp =
                    inside.count == 5 && inside.last == "-" && inside.dropLast().allSatisfy { $0.value &- 48 < 10 }
                let isNote = inside.starts(with: "fn:".unicodeScalars)
                let isBox =
                    inside.count >= 2 && " X-".unicodeScalars.contains(inside[index + 1]) && inside[index + 2] == "]"
                guard isStamp || isNote || isBox, let end = brackets.end(of: index, scalars) else {
                    return nil
                }
                return LineMask.Span(range: index..<end, kind: isBox ? .structure : .link)
            case "\\":
                var end = index + 1
                while range.contains(end), scalars[end].isASCII, scalars[end].properties.isAlphabetic { end += 1 }
                guard end > index + 1 else { return nil }
                if range.contains(end), scalars[end] == "{" { end = brackets.end(of: end, scalars) ?? end }
                return LineMask.Span(range: index..<end, kind: .math)
            case "s" where scalars[index..<range.upperBound].starts(with: "src_".unicodeScalars):
                // `src_sh{…}`, `src_sh[:results output]{…}`
                var open = index + 4
                while range.contains(open), scalars[open].properties.isAlphabetic || scalars[open] == "-" { open += 1 }
                if range.contains(open), scalars[open] == "[" { open = brackets.end(of: open, scalars) ?? open }
                guard range.contains(open), scalars[open] == "{", let end = brackets.end(of: open, scalars) else {
                    return nil
                }
                return LineMask.Span(range: index..<end, kind: .code)
            default: return nil
            }
        })
}
