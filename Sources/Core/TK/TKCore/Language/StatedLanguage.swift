/// The language stated by a draft's author.
enum StatedLanguage {
    /// From `lang: fr` or `language: fr-CA` in the front matter, `:lang: fr` in AsciiDoc, `#+LANGUAGE: fr` in Org: its
    /// code, in lower case and without a region. Nil if there is none.
    static func find(in draft: DraftText) -> String? { stated(in: draft)?.code }

    /// The region of the stated language, in upper case: `CA` of `fr-CA`. Nil if there is none.
    static func region(in draft: DraftText) -> String? {
        guard let rest = stated(in: draft)?.rest, rest.first == "-" || rest.first == "_" else { return nil }
        let region = rest.dropFirst().prefix { $0.isLetter }
        return region.count == 2 ? region.uppercased() : nil
    }

    /// - Returns: the code, and what follows it in its line.
    private static func stated(in draft: DraftText) -> (code: String, rest: Substring)? {
        let last: Int
        switch draft.syntax {
        case .asciidoc, .org: last = min(draft.lineCount - 1, 60)
        default:
            guard let lines = FrontMatter.lines(of: draft) else { return nil }
            last = lines.upperBound
        }
        for line in 0...max(0, last) {
            let text = draft[draft.textRange(ofLine: line + 1)].lowercased()
            let key = text.drop { $0 == ":" || $0 == "#" || $0 == "+" || $0 == " " }
            guard let name = ["language", "lang", "locale"].first(where: key.hasPrefix) else { continue }
            let rest = key.dropFirst(name.count).drop { $0 == " " }
            guard rest.first == ":" || rest.first == "=" else { continue }
            let value = rest.drop { !$0.isLetter }
            let word = value.prefix { $0.isLetter }
            if let code = names[String(word)] { return (code, value.dropFirst(word.count)) }
            if (2...3).contains(word.count) { return (String(word), value.dropFirst(word.count)) }
        }
        return nil
    }

    private static let names = [
        "english": "en", "french": "fr", "français": "fr", "german": "de", "deutsch": "de", "spanish": "es",
        "español": "es", "italian": "it", "italiano": "it", "portuguese": "pt", "português": "pt", "dutch": "nl",
        "nederlands": "nl", "swedish": "sv", "svenska": "sv", "danish": "da", "dansk": "da", "norwegian": "no",
        "norsk": "no", "nb": "no", "nn": "no", "eng": "en", "fra": "fr", "deu": "de", "spa": "es",
    ]
}
