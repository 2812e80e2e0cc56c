/// Tells a story from an explanation: a story is full of people, or told in the past tense without names of files and
/// options, or figures.
///
/// A story's author has a voice, and its sentences a rhythm, so fewer findings about either are worth reporting.
struct NarrativeMeasure {
    private var words = 0
    private var people = 0
    private var past = 0
    private var technical = 0

    mutating func add(_ tokens: [ProseTokens.Token], _ lexicon: QuickLexicon) {
        words += tokens.count
        for token in tokens {
            if token.isTechnical { technical += 1 }
            let kind = lexicon.kind(token.word)
            if kind.contains(.person) { people += 1 }
            if kind.contains(.past) { past += 1 }
        }
    }

    mutating func add(_ other: NarrativeMeasure) {
        words += other.words
        people += other.people
        past += other.past
        technical += other.technical
    }

    /// A few sentences are not conclusive.
    private static let minimum = 300

    var isNarrative: Bool {
        guard words >= Self.minimum else { return false }
        return people * 40 >= words || past * 40 >= words && technical * 50 <= words
    }
}
