/// Questions about the addresses of links in Markdown.
enum MarkdownLink {
    private static let schemes = ["http", "https", "mailto"]

    /// Whether following it, or only showing it, does nothing but lead to the web or to a file; a picture's address leads
    /// to a file. What stands in it as an entity or behind a backslash is no part of a scheme.
    static func isInert(_ address: some Collection<Unicode.Scalar>, isPicture: Bool) -> Bool {
        let text = address.drop { $0 == " " }
        if isPicture, let first = text.first {
            let second = text.dropFirst().first
            if first == "\\" || first == "/" && (second == "/" || second == "\\") { return false }
        }
        let scheme = text.prefix { isLetter($0) || ("0"..."9").contains($0) || "+-.".unicodeScalars.contains($0) }
        guard !scheme.isEmpty, text.dropFirst(scheme.count).first == ":" else { return true }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scheme)
        return !isPicture && schemes.contains(String(view).lowercased())
    }

    /// `<https://…>` at the beginning of `text`, without anything that would be markup if it were none; or nil.
    static func webAddress(_ text: some Collection<Unicode.Scalar>) -> [Unicode.Scalar]? {
        guard let end = text.firstIndex(of: ">") else { return nil }
        let address = Array(text[...end])
        let inside = address.dropFirst().dropLast()
        let isWeb = ["http://", "https://"].contains { prefix in
            inside.count > prefix.unicodeScalars.count
                && zip(inside, prefix.unicodeScalars).allSatisfy { $0.properties.lowercaseMapping == String($1) }
        }
        return isWeb && inside.allSatisfy { !" <`[]\\".unicodeScalars.contains($0) } ? address : nil
    }

    /// Whether a byte stands there as URLs write it: `%20`.
    static func isPercented(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        let digits = text.dropFirst().prefix(2)
        return digits.count == 2 && digits.allSatisfy { $0.properties.isASCIIHexDigit }
    }

    /// An address in which `%` stands before two digits alone.
    static func percented(_ source: [Unicode.Scalar]) -> [Unicode.Scalar] {
        source.enumerated().flatMap { index, scalar -> [Unicode.Scalar] in
            scalar == "%" && !isPercented(source[index...]) ? ["%", "2", "5"] : [scalar]
        }
    }

    /// Whether `text` begins with an entity (`&lt;`, `&#60;`), or what comes next could make it one.
    static func mayBeEntity(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        let end = entityEnd(text)
        return end == ";" || end == nil
    }

    /// What follows `&`, `#` and the letters and digits behind them; nil where nothing does.
    private static func entityEnd(_ text: ArraySlice<Unicode.Scalar>) -> Unicode.Scalar? {
        var rest = text.dropFirst()
        if rest.first == "#" { rest = rest.dropFirst() }
        return rest.drop { isLetter($0) || ("0"..."9").contains($0) }.first
    }

    static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }
}
