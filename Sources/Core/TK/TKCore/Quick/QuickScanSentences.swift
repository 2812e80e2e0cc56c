extension QuickScan {
    mutating func findLongSentences(_ text: UnsafeBufferPointer<Unicode.Scalar>, _ block: DraftMask.Block) {
        for sentence in prose.sentences {
            sentenceCount += 1
            guard !isVerse, sentence.isTerminated, sentence.tokens.count > settings.longSentence else { continue }
            let words = prose.tokens[sentence.tokens]
            // A list of names or of file names is long, but not a sentence to shorten.
            let names = words.reduce(0) { $0 + ($1.isCapitalised ? 1 : 0) }
            let measure = SentenceMeasure(words, text)
            guard let first = words.first, names * 3 < measure.words, !measure.isTechnical,
                measure.exceeds(settings.longSentence),
                !BlockLines.areItems(text, first.start..<sentence.end)
            else { continue }
            // Little longer than the limit, a sentence of plain steps is still read easily.
            let isLittleLonger = measure.words <= settings.longSentence * 5 / 4
            if isLittleLonger, language == QuickLexicon.english, !SentenceTangle(words, text).isTangled { continue }
            let identity = prose.tokens[min(sentence.tokens.lowerBound + 7, sentence.tokens.upperBound - 1)]
            findings.append(
                Finding(
                    rule: .longSentence, range: first.start..<sentence.end, detail: "\(measure.words)",
                    identityEnd: identity.end,
                    isForNarrative: measure.exceeds(settings.longSentence * 3) && !speech.contains(first.start)))
        }
    }
}

/// The shape of a block's lines.
struct BlockLines {
    /// Short lines that begin with capitals: verse, with deliberate lines and repetitions.
    private(set) var isVerse = false

    private static let longestVerse = 60

    init(_ text: UnsafeBufferPointer<Unicode.Scalar>, _ block: Range<Int>) {
        var (lines, capitals) = (0, 0)
        var start = block.lowerBound
        while start < block.upperBound {
            var end = start
            while end < block.upperBound, text[end] != "\n", text[end] != "\r" { end += 1 }
            let first = (start..<end).first { ProseTokens.isLetter(text[$0]) }
            if let first {
                lines += 1
                if text[first].properties.isUppercase { capitals += 1 }
                // A single long line rules out verse.
                if end - first > Self.longestVerse { return }
            }
            start = end + 1
        }
        isVerse = lines >= 3 && capitals * 5 >= lines * 4
    }

    /// Whether most lines end with a comma: a list without marks, one item a line.
    static func areItems(_ text: UnsafeBufferPointer<Unicode.Scalar>, _ range: Range<Int>) -> Bool {
        var (breaks, commas) = (0, 0)
        var last: Unicode.Scalar = " "
        for scalar in text[range] {
            if scalar == "\n" {
                breaks += 1
                if last == "," { commas += 1 }
            }
            if !ProseTokens.isSpace(scalar) { last = scalar }
        }
        return breaks >= 3 && commas * 2 > breaks
    }
}
