/// Spelling in one draft, for rules that extend `spelling`.
final class StyleSpelling {
    private let checker: any WordChecker
    /// In lower case: the user's and the project's own.
    private let words: Set<String>
    private var verdicts: [String: Bool] = [:]
    private var proposals: [String: String?] = [:]

    /// The number of words for which proposals are looked for: each takes milliseconds.
    private static let mostProposals = 40

    init(_ checker: any WordChecker, words: Set<String>) {
        self.checker = checker
        self.words = Set(words.map { $0.lowercased() })
    }

    func isCorrect(_ word: String) -> Bool {
        if let known = verdicts[word] { return known }
        // Dictionaries have the straight apostrophe.
        let plain = word.replacing("\u{2019}", with: "'")
        let verdict = words.contains(plain.lowercased()) || Self.hasNoSpaces(word) || checker.isCorrect(plain)
        verdicts[word] = verdict
        return verdict
    }

    /// Whether it is of a script that is written without spaces, so that it is no word.
    private static func hasNoSpaces(_ word: String) -> Bool {
        word.unicodeScalars.contains { $0.properties.isIdeographic || (0x3040...0x30FF).contains($0.value) }
    }

    func proposal(for word: String) -> String? {
        if let known = proposals[word] { return known }
        guard proposals.count < Self.mostProposals else { return nil }
        let found = checker.proposals(word).first
        proposals[word] = .some(found)
        return found
    }
}
