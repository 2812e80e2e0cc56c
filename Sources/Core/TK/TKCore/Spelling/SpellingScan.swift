import Foundation

/// Collects the words of a draft that no dictionary knows. Names, code and other people's words are left alone.
struct SpellingScan {
    /// What a block says about words.
    struct Words: Sendable {
        fileprivate let language: String
        fileprivate let count: Int
        /// In lower case: names, and words that are parts of technical ones.
        fileprivate var known: [String] = []
        fileprivate var unknown: [Place] = []

        mutating func shift(by distance: Int) {
            for index in unknown.indices { unknown[index].range = unknown[index].range.shifted(by: distance) }
        }
    }

    fileprivate struct Place: Sendable {
        var word: String
        var range: Range<Int>
        var language: String
        /// At a sentence's start every word is capitalised, names as well.
        var isCapitalised: Bool
        /// Of a word with hyphens.
        var isPart: Bool
    }

    private let draft: DraftText
    private let mask: DraftMask
    private let spelling: Spelling
    /// Words that are probably no slips are told as well.
    private let tellsUnknown: Bool
    let region: String?
    private var checkers: [String: LanguageChecker?] = [:]
    /// By language and word.
    private var verdicts: [String: [String: Bool]] = [:]
    /// Of the current block.
    private var unknown: [Place] = []
    /// In lower case, in the whole draft.
    private var known: Set<String>

    /// From this many times on, an unknown word is reported once: it is a term, or the author's own spelling.
    private static let often = 3
    /// A shorter noun, if it is unknown, is more likely a name.
    private static let shortestNoun = 8
    /// The number of words for which proposals are looked for.
    private static let mostProposals = 100

    /// Why the words of most of the draft are not checked; nil if they are.
    private(set) var absence: String?

    init(_ draft: DraftText, _ mask: DraftMask, _ spelling: Spelling, _ settings: QuickPass.Settings) {
        (self.draft, self.mask, self.spelling) = (draft, mask, spelling)
        tellsUnknown = settings.wants(QuickPass.unknownWordRule)
        region = StatedLanguage.region(in: draft)
        known = Set(settings.knownWords.flatMap { [$0, $0.lowercased()] })
    }

    // MARK: Looking

    mutating func read(
        _ text: UnsafeBufferPointer<Unicode.Scalar>, _ block: DraftMask.Block, _ language: String,
        _ prose: ProseTokens, _ speech: QuotedSpeech
    ) -> Words {
        var words = Words(language: language, count: prose.tokens.count)
        unknown = []
        guard let checker = checker(language) else { return words }
        let starts = Set(prose.sentences.map(\.tokens.lowerBound))
        var index = 0
        while index < prose.tokens.count {
            let first = index
            let start = prose.tokens[first].start
            var end = prose.tokens[first].end
            var isTechnical = prose.tokens[first].isTechnical
            index += 1
            // Soft hyphens and combining marks stand inside a word.
            while end < block.range.upperBound, Self.joins(text[end]) {
                end += 1
                if index < prose.tokens.count, prose.tokens[index].start == end {
                    end = prose.tokens[index].end
                    isTechnical = isTechnical || prose.tokens[index].isTechnical
                    index += 1
                }
            }
            let word = Self.plain(text[start..<end])
            let isCapitalised = text[start].properties.isUppercase
            if isTechnical || Self.hasInnerCapital(word) {
                words.known += PlainWords.of(word)
                continue
            }
            let startsSentence = starts.contains(first) && block.kind == .paragraph
            if isCapitalised, !startsSentence,
                !Self.capitalisesNouns(language) || block.kind != .paragraph || word.count < Self.shortestNoun
                    || prose.tokens[first].followsDirectly && prose.tokens[first - 1].isCapitalised
                        && !starts.contains(first - 1)
            {
                if block.kind == .paragraph { words.known.append(word.lowercased()) }
                continue
            }
            let endsSentence = index == prose.tokens.count || starts.contains(index)
            let isAbbreviation = !endsSentence && text[end] == "." && end - start <= 4
            guard word.count > 1, !isAbbreviation, !speech.contains(start),
                !isQuoted(start..<end, text, block.range), !isPart(start..<end),
                !isParticle(word, before: end, text, block.range),
                Self.capitalisesNouns(language) || starts.contains(first - 1)
                    || !Self.isWithinName(first..<index, prose)
            else { continue }
            check(word, start..<end, text, checker, isCapitalised: isCapitalised)
        }
        words.unknown = unknown
        return words
    }

    private mutating func checker(_ language: String) -> LanguageChecker? {
        if language == LanguageTable.unknown { return nil }
        if let known = checkers[language] { return known }
        let found = spelling.checker(language, region: region)
        checkers[language] = .some(found)
        return found
    }

    /// Checks a word, and if it is unknown, each part between hyphens.
    private mutating func check(
        _ word: String, _ range: Range<Int>, _ text: UnsafeBufferPointer<Unicode.Scalar>, _ checker: LanguageChecker,
        isCapitalised: Bool
    ) {
        if isCorrect(word, checker) { return }
        var start = range.lowerBound
        while start < range.upperBound {
            var end = start
            while end < range.upperBound, !Self.isHyphen(text[end]) { end += 1 }
            let part = Self.plain(text[start..<end])
            // In `un-`, `ex-`, `-ons` and the like the rest of the word counts.
            let isPrefix = end < range.upperBound && part.count <= 4
            let isSuffix = start > range.lowerBound && part.count <= 3
            let isName = start > range.lowerBound && text[start].properties.isUppercase
            if part.count > 1, !isPrefix, !isSuffix, !isName, !isCorrect(part, checker) {
                unknown.append(
                    Place(
                        word: part, range: start..<end, language: checker.language,
                        isCapitalised: isCapitalised && start == range.lowerBound, isPart: start..<end != range))
            }
            start = end + 1
        }
    }

    private mutating func isCorrect(_ word: String, _ checker: LanguageChecker) -> Bool {
        if let known = verdicts[checker.language]?[word] { return known }
        let verdict = checker.isCorrect(word)
        verdicts[checker.language, default: [:]][word] = verdict
        return verdict
    }

    /// Whether it stands alone in single quotation marks or guillemets: a word that is spoken about.
    private func isQuoted(
        _ range: Range<Int>, _ text: UnsafeBufferPointer<Unicode.Scalar>, _ block: Range<Int>
    ) -> Bool {
        guard range.lowerBound > block.lowerBound, range.upperBound < block.upperBound else { return false }
        return "'‘‚‹`".unicodeScalars.contains(text[range.lowerBound - 1])
            && "'’‘›`".unicodeScalars.contains(text[range.upperBound])
    }

    /// Whether it is the short word in a name: `Ludwig van Beethoven`.
    private func isParticle(
        _ word: String, before index: Int, _ text: UnsafeBufferPointer<Unicode.Scalar>, _ block: Range<Int>
    ) -> Bool {
        Self.particles.contains(word) && index + 1 < block.upperBound && text[index] == " "
            && text[index + 1].properties.isUppercase
    }

    /// Whether it is between two capitalised words: `Head over Heels`. “I” is no name.
    private static func isWithinName(_ word: Range<Int>, _ prose: ProseTokens) -> Bool {
        guard word.lowerBound > 0, word.upperBound < prose.tokens.count else { return false }
        let (before, behind) = (prose.tokens[word.lowerBound - 1], prose.tokens[word.upperBound])
        return before.isCapitalised && before.end - before.start > 1 && prose.tokens[word.lowerBound].followsDirectly
            && behind.isCapitalised && behind.end - behind.start > 1 && behind.followsDirectly
    }

    private static let particles: Set<String> = [
        "af", "al", "av", "bin", "da", "das", "de", "del", "della", "den", "der", "di", "do", "dos", "du", "el", "ibn",
        "la", "le", "ten", "ter", "van", "von", "zu", "zur",
    ]

    /// Whether all nouns begin with a capital, so that one says nothing about a name.
    private static func capitalisesNouns(_ language: String) -> Bool { ["de", "lb"].contains(language) }

    /// Whether marks, code or brackets touch the word, as in `code`s or *un*known: then it is only a part.
    private func isPart(_ range: Range<Int>) -> Bool {
        func isEnd(_ index: Int) -> Bool { draft.scalars[index] == "\n" || draft.scalars[index] == "\r" }
        func isJoined(_ index: Int, _ step: Int) -> Bool {
            var index = index
            while draft.scalars.indices.contains(index), mask.kind(at: index) == .markup, !isEnd(index) {
                index += step
            }
            guard draft.scalars.indices.contains(index), !isEnd(index) else { return false }
            let scalar = draft.scalars[index]
            if mask.kind(at: index) == .structure { return false }
            return mask.kind(at: index).isKept
                ? !ProseTokens.isSpace(scalar) : abs(index - range.lowerBound) > 1 && ProseTokens.isLetter(scalar)
        }
        // `(Q)uit`, `fread()`.
        func has(_ scalar: Unicode.Scalar, at index: Int) -> Bool {
            draft.scalars.indices.contains(index) && draft.scalars[index] == scalar
        }
        return isJoined(range.lowerBound - 1, -1) || isJoined(range.upperBound, 1)
            || has(")", at: range.lowerBound - 1) || has("(", at: range.upperBound)
    }

    // MARK: Telling

    /// What was found, by position. Also notes the ``absence`` of a dictionary for the language of most words.
    mutating func findings(in blocks: [Words]) -> [QuickScan.Finding] {
        var counts: [String: Int] = [:]
        for block in blocks {
            counts[block.language, default: 0] += block.count
            known.formUnion(block.known)
        }
        let usual = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        if let usual, usual != LanguageTable.unknown, checker(usual) == nil {
            absence = spelling.absence(usual, region: region)
        }
        let unknown = blocks.flatMap(\.unknown)
        let code = unknown.isEmpty ? [] : codeWords()
        let places = unknown.filter { place in
            let lower = place.word.lowercased()
            let stem = String(lower.prefix { $0 != "'" })
            return ![lower, stem].contains { known.contains($0) || code.contains($0) }
        }
        let times = places.reduce(into: [String: Int]()) { $0[$1.word.lowercased(), default: 0] += 1 }
        var seen: Set<String> = []
        var judged = 0
        return places.compactMap { place in
            let key = place.word.lowercased()
            let count = times[key] ?? 1
            let isFirst = seen.insert(key).inserted
            let isTerm = count >= Self.often
            if isTerm, !isFirst || !tellsUnknown { return nil }
            if isFirst { judged += 1 }
            guard let checker = checker(place.language) else { return nil }
            let word = place.isCapitalised && !Self.capitalisesNouns(place.language) ? key : place.word
            let isJudged = judged <= Self.mostProposals
            let slip = isJudged && !isTerm ? checker.slip(word, isPart: place.isPart) : nil
            // Else it is more likely a name.
            if place.isCapitalised, slip?.proposal == nil { return nil }
            if slip == nil, !tellsUnknown { return nil }
            let similar = slip?.meant ?? (isJudged ? checker.proposals(word) : [])
            let right = slip?.proposal.map { place.isCapitalised ? $0.prefix(1).uppercased() + $0.dropFirst() : $0 }
            let isTypographic = draft.scalars[place.range].contains("\u{2019}")
            return QuickScan.Finding(
                rule: slip == nil ? .unknownWord : .spelling, range: place.range,
                replacement: isTypographic ? right?.replacing("'", with: "\u{2019}") : right,
                caution: Self.message(place.word, right == nil ? similar : [], count: count), detail: place.word,
                // A story may have rare and old words.
                isForNarrative: slip == nil || right != nil)
        }
    }

    private static func message(_ word: String, _ similar: [String], count: Int) -> String {
        let times = count >= often ? ", and stands here \(count) times" : ""
        let shown = similar.prefix(3).map { "“\($0)”" }.joined(separator: ", ")
        return "“\(word)” is in no dictionary\(times)" + (shown.isEmpty ? "." : "; similar: \(shown).")
    }

    /// The words inside code, links and the like: in prose they name the same things.
    private func codeWords() -> Set<String> {
        var words: Set<String> = []
        var word = String.UnicodeScalarView()
        for (index, scalar) in draft.scalars.enumerated() {
            if mask.kind(at: index).isKept, ProseTokens.isLetter(scalar) {
                word.append(scalar)
            } else if !word.isEmpty {
                words.insert(String(word).lowercased())
                word = String.UnicodeScalarView()
            }
        }
        words.insert(String(word).lowercased())
        return words
    }

    // MARK: Letters

    private static func joins(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\u{AD}" || scalar == "\u{200C}" || scalar == "\u{200D}"
            || scalar.value > 0x2FF && scalar.properties.generalCategory == .nonspacingMark
    }

    private static func isHyphen(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "-" || scalar == "\u{2010}" || scalar == "\u{2011}"
    }

    /// As dictionaries have it: composed, without soft hyphens and ligatures, with straight apostrophes.
    private static func plain(_ text: Slice<UnsafeBufferPointer<Unicode.Scalar>>) -> String {
        var word = String.UnicodeScalarView()
        for scalar in text {
            switch scalar.value {
            case 0xAD, 0x200C, 0x200D: break
            case 0x2019: word.append("'")
            case 0x2010, 0x2011: word.append("-")
            case 0xFB00...0xFB06: word.append(contentsOf: (ligatures[scalar] ?? "").unicodeScalars)
            default: word.append(scalar)
            }
        }
        return String(word).precomposedStringWithCanonicalMapping
    }

    private static let ligatures: [Unicode.Scalar: String] = [
        "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
    ]

    /// Whether a letter behind the first one is a capital: an abbreviation or a name. A capital behind a hyphen does
    /// not count.
    private static func hasInnerCapital(_ word: String) -> Bool {
        word.split(separator: "-").contains { $0.unicodeScalars.dropFirst().contains { $0.properties.isUppercase } }
    }
}
