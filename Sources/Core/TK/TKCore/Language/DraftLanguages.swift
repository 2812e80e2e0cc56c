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
