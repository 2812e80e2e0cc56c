/// The language stated by a draft's author.
enum StatedLanguage {
    /// From `lang: fr` or `language: fr-CA` in the front matter, `:lang: fr` in AsciiDoc, `#+LANGUAGE: fr` in Org: its
    /// code, in lower case and without a region. Nil if there is none.
    static func find(in draft: DraftText) -> String? {
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
            let value = rest.drop { !$0.isLetter }.prefix { $0.isLetter }
            if let code = names[String(value)] { return code }
            if (2...3).contains(value.count) { return String(value) }
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
