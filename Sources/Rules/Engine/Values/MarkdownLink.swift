/// Checks of link addresses in Markdown.
enum MarkdownLink {
    private static let schemes = ["http", "https", "mailto"]

    /// Whether following or showing it does nothing but lead to the web or to a file; a picture's address leads to a
    /// file. An entity or an escaped character in it is not part of a scheme.
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

    /// `<https://…>` at the beginning of `text`, if it contains nothing that would otherwise be markup; or nil.
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

    /// Whether it begins with a percent-encoded byte: `%20`.
    static func isPercented(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        let digits = text.dropFirst().prefix(2)
        return digits.count == 2 && digits.allSatisfy { $0.properties.isASCIIHexDigit }
    }

    /// The address with every `%` encoded that does not begin a percent-encoded byte.
    static func percented(_ source: [Unicode.Scalar]) -> [Unicode.Scalar] {
        source.enumerated().flatMap { index, scalar -> [Unicode.Scalar] in
            scalar == "%" && !isPercented(source[index...]) ? ["%", "2", "5"] : [scalar]
        }
    }

    /// Whether `text` begins with an entity (`&lt;`, `&#60;`), or could if more text follows.
    static func mayBeEntity(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        let end = entityEnd(text)
        return end == ";" || end == nil
    }

    /// The character after `&`, `#` and the following letters and digits; nil if there is none.
    private static func entityEnd(_ text: ArraySlice<Unicode.Scalar>) -> Unicode.Scalar? {
        var rest = text.dropFirst()
        if rest.first == "#" { rest = rest.dropFirst() }
        return rest.drop { isLetter($0) || ("0"..."9").contains($0) }.first
    }

    static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }
}
