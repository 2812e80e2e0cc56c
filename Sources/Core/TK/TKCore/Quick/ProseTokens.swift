/// The words of a block of prose, and the separators between them.
struct ProseTokens {
    struct Token {
        var start: Int
        var end: Int
        /// Of the lower-case scalars.
        var hash: UInt64
        /// The word's index in the lexicon, or -1.
        var word: Int32
        /// Only white space separates this word from the one before.
        var followsDirectly: Bool
        var isCapitalised: Bool
        /// A file name, an option, a call: not a word of the language.
        var isTechnical: Bool
        /// -ed, -ly or -ing, by the last letters.
        var ending: Ending
    }

    enum Ending: UInt8 { case none, ed, ly, ing }

    /// Words of one sentence.
    struct Sentence {
        var tokens: Range<Int>
        /// After its end mark.
        var end: Int
        /// It ends with a full stop, a question mark or an exclamation mark.
        var isTerminated: Bool
    }

    private(set) var tokens: [Token] = []
    private(set) var sentences: [Sentence] = []
    private var sentenceStart = 0

    mutating func read(_ text: UnsafeBufferPointer<Unicode.Scalar>, _ block: Range<Int>, _ lexicon: QuickLexicon) {
        tokens.removeAll(keepingCapacity: true)
        sentences.removeAll(keepingCapacity: true)
        sentenceStart = 0
        var index = block.lowerBound
        var isDirect = false
        while index < block.upperBound {
            let scalar = text[index]
            if Self.isLetter(scalar) || scalar.value &- 48 < 10 {
                index = word(from: index, text, block, lexicon, isDirect: isDirect)
                isDirect = true
            } else {
                if !Self.isSpace(scalar) {
                    isDirect = false
                    if scalar == "." || scalar == "!" || scalar == "?" || scalar == "…" {
                        index = endSentence(at: index, text, block, lexicon)
                        continue
                    }
                }
                index += 1
            }
        }
        close(at: tokens.last?.end ?? block.upperBound, isTerminated: false)
    }

    /// Whether a sentence begins with a token.
    func opensSentence(_ token: Int) -> Bool {
        // The sentences are in order: the first one that reaches beyond the token holds it.
        var (low, high) = (0, sentences.count)
        while low < high {
            let middle = (low + high) / 2
            if sentences[middle].tokens.upperBound > token { high = middle } else { low = middle + 1 }
        }
        return low < sentences.count && sentences[low].tokens.lowerBound == token
    }

    private mutating func word(
        from start: Int, _ text: UnsafeBufferPointer<Unicode.Scalar>, _ block: Range<Int>, _ lexicon: QuickLexicon,
        isDirect: Bool
    ) -> Int {
        var hash = WordHash()
        var end = start
        var hasDigit = false
        var hasInnerCapital = false
        var lowerCount = 0
        while end < block.upperBound {
            let scalar = text[end]
            if Self.isLetter(scalar) {
                let isUpper = scalar.value &- 65 < 26
                if !isUpper { lowerCount += 1 } else if lowerCount > 0 { hasInnerCapital = true }
            } else if scalar.value &- 48 < 10 || scalar == "_" {
                hasDigit = true
            } else if scalar == "'" || scalar == "\u{2019}" || scalar == "-" || scalar == "\u{2010}"
                || scalar == "\u{2011}"
            {
                // Within a word only.
                guard end + 1 < block.upperBound, Self.isLetter(text[end + 1]) || text[end + 1].value &- 48 < 10 else {
                    break
                }
                if scalar != "'", scalar != "\u{2019}" { lowerCount = 0 }
            } else {
                break
            }
            hash.add(scalar)
            end += 1
        }
        let before = start > block.lowerBound ? text[start - 1] : " "
        let after = end < block.upperBound ? text[end] : " "
        let behind = end + 1 < block.upperBound ? text[end + 1] : " "
        var isTechnical = hasDigit || hasInnerCapital || Self.joinsCode(before) || Self.joinsCode(after)
        if before == "-" || before == "." {
            // `--option` and `.file`, but neither a dash nor an ellipsis between words.
            var first = start - 1
            while first > block.lowerBound, text[first - 1] == before { first -= 1 }
            let isOpen = first == block.lowerBound || Self.isSpace(text[first - 1])
            isTechnical = isTechnical || (before == "-" ? isOpen : first == start - 1)
        }
        if after == "." || after == ":", Self.isLetter(behind) || behind.value &- 48 < 10 || behind == ":" {
            isTechnical = true
        }
        if after == "(", behind == ")" || behind.value &- 48 < 10 { isTechnical = true }
        let value = hash.value
        tokens.append(
            Token(
                start: start, end: end, hash: value, word: isTechnical ? -1 : lexicon.number(of: value),
                followsDirectly: isDirect && Self.isSpace(before), isCapitalised: text[start].value &- 65 < 26,
                isTechnical: isTechnical, ending: Self.ending(text, start, end)))
        return end
    }

    /// Closes the sentence if the mark at `index` ends it; returns where to continue.
    private mutating func endSentence(
        at index: Int, _ text: UnsafeBufferPointer<Unicode.Scalar>, _ block: Range<Int>, _ lexicon: QuickLexicon
    ) -> Int {
        var end = index + 1
        while end < block.upperBound, ".!?…)]\"'”’*_".unicodeScalars.contains(text[end]) { end += 1 }
        // Books put a dash between two sentences: “pleasanter.--They”.
        var next = end
        while next < block.upperBound, text[next] == "-" || text[next] == "—" { next += 1 }
        let isDash = next > end && next < block.upperBound && text[next].properties.isUppercase
        // Nor does any other mark before the same end.
        guard end == block.upperBound || isDash || Self.isSpace(text[end]) else { return end }
        if !isDash { next = end }
        while next < block.upperBound, Self.isSpace(text[next]) { next += 1 }
        if text[index] == ".", next < block.upperBound {
            if text[next].properties.isLowercase, !isWhole(tokens.last, before: index, text, lexicon) { return end }
            if let last = tokens.last, last.end == index {
                // “1.” numbers an item; at a sentence's end it is an ordinary number.
                let isMark =
                    last.isTechnical && last.end - last.start < 4 && tokens.count - 1 == sentenceStart
                let isInitial = last.end - last.start == 1 && last.isCapitalised
                let kind = lexicon.kind(last.word)
                let mayClose =
                    kind.contains(.closingAbbreviation)
                    ? text[next].properties.isUppercase
                    : isInitial && tokens.count - 1 > sentenceStart && Self.opensSentence(text, next..<block.upperBound)
                if isMark || (isInitial || kind.contains(.abbreviation)) && !mayClose { return end }
            }
        }
        close(at: end, isTerminated: true)
        return end
    }

    /// Whether a word like “The” is next, which is no name: “commit B. If it fails”, but “J. Smith”.
    private static func opensSentence(_ text: UnsafeBufferPointer<Unicode.Scalar>, _ range: Range<Int>) -> Bool {
        let letters = text[range].prefix(while: isLetter)
        guard letters.count < 8, letters.first?.properties.isUppercase ?? false,
            letters.endIndex == range.upperBound || text[letters.endIndex] != "."
        else { return false }
        var word = String.UnicodeScalarView()
        word.append(contentsOf: letters)
        return openers.contains(String(word).lowercased())
    }

    private static let openers = Set(
        """
        a after all also although an and any as at because before both but by each either even every few for from he \
        her here his how however if in instead into it its like many most my neither next no none nor not note now of \
        on once one only or other our she since so some such that the their then there these they this those though \
        thus to two unless until use we what when where which while who why with without you your
        """.split(separator: " ").map(String.init))

    /// Whether the word before a full stop is not an abbreviation: the next sentence begins with a command's name then.
    /// So is a link or code at the end of a line.
    private func isWhole(
        _ last: Token?, before stop: Int, _ text: UnsafeBufferPointer<Unicode.Scalar>, _ lexicon: QuickLexicon
    ) -> Bool {
        guard let last else { return false }
        guard last.end == stop else { return Self.isSpace(text[stop - 1]) && text[stop + 1] == "\n" }
        return last.end - last.start >= 4 && !last.isTechnical && !lexicon.kind(last.word).contains(.abbreviation)
    }

    private mutating func close(at end: Int, isTerminated: Bool) {
        if sentenceStart < tokens.count {
            sentences.append(Sentence(tokens: sentenceStart..<tokens.count, end: end, isTerminated: isTerminated))
        }
        sentenceStart = tokens.count
    }

    private static func ending(_ text: UnsafeBufferPointer<Unicode.Scalar>, _ start: Int, _ end: Int) -> Ending {
        guard end - start >= 4 else { return .none }
        switch (text[end - 2], text[end - 1]) {
        case ("e", "d"): return .ed
        case ("l", "y"): return .ly
        case ("n", "g"): return text[end - 3] == "i" ? .ing : .none
        default: return .none
        }
    }

    static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar.value &- 9 < 5 || scalar.value == 0xA0 || scalar.value == 0x2028
    }

    static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 128 ? (scalar.value | 32) &- 97 < 26 : scalar.value > 0xBF && scalar.properties.isAlphabetic
    }

    private static func joinsCode(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "/", "\\", "@", "#", "$", "=", "_", "<", ">", "~", "+", "^", "|", "{", "}", "%", "&", "*":
            true
        default: false
        }
    }
}
