/// MDX's additions to Markdown in separate lines: imports, exports, elements over several lines, expressions.
enum MDXSpans {
    /// - Parameters:
    ///   - isCode: by line, counted from 0.
    ///   - steps: grows by the scalars that are examined in search of closing marks.
    static func find(in draft: DraftText, isCode: [Bool], _ steps: inout Int) -> [LineSpans] {
        var spans: [LineSpans] = []
        var brackets = BracketPairs(0..<draft.count)
        defer { steps += brackets.steps }
        var line = 0
        while line < draft.lineCount {
            defer { line += 1 }
            guard !isCode[line], let (kind, last) = span(from: line, draft, &brackets) else { continue }
            spans.append(LineSpans(lines: line...last, kind: kind))
            line = last
        }
        return spans
    }

    private static func span(
        from line: Int, _ draft: DraftText, _ brackets: inout BracketPairs
    ) -> (DraftMask.Kind, Int)? {
        let text = draft.textRange(ofLine: line + 1)
        let words = draft.scalars[text]
        if words.starts(with: "import ".unicodeScalars) || words.starts(with: "export ".unicodeScalars) {
            var last = line
            while last + 1 < draft.lineCount, !isBlank(last + 1, draft) { last += 1 }
            return (.code, last)
        }
        guard let start = words.firstIndex(where: { $0 != " " && $0 != "\t" }) else { return nil }
        switch draft.scalars[start] {
        case "{":
            return brackets.end(of: start, draft.scalars, limit: 4_000).flatMap { last(behind: $0, draft) }
                .map { (.template, $0) }
        case "<":
            return endOfTag(start, draft.scalars, &brackets).flatMap { last(behind: $0, draft) }.map { (.html, $0) }
        default: return nil
        }
    }

    private static func isBlank(_ line: Int, _ draft: DraftText) -> Bool {
        draft.textRange(ofLine: line + 1).allSatisfy { draft.scalars[$0].properties.isWhitespace }
    }

    /// The line that ends at a position, counted from 0; nil if words follow in it.
    private static func last(behind end: Int, _ draft: DraftText) -> Int? {
        let line = draft.line(at: end - 1)
        let rest = end..<max(end, draft.textRange(ofLine: line).upperBound)
        return rest.allSatisfy { draft.scalars[$0].properties.isWhitespace } ? line - 1 : nil
    }

    /// After the `>` of an element's opening or closing tag; braces and quotation marks may contain others.
    private static func endOfTag(
        _ start: Int, _ scalars: [Unicode.Scalar], _ brackets: inout BracketPairs
    ) -> Int? {
        guard start + 1 < scalars.count else { return nil }
        let first = scalars[start + 1]
        guard first.properties.isAlphabetic || first == "/" || first == ">" else { return nil }
        var index = start + 1
        var quote: Unicode.Scalar?
        while index < min(scalars.count, start + 4_000) {
            let scalar = scalars[index]
            if let open = quote {
                if scalar == open { quote = nil }
            } else if scalar == "\"" || scalar == "'" {
                quote = scalar
            } else if scalar == "{" {
                guard let end = brackets.end(of: index, scalars) else { return nil }
                index = end
                continue
            } else if scalar == ">" {
                return index + 1
            } else if scalar == "<" {
                return nil
            }
            index += 1
        }
        return nil
    }
}
