/// In which language the passages of a draft are: the one that its front matter names, else that which each passage looks
/// like; one that is too short to tell is in the language of the whole, and that is English where nothing else is clear.
struct DraftLanguages {
    private let scalars: [Unicode.Scalar]
    private let lexicon: QuickLexicon
    /// As the author says.
    private let stated: String?
    /// Of the whole.
    private let usual: String

    /// So much of a draft is looked at to tell the language of the whole, in Unicode scalars.
    private static let sample = 20_000

    init(_ draft: DraftText, _ mask: DraftMask, _ lexicon: QuickLexicon) {
        self.lexicon = lexicon
        scalars = mask.scalars
        stated = StatedLanguage.find(in: draft)
        guard stated == nil else {
            usual = QuickLexicon.english
            return
        }
        let text = mask.blocks.lazy.flatMap { mask.scalars[$0.range] + [" "] }.prefix(Self.sample)
        usual = lexicon.languages.language(of: text, usual: QuickLexicon.english) ?? QuickLexicon.english
    }

    /// - Parameter tokens: the passage's words.
    func language(of range: Range<Int>, _ tokens: [ProseTokens.Token]) -> String {
        if let stated { return stated }
        let english = tokens.count { lexicon.kind($0.word).contains(.english) }
        if usual == QuickLexicon.english, english * 10 > tokens.count { return usual }
        return lexicon.languages.language(of: scalars[range], usual: usual) ?? usual
    }
}

/// The language that a draft's author names.
enum StatedLanguage {
    /// From `lang: fr` or `language: fr-CA` of the front matter, `:lang: fr` of AsciiDoc, `#+LANGUAGE: fr` of Org: its code,
    /// in lower case and without a region. Nil where there is none.
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
