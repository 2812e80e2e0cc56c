/// What a writer probably meant by a word that is in no dictionary.
struct Slip: Equatable {
    /// Likeliest first.
    var meant: [String]
    /// The one that is much likelier than the others; nil if there is none.
    var proposal: String?
}

extension LanguageChecker {
    /// The slip that a word in no dictionary probably is.
    ///
    /// - Parameter isPart: it stands between hyphens.
    /// - Returns: nil if it is more likely a term, a name, or a form of a known word.
    func slip(_ word: String, isPart: Bool) -> Slip? {
        let lower = word.lowercased()
        let stem = lower.prefix { $0 != "'" }
        guard stem.count >= 3 else { return nil }
        let allowsTypicalOnly = isPart || isForm(stem)
        let isCapitalised = word.first?.isUppercase ?? false
        var meant: [(word: String, isTypical: Bool, isUsual: Bool)] = []
        for other in proposals(word) where isCapitalised || !(other.first?.isUppercase ?? true) {
            let known = other.lowercased()
            if isContraction(known, of: lower) {
                meant.append((other, true, true))
                continue
            }
            let knownStem = known.prefix { $0 != "'" }
            guard lower.dropFirst(stem.count) == known.dropFirst(knownStem.count), !known.contains(" "),
                !known.contains("-"), let change = LetterSlip(stem, for: knownStem)
            else { continue }
            let isFrequent = language == "en" && Self.frequent.contains(known)
            let isCommon = isFrequent || common.contains(String(knownStem))
            guard change.isLikely(isCommon: isCommon) || isFrequent && change.isLikelyInFrequentWord,
                change.isTypical || !allowsTypicalOnly
            else { continue }
            meant.append((other, change.isTypical, isCommon || change.isTypical && (common.isEmpty || stem.count >= 8)))
        }
        let usual = meant.filter(\.isUsual)
        guard !usual.isEmpty || stem.count >= 8 && !meant.isEmpty else { return nil }
        let isCertain = usual.count == 1 && (usual[0].isTypical || meant.count == 1)
        return Slip(
            meant: (usual + meant.filter { !$0.isUsual }).map(\.word), proposal: isCertain ? usual[0].word : nil)
    }

    /// `dont`.
    private func isContraction(_ word: String, of other: String) -> Bool {
        language == "en" && ["n't", "'re", "'ve", "'ll"].contains(where: word.hasSuffix)
            && word.filter { $0 != "'" } == other
    }

    /// Whether it is formed from a known word by an ending: `redesigners`.
    private func isForm(_ word: Substring) -> Bool {
        guard language == "en" else { return false }
        if word.hasSuffix("s"), word.count > 4, isListed(String(word.dropLast())) { return true }
        if word.hasSuffix("ies"), isListed(word.dropLast(3) + "y") { return true }
        return Self.endings.contains { ending in
            guard word.hasSuffix(ending), word.count >= ending.count + 3 else { return false }
            let stem = String(word.dropLast(ending.count))
            let isDoubled = stem.last == stem.dropLast().last
            return !stem.hasSuffix("e") && isListed(stem) || isListed(stem + "e")
                || stem.hasSuffix("i") && isListed(stem.dropLast() + "y")
                || ending.hasPrefix("i") && isListed(stem + "y")
                || isDoubled && isListed(String(stem.dropLast()))
        }
    }

    private static let endings = [
        "able", "ably", "al", "ally", "ed", "er", "ers", "est", "ify", "ing", "ish", "ism", "ist", "ists", "ity",
        "ization",
        "ize", "ized", "izes", "izing", "ness", "or", "ors",
    ]

    /// Words of every sentence, of which even short misspellings are known for what they are.
    private static let frequent: Set<String> = [
        "about", "after", "all", "also", "and", "any", "are", "because", "been", "before", "being", "both", "but",
        "can",
        "could", "did", "does", "each", "even", "ever", "every", "for", "from", "had", "has", "have", "her", "here",
        "him", "his", "how", "into", "its", "just", "let", "many", "may", "might", "more", "most", "much", "must",
        "never", "not", "now", "off", "one", "only", "other", "our", "out", "over", "she", "should", "since", "some",
        "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "though",
        "through", "too", "under", "upon", "very", "was", "were", "what", "when", "where", "which", "while", "who",
        "whom", "whose", "why", "will", "with", "would", "you", "your",
    ]
}
