/// Knows the words of a language; `spelling` rules of styles ask it.
public protocol WordChecker: Sendable {
    /// Whether a word is spelled correctly.
    func isCorrect(_ word: String) -> Bool
    /// Words that may be meant, the likeliest first.
    func proposals(_ word: String) -> [String]
}
