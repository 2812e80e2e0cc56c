/// Decides which ASCII punctuation of a value may stay unescaped in Markdown. Everything else is escaped, so that
/// syntax unknown here (such as Obsidian comments or Templater templates) is inert too.
///
/// Unescaped punctuation has no meaning in CommonMark, GFM, Obsidian or its plugins when it is alone between two
/// letters or digits, or begins or ends a word as in a sentence. Web addresses stay clickable.
enum MarkdownPunctuation {
    private static let between = Set(".,'-_/:@+=#&;?!\"()%".unicodeScalars)
    private static let closing = Set(".,:;?!'\")/".unicodeScalars)
    private static let opening = Set("('\"/".unicodeScalars)
    private static let schemes = ["http", "https"].map { Array($0.unicodeScalars) }

    /// The value with a backslash before all other punctuation.
    static func escaped(_ source: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var out: [Unicode.Scalar] = []
        out.reserveCapacity(source.count)
        for (index, scalar) in source.enumerated() {
            if isPunctuation(scalar), !mayStand(source, index) { out.append("\\") }
            out.append(scalar)
        }
        return out
    }

    static func isPunctuation(_ scalar: Unicode.Scalar) -> Bool {
        (0x21..<0x7F).contains(scalar.value) && !MarkdownLink.isLetter(scalar) && !("0"..."9").contains(scalar)
    }

    private static func mayStand(_ source: [Unicode.Scalar], _ index: Int) -> Bool {
        let scalar = source[index]
        if isWord(source, index - 1), isWord(source, index + 1) {
            return between.contains(scalar) && !(scalar == "&" && MarkdownLink.mayBeEntity(source[index...]))
        }
        if opening.contains(scalar), isEdge(source, index - 1), isWord(source, index + 1) { return true }
        if closing.contains(scalar), closesWord(source, index) { return true }
        if isOfDottedName(source, index) { return true }
        return (scalar == ":" || scalar == "/") && isOfAddress(source, index)
    }

    /// Whether it is part of the dot that begins a name, alone or in a path: `.env`, `shop/.env`.
    private static func isOfDottedName(_ source: [Unicode.Scalar], _ index: Int) -> Bool {
        switch source[index] {
        case ".": isWord(source, index + 1) && (isEdge(source, index - 1) || source[index - 1] == "/")
        case "/":
            isWord(source, index - 1) && index + 1 < source.count && source[index + 1] == "."
                && isWord(source, index + 2)
        default: false
        }
    }

    /// Whether it is among the marks between a word's end and a space: `).` in `(so it is).`
    private static func closesWord(_ source: [Unicode.Scalar], _ index: Int) -> Bool {
        var (start, end) = (index, index + 1)
        while start > 0, closing.contains(source[start - 1]) { start -= 1 }
        while end < source.count, closing.contains(source[end]) { end += 1 }
        // Two colons make a Dataview field.
        guard !zip(source[start..<end], source[(start + 1)..<end]).contains(where: { $0 == ":" && $1 == ":" }) else {
            return false
        }
        // Also in the name of a copy: `Report (1).pdf`.
        let isInName = source[start..<end].elementsEqual(").".unicodeScalars) && isWord(source, end)
        return isWord(source, start - 1) && (isEdge(source, end) || isInName)
    }

    /// Whether it is part of the `://` in a web address.
    private static func isOfAddress(_ source: [Unicode.Scalar], _ index: Int) -> Bool {
        guard let colon = [index, index - 1, index - 2].first(where: { $0 > 0 && source[$0] == ":" }),
            source[(colon + 1)...].starts(with: "//".unicodeScalars), isWord(source, colon + 3)
        else { return false }
        return schemes.contains { scheme in
            let start = colon - scheme.count
            return start >= 0 && !isWord(source, start - 1)
                && source[start..<colon].elementsEqual(scheme) { lowered($0) == $1 }
        }
    }

    private static func lowered(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        ("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value) + 0x20) : scalar
    }

    private static func isWord(_ source: [Unicode.Scalar], _ index: Int) -> Bool {
        guard source.indices.contains(index) else { return false }
        return source[index].properties.isAlphabetic || source[index].properties.numericType != nil
    }

    /// Whether there is a space, or the end of the value.
    private static func isEdge(_ source: [Unicode.Scalar], _ index: Int) -> Bool {
        !source.indices.contains(index) || source[index] == " "
    }
}
