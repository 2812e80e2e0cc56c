import Foundation

/// The words of a language, by one dictionary or several: correct is what one of them knows.
struct LanguageChecker: WordChecker {
    let language: String
    let dictionaries: [any WordChecker]
    /// Terms that the dictionaries lack, in lower case.
    let terms: Set<String>
    /// The words that people use every day, in lower case; empty if they are not known.
    let common: Set<String>
    /// Whether the author stated a region: then the spelling of another one is not correct.
    let hasRegion: Bool

    func isCorrect(_ word: String) -> Bool {
        if isListed(word) { return true }
        if language == "en" { return isEnglish(word) }
        return Self.parts(word, language).contains(where: isListed)
    }

    func proposals(_ word: String) -> [String] { dictionaries.first?.proposals(word) ?? [] }

    func isListed(_ word: String) -> Bool {
        terms.contains(word.lowercased()) || dictionaries.contains { $0.isCorrect(word) }
    }

    /// What may stand for a word with an apostrophe: the word behind an elision (`l'`, `dell'`), or before a genitive.
    private static func parts(_ word: String, _ language: String) -> [String] {
        guard let apostrophe = word.firstIndex(of: "'") else { return [] }
        let behind = String(word[word.index(after: apostrophe)...])
        if behind.count > 2, ["fr", "it", "ca", "pt"].contains(language) { return [behind] }
        return behind.count <= 2 ? [String(word[..<apostrophe])] : []
    }

    // MARK: English

    /// Whether a word is formed from known ones in ways that a dictionary cannot list.
    private func isEnglish(_ word: String) -> Bool {
        if let apostrophe = word.lastIndex(of: "'") {
            let ending = word[word.index(after: apostrophe)...].lowercased()
            let stem = String(word[..<apostrophe])
            return ["s", "", "d", "ll", "ve", "re", "m", "em"].contains(ending) && !stem.isEmpty && isCorrect(stem)
        }
        let lower = word.lowercased().folding(options: .diacriticInsensitive, locale: nil)
        // “Intra- or extrapolation”: a prefix alone.
        if isListed(lower) || Self.prefixes.contains(lower) { return true }
        // Names, which authors also write like the command of that name; and a shouted or titled common word.
        if isListed(lower.prefix(1).uppercased() + lower.dropFirst()) { return true }
        if !hasRegion, Self.american(lower).contains(where: isListed) { return true }
        // Parts between hyphens are checked one by one.
        if lower.contains("-") { return false }
        if Self.isDerived(lower, isListed) { return true }
        return Self.isCompound(lower, isListed)
    }

    /// American spellings of what may be a British word.
    private static func american(_ word: String) -> [String] {
        variants.compactMap { british, american in
            guard let place = word.range(of: british), place.lowerBound > word.startIndex else { return nil }
            return word.replacingCharacters(in: place, with: american)
        }
    }

    private static let variants = [
        ("our", "or"), ("ise", "ize"), ("ising", "izing"), ("isation", "ization"), ("isable", "izable"),
        ("yse", "yze"), ("ysing", "yzing"), ("lled", "led"), ("llable", "lable"), ("lling", "ling"), ("ller", "ler"),
        ("tre", "ter"),
        ("ogue", "og"), ("ence", "ense"), ("grey", "gray"), ("mme", "m"), ("ae", "e"), ("oe", "e"), ("lment", "llment"),
        ("gement", "gment"), ("heque", "heck"), ("ractis", "ractic"), ("cept", "kept"), ("espatch", "ispatch"),
        ("llous", "lous"), ("oollen", "oolen"), ("shipper", "shiper"), ("shipped", "shiped"), ("shipping", "shiping"),
        ("ellery", "elry"), ("lful", "llful"), ("rily", "ryly"), ("earnt", "earned"), ("hisky", "hiskey"),
        ("lough", "low"), ("tsey", "tsy"),
    ]

    /// `subfolder`, `parseable`: of a known word of some length, so that few mistakes look like it.
    private static func isDerived(_ word: String, _ isListed: (String) -> Bool) -> Bool {
        let isPrefixed = prefixes.contains { prefix in
            word.hasPrefix(prefix) && word.count >= prefix.count + 5 && isListed(String(word.dropFirst(prefix.count)))
        }
        // `automata`, of a word that itself has some length.
        let isPlural =
            word.hasSuffix("a") && word.count >= 6 && ["on", "um"].contains { isListed(word.dropLast() + $0) }
        return isPrefixed || isPlural
            || suffixes.contains { suffix in
                word.hasSuffix(suffix) && word.count >= suffix.count + 4
                    && isListed(String(word.dropLast(suffix.count)))
            }
    }

    private static let prefixes = [
        "anti", "auto", "co", "counter", "cross", "cyber", "de", "dis", "hyper", "infra", "inter", "intra", "macro",
        "mega", "meta", "micro", "mid", "mini", "mis", "mono", "multi", "non", "out", "over", "para", "poly", "post",
        "pre", "pro", "proto", "pseudo", "quasi", "re", "semi", "sub", "super", "tele", "trans", "ultra", "un", "under",
        "uni",
    ]
    private static let suffixes = ["able", "ness", "less", "like", "wise", "wide", "er", "ers", "id", "ids"]

    /// `filesystem`: two known words, of which no short one makes a mistake look like a compound.
    private static func isCompound(_ word: String, _ isListed: (String) -> Bool) -> Bool {
        let letters = Array(word)
        guard letters.count >= 7 else { return false }
        return (3...(letters.count - 3)).contains { cut in
            isListed(String(letters[..<cut])) && isListed(String(letters[cut...]))
        }
    }
}
