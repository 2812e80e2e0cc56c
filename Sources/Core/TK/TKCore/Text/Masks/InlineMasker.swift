/// Masks the inline spans of one block: code, links, addresses, HTML, math, CriticMarkup, templates, emphasis.
///
/// Reads the block once from left to right. An opening mark that is not closed in the block is text, as in CommonMark.
struct InlineMasker {
    let syntax: DraftSyntax
    let range: Range<Int>
    private var index: Int
    /// The start of the last run of backticks of each length, once needed: a search for a closing run that does not
    /// exist would cost quadratic time in hostile text.
    private var lastRuns: [Int: Int]?
    private var missingClosers: Set<String> = []
    /// Elements that are not closed after a position.
    private var missingElements: Set<String> = []
    private var brackets: BracketPairs
    private var steps = 0

    init(syntax: DraftSyntax, range: Range<Int>) {
        self.syntax = syntax
        self.range = range
        index = range.lowerBound
        brackets = BracketPairs(range)
    }

    mutating func run(_ builder: inout MaskBuilder) {
        let scalars = builder.scalars
        defer { builder.steps += steps + brackets.steps }
        while index < range.upperBound {
            let scalar = scalars[index]
            // Fast path: letters and spaces are by far the most common.
            if scalar.value > 127 || (scalar.value | 32) &- 97 < 26 || scalar == " " {
                index += 1
                continue
            }
            let start = index
            if !maskAddress(scalar, &builder), syntax != .plain || scalar == "<" { maskMarkup(scalar, &builder) }
            if index == start { index += 1 }
        }
    }

    private mutating func mask(_ end: Int, _ kind: DraftMask.Kind, _ builder: inout MaskBuilder) {
        builder.paint(index..<end, kind)
        index = end
    }

    /// Masks URLs and mail addresses. They are found at their `:`, `@` or `.`, so the mask extends backwards.
    private mutating func maskAddress(_ scalar: Unicode.Scalar, _ builder: inout MaskBuilder) -> Bool {
        let found: Range<Int>?
        switch scalar {
        case ":": found = Addresses.url(at: index, in: builder.scalars, range)
        case "@": found = Addresses.mail(at: index, in: builder.scalars, range)
        case ".": found = Addresses.web(at: index, in: builder.scalars, range)
        default: found = nil
        }
        guard let found else { return false }
        builder.paint(found, .link)
        index = found.upperBound
        return true
    }

    private mutating func maskMarkup(_ scalar: Unicode.Scalar, _ builder: inout MaskBuilder) {
        let scalars = builder.scalars
        switch scalar {
        case "\\": maskEscape(&builder)
        case "`": maskCode(&builder)
        case "<": maskHTML(&builder)
        case "&":
            if let end = entityEnd(scalars) { mask(end, .html, &builder) }
        case "$": maskMath(&builder)
        case "%": maskComment(&builder)
        case "{": maskBraces(&builder)
        case "[", "!", "]": maskBrackets(scalar, &builder)
        case "*", "_", "~": maskEmphasis(scalar, &builder)
        case "^": maskBlockName(&builder)
        case "=":
            if starts(with: "==}", scalars) { mask(index + 3, .markup, &builder) }
        default: break
        }
    }

    private func starts(with text: StaticString, _ scalars: [Unicode.Scalar], at offset: Int? = nil) -> Bool {
        let offset = offset ?? index
        let count = text.utf8CodeUnitCount
        guard offset + count <= range.upperBound else { return false }
        return text.withUTF8Buffer { bytes in
            for position in 0..<count where scalars[offset + position].value != UInt32(bytes[position]) { return false }
            return true
        }
    }

    /// The end of a closing text, searched from a position; remembers failed searches.
    private mutating func end(of closing: StaticString, from start: Int, _ scalars: [Unicode.Scalar]) -> Int? {
        let name = closing.description
        if missingClosers.contains(name) { return nil }
        var position = start
        defer { steps += position - start }
        while position < range.upperBound {
            if starts(with: closing, scalars, at: position) { return position + closing.utf8CodeUnitCount }
            position += 1
        }
        missingClosers.insert(name)
        return nil
    }

    private mutating func maskEscape(_ builder: inout MaskBuilder) {
        let scalars = builder.scalars
        guard index + 1 < range.upperBound else { return }
        if scalars[index + 1] == "(", let end = end(of: "\\)", from: index + 2, scalars) {
            return mask(end, .math, &builder)
        }
        if scalars[index + 1] == "[", let end = end(of: "\\]", from: index + 2, scalars) {
            return mask(end, .math, &builder)
        }
        if scalars[index + 1].isASCII, !scalars[index + 1].properties.isAlphabetic, scalars[index + 1] != " " {
            builder.paint(index..<index + 1, .markup)
            index += 2
        }
    }

    private mutating func maskCode(_ builder: inout MaskBuilder) {
        let scalars = builder.scalars
        let length = run(of: "`", at: index, scalars)
        let inside = index + length
        if lastRuns == nil {
            lastRuns = findRuns(scalars)
            steps += range.count
        }
        guard let last = lastRuns?[length], last >= inside else {
            index = inside
            return
        }
        var position = inside
        defer { steps += position - inside }
        while position <= last {
            guard scalars[position] == "`" else {
                position += 1
                continue
            }
            let closing = run(of: "`", at: position, scalars)
            position += closing
            if closing == length { return mask(position, .code, &builder) }
        }
        index = inside
    }

    private func findRuns(_ scalars: [Unicode.Scalar]) -> [Int: Int] {
        var runs: [Int: Int] = [:]
        var position = index
        while position < range.upperBound {
            guard scalars[position] == "`" else {
                position += 1
                continue
            }
            let length = run(of: "`", at: position, scalars)
            runs[length] = position
            position += length
        }
        return runs
    }

    private func run(of scalar: Unicode.Scalar, at start: Int, _ scalars: [Unicode.Scalar]) -> Int {
        var end = start
        while end < range.upperBound, scalars[end] == scalar { end += 1 }
        return end - start
    }

    private mutating func maskHTML(_ builder: inout MaskBuilder) {
        let scalars = builder.scalars
        if starts(with: "<!--", scalars) {
            guard let end = end(of: "-->", from: index + 4, scalars) else { return }
            builder.findComments(in: index..<end)
            return mask(end, .html, &builder)
        }
        guard index + 1 < range.upperBound, let end = Tags.end(of: index, in: scalars, range) else { return }
        let first = scalars[index + 1]
        let isAddress =
            scalars[index..<end].contains { $0 == ":" || $0 == "@" }
            && !scalars[index..<end].contains { $0 == " " || $0 == "=" }
        if !isAddress, let name = Tags.codeElement(index, tagEnd: end, in: scalars, range),
            !missingElements.contains(name)
        {
            let closing = Tags.closing(of: name, from: end, in: scalars, range)
            steps += (closing ?? range.upperBound) - end
            if let close = closing {
                return mask(close, .code, &builder)
            }
            missingElements.insert(name)
        }
        mask(end, isAddress && first != "/" ? .link : .html, &builder)
    }

    private func entityEnd(_ scalars: [Unicode.Scalar]) -> Int? {
        var end = index + 1
        while end < min(range.upperBound, index + 33), scalars[end].isASCII,
            scalars[end].properties.isAlphabetic || scalars[end].properties.numericType != nil || scalars[end] == "#"
        { end += 1 }
        return end > index + 1 && end < range.upperBound && scalars[end] == ";" ? end + 1 : nil
    }

    /// `$$…$$`, and `$…$` by Pandoc's rule: no space inside the marks, and no digit after them, so that prices are
    /// text.
    private mutating func maskMath(_ builder: inout MaskBuilder) {
        let scalars = builder.scalars
        if starts(with: "$$", scalars) {
            if let end = end(of: "$$", from: index + 2, scalars) { return mask(end, .math, &builder) }
            index += 2
            return
        }
        guard index + 1 < range.upperBound, !scalars[index + 1].properties.isWhitespace, scalars[index + 1] != "$"
        else {
            return
        }
        if index > range.lowerBound, scalars[index - 1].properties.isAlphabetic { return }
        var end = index + 1
        while end < min(range.upperBound, index + 1_000) {
            if scalars[end] == "$", scalars[end - 1] != "\\" {
                let isClosing =
                    !scalars[end - 1].properties.isWhitespace
                    && !(end + 1 < range.upperBound && scalars[end + 1].properties.numericType != nil)
                if isClosing { mask(end + 1, .math, &builder) }
                return
            }
            end += 1
        }
    }

    /// Obsidian's `%%…%%`.
    private mutating func maskComment(_ builder: inout MaskBuilder) {
        let scalars = builder.scalars
        guard syntax == .markdown, starts(with: "%%", scalars) else { return }
        guard let end = self.end(of: "%%", from: index + 2, scalars) else {
            index += 2
            return
        }
        mask(end, .html, &builder)
    }

    /// CriticMarkup, Liquid, shortcodes and attributes.
    private mutating func maskBraces(_ builder: inout MaskBuilder) {
        let scalars = builder.scalars
        if syntax == .mdx, let end = brackets.end(of: index, scalars) {
            return mask(end, .template, &builder)
        }
        guard index + 2 < range.upperBound else { return }
        let closing: StaticString
        let kind: DraftMask.Kind
        switch (scalars[index + 1], scalars[index + 2]) {
        case ("+", "+"): (closing, kind) = ("++}", .edit)
        case ("-", "-"): (closing, kind) = ("--}", .edit)
        case ("~", "~"): (closing, kind) = ("~~}", .edit)
        case (">", ">"): (closing, kind) = ("<<}", .edit)
        case ("=", "="): return mask(index + 3, .markup, &builder)
        case ("{", _): (closing, kind) = ("}}", .template)
        case ("%", _): (closing, kind) = ("%}", .template)
        case ("#", _), (".", _), (":", _): (closing, kind) = ("}", .structure)
        default: return
        }
        if let end = end(of: closing, from: index + 2, scalars) { mask(end, kind, &builder) }
    }

    private mutating func maskBrackets(_ scalar: Unicode.Scalar, _ builder: inout MaskBuilder) {
        let scalars = builder.scalars
        let next = index + 1 < range.upperBound ? scalars[index + 1] : " "
        switch scalar {
        case "!":
            if next == "[" { mask(index + 2, .structure, &builder) }
        case "]":
            if next == "(", let end = Links.endOfDestination(index + 1, in: scalars, range) {
                mask(end, .link, &builder)
            } else if next == "[", let end = Links.endOfLabel(index + 1, in: scalars, range) {
                mask(end, .link, &builder)
            } else if index + 1 < range.upperBound, next == "{", let end = end(of: "}", from: index + 2, scalars) {
                mask(end, .link, &builder)
            } else {
                mask(index + 1, .structure, &builder)
            }
        default:
            if next == "[" { return maskWikiLink(&builder) }
            let isTask =
                index + 2 < range.upperBound && scalars[index + 2] == "]" && index == range.lowerBound
                && (next == " " || next == "x" || next == "X")
            if isTask { return mask(index + 3, .structure, &builder) }
            let isReference = next == "^" || next == "@" || (next == "-" && starts(with: "[-@", scalars))
            if isReference, let end = Links.endOfLabel(index, in: scalars, range) {
                let isDefinition = end < range.upperBound && scalars[end] == ":"
                return mask(isDefinition ? end + 1 : end, .link, &builder)
            }
            mask(index + 1, .structure, &builder)
        }
    }

    /// `[[target]]` is masked completely, `[[target|text]]` only up to the text.
    private mutating func maskWikiLink(_ builder: inout MaskBuilder) {
        let scalars = builder.scalars
        // Another bracket or a line break before the end: not a link. Checked first, because the end may be far.
        let stop = scalars[index + 2..<range.upperBound].firstIndex { $0 == "[" || $0 == "\n" || $0 == "]" }
        guard let stop, starts(with: "]]", scalars, at: stop) else { return mask(index + 1, .structure, &builder) }
        guard let bar = scalars[index + 2..<stop].lastIndex(of: "|") else { return mask(stop + 2, .link, &builder) }
        mask(bar + 1, .link, &builder)
        builder.paint(stop..<stop + 2, .structure)
    }

    /// ` ^name` at the end of a line, the target of links from other notes.
    private mutating func maskBlockName(_ builder: inout MaskBuilder) {
        let scalars = builder.scalars
        guard index == range.lowerBound || scalars[index - 1].properties.isWhitespace else { return }
        var end = index + 1
        while end < range.upperBound, scalars[end].isASCII,
            scalars[end].properties.isAlphabetic || scalars[end].properties.numericType != nil || scalars[end] == "-"
        { end += 1 }
        let isName = end > index + 1 && (end == range.upperBound || scalars[end] == "\n" || scalars[end] == "\r")
        if isName { mask(end, .structure, &builder) }
    }

    /// Marks beside a word become spaces; within a word they stay, and so does a lone mark between spaces.
    private mutating func maskEmphasis(_ scalar: Unicode.Scalar, _ builder: inout MaskBuilder) {
        let scalars = builder.scalars
        let length = run(of: scalar, at: index, scalars)
        let end = index + length
        let before = index > range.lowerBound ? scalars[index - 1] : " "
        let after = end < range.upperBound ? scalars[end] : " "
        func isWord(_ scalar: Unicode.Scalar) -> Bool {
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        }
        let isInside = isWord(before) && isWord(after)
        let isAlone = before.properties.isWhitespace && after.properties.isWhitespace
        let isMark = !isInside && !isAlone && (scalar != "~" || length == 2)
        if isMark { mask(end, .markup, &builder) } else { index = end }
    }
}
