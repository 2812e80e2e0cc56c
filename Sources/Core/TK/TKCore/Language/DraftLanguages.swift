/// Determines the language of a draft's passages: the one in its front matter, else detected per passage. A passage too
/// short to tell gets the language of the whole draft, which defaults to English.
struct DraftLanguages {
    private let scalars: [Unicode.Scalar]
    private let lexicon: QuickLexicon
    /// As stated by the author.
    let stated: String?
    /// The whole draft's language.
    let usual: String

    /// The number of Unicode scalars examined to detect the language of the whole draft.
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

    /// Of most passages.
    var main: String { stated ?? usual }

    /// - Parameter tokens: the passage's words.
    func language(of range: Range<Int>, _ tokens: [ProseTokens.Token]) -> String {
        if let stated { return stated }
        let english = tokens.count { lexicon.kind($0.word).contains(.english) }
        if usual == QuickLexicon.english, english * 10 > tokens.count { return usual }
        return lexicon.languages.language(of: scalars[range], usual: usual) ?? usual
    }
}
