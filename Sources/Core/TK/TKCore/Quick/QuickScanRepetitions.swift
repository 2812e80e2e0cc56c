extension QuickScan {
    mutating func findRepeatedWords(_ text: UnsafeBufferPointer<Unicode.Scalar>, _ block: DraftMask.Block) {
        let tokens = prose.tokens
        guard tokens.count > 1 else { return }
        var index = 1
        while index < tokens.count {
            defer { index += 1 }
            guard tokens[index].followsDirectly, !tokens[index].isTechnical else { continue }
            if tokens[index].hash == tokens[index - 1].hash, !tokens[index - 1].isTechnical {
                index = repeatedWord(at: index, text, block)
            } else {
                index = repeatedPhrase(at: index, text)
            }
        }
    }

    /// Judges two equal words in a row; returns the last token that was judged.
    private mutating func repeatedWord(
        at index: Int, _ text: UnsafeBufferPointer<Unicode.Scalar>, _ block: DraftMask.Block
    ) -> Int {
        let tokens = prose.tokens
        var last = index
        while last + 1 < tokens.count, tokens[last + 1].followsDirectly, tokens[last + 1].hash == tokens[index].hash {
            last += 1
        }
        let first = tokens[index - 1]
        let times = last - index + 2
        let kind = lexicon.repetition(first.word, in: language)
        let length = first.end - first.start
        let isCompound = tokens[last].end < text.count && text[tokens[last].end] == "-"
        // Words mentioned rather than used: a slip like "the the".
        let isMentioned = speech.ranges.contains(first.start..<tokens[last].end)
        // After a command, they are its arguments.
        let isArgument = index > 1 && first.followsDirectly && tokens[index - 2].isTechnical
        guard !isCompound, !isMentioned, !isArgument, times <= 3, isOneCase(first, tokens[index], text),
            (index...last).allSatisfy({ flows(tokens[$0 - 1].end..<tokens[$0].start, text) })
        else { return last }
        if kind.contains(.function) || (kind.contains(.repeatable) && times == 3 && first.hash == Self.that) {
            // Not a function word if it is a name (`The The`) or a letter.
            guard length > 1 || !tokens[index].isCapitalised || first.hash == Self.letterI else { return last }
        } else {
            // Names, emphasis and direct speech may repeat a word. In an indented manual as plain text one of the two
            // may be a placeholder that has lost its italics. “Window window” is a type with its parameter.
            guard !first.isCapitalised || prose.opensSentence(index - 1), block.kind == .paragraph, length >= 3,
                times == 2, !tokens[index].isCapitalised,
                !kind.contains(.repeatable), tokens[index].ending != .ly, !speech.contains(first.start),
                !isPlain || !isIndented(first.start)
            else { return last }
        }
        // “It it” may be meant as “it is”, and a repeated letter may be an example.
        findings.append(
            Finding(
                rule: .repeatedWord, range: first.start..<tokens[last].end,
                replacement: string(text, first.start..<first.end), isRemark: length == 1 || first.hash == Self.it,
                detail: string(text, first.start..<first.end)))
        return last
    }

    private static let that = WordHash.of("that")
    private static let letterI = WordHash.of("i")
    private static let it = WordHash.of("it")

    /// `DIGITS digits` and `All all` are a name and a word; at a sentence's start the first is capitalised anyway.
    private func isOneCase(
        _ first: ProseTokens.Token, _ second: ProseTokens.Token, _ text: UnsafeBufferPointer<Unicode.Scalar>
    ) -> Bool {
        let rest = zip(text[first.start..<first.end].dropFirst(), text[second.start..<second.end].dropFirst())
        guard rest.allSatisfy({ $0 == $1 }) else { return false }
        return first.isCapitalised || !second.isCapitalised
    }

    /// Whether the text continues across a gap. Wide gaps separate columns; a line of one or two words, or of verse, is
    /// not continued below.
    private func flows(_ gap: Range<Int>, _ text: UnsafeBufferPointer<Unicode.Scalar>) -> Bool {
        guard let end = gap.first(where: { text[$0] == "\n" || text[$0] == "\r" }) else {
            let blanks = draft.scalars[gap].split { $0 != " " && $0 != "\t" }
            return blanks.allSatisfy { $0.count == 1 && $0.first != "\t" }
        }
        var start = end
        while start > 0, text[start - 1] != "\n", text[start - 1] != "\r" { start -= 1 }
        let words = text[start..<end].split(whereSeparator: { ProseTokens.isSpace($0) }).count
        return words >= 3 && !isVerse
    }

    /// Whether a word's line is indented.
    private func isIndented(_ position: Int) -> Bool {
        let line = draft.textRange(ofLine: draft.line(at: position))
        return draft.scalars[line].first.map { $0 == " " || $0 == "\t" } ?? false
    }

    /// Judges whether three or four words are repeated directly; returns the last token that was judged.
    private mutating func repeatedPhrase(at index: Int, _ text: UnsafeBufferPointer<Unicode.Scalar>) -> Int {
        let tokens = prose.tokens
        for length in [4, 3] where index >= length && index + length <= tokens.count {
            guard tokens[index].hash == tokens[index - length].hash else { continue }
            let isEqual = (0..<length).allSatisfy {
                tokens[index + $0].hash == tokens[index - length + $0].hash
                    && isOneCase(tokens[index - length + $0], tokens[index + $0], text)
            }
            let isDirect = (index - length + 1..<index + length).allSatisfy {
                tokens[$0].followsDirectly && !tokens[$0].isTechnical
            }
            guard isEqual, isDirect, !isPlain || !isIndented(tokens[index].start),
                !speech.contains(tokens[index].start),
                flows(tokens[index - 1].end..<tokens[index].start, text)
            else { continue }
            let once = tokens[index - length].start..<tokens[index - 1].end
            // If one clause ends with the words that start the next, a comma is missing, and no word is superfluous.
            findings.append(
                Finding(
                    rule: .repeatedWord, range: once.lowerBound..<tokens[index + length - 1].end,
                    replacement: string(text, once), isRemark: true, detail: string(text, once)))
            return index + length - 1
        }
        return index
    }
}
