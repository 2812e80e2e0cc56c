import Synchronization

/// Finds quotes in a normalised text. The first few cost a search of the text each; then its words are indexed once,
/// and a quote's cost is the frequency of its rarest word.
final class QuotePlaces: Sendable {
    private struct State: Sendable {
        var searches = 0
        var steps = 0
        /// The start of each word, by its hash.
        var words: [UInt64: [Int]]?
        /// A cache of the places of quotes.
        var known: [[Unicode.Scalar]: [Range<Int>]] = [:]
    }

    /// This many searches cost about as much as the index.
    private static let searchesWithout = 8

    private let text: [Unicode.Scalar]
    private let state = Mutex(State())

    init(_ text: [Unicode.Scalar]) { self.text = text }

    /// The number of scalars and places examined so far.
    var steps: Int { state.withLock { $0.steps } }

    static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 128 ? (scalar.value | 32) &- 97 < 26 : scalar.properties.isAlphabetic
    }

    /// In text order, all those for which `counts` is true.
    ///
    /// - Parameter counts: must be false for a place that begins or ends within a word.
    func ranges(of quote: [Unicode.Scalar], where counts: (Range<Int>) -> Bool) -> [Range<Int>] {
        guard !quote.isEmpty, quote.count <= text.count else { return [] }
        let (known, candidates) = state.withLock { state -> ([Range<Int>]?, (starts: [Int], offset: Int)?) in
            if let known = state.known[quote] { return (known, nil) }
            state.searches += 1
            guard state.searches > Self.searchesWithout else {
                state.steps += text.count
                return (nil, nil)
            }
            if state.words == nil { state.steps += text.count }
            let words = state.words ?? Self.index(text)
            state.words = words
            let rarest = Self.rarest(of: quote, words)
            state.steps += rarest?.starts.count ?? text.count
            return (nil, rarest)
        }
        if let known { return known }
        guard let candidates else { return search(quote).filter(counts) }
        let found = candidates.starts.compactMap { word -> Range<Int>? in
            let start = word - candidates.offset
            guard start >= 0, start + quote.count <= text.count, holds(quote, at: start) else { return nil }
            return start..<start + quote.count
        }.filter(counts)
        state.withLock { $0.known[quote] = found }
        return found
    }

    private func holds(_ quote: [Unicode.Scalar], at start: Int) -> Bool {
        for index in quote.indices where quote[index] != text[start + index] { return false }
        return true
    }

    // MARK: By words

    private static func index(_ text: [Unicode.Scalar]) -> [UInt64: [Int]] {
        var words: [UInt64: [Int]] = [:]
        eachWord(of: text) { hash, word, _ in words[hash, default: []].append(word.lowerBound) }
        return words
    }

    /// The occurrences of the quote's word that is rarest in the text, and its offset in the quote; nil if the quote
    /// has no word.
    private static func rarest(
        of quote: [Unicode.Scalar], _ words: [UInt64: [Int]]
    ) -> (starts: [Int], offset: Int)? {
        var best: (starts: [Int], offset: Int)?
        eachWord(of: quote) { hash, word, isNumber in
            // A quote may begin or end within a number.
            if isNumber, word.lowerBound == 0 || word.upperBound == quote.count { return }
            let starts = words[hash] ?? []
            if starts.count < best?.starts.count ?? .max { best = (starts, word.lowerBound) }
        }
        return best
    }

    /// Runs of letters and runs of digits: the hash of each, its place, and whether it is a number.
    private static func eachWord(of text: [Unicode.Scalar], _ body: (UInt64, Range<Int>, Bool) -> Void) {
        var start = 0
        while start < text.count {
            let isNumber = isDigit(text[start])
            guard isNumber || isLetter(text[start]) else {
                start += 1
                continue
            }
            var end = start
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            while end < text.count, isNumber ? isDigit(text[end]) : isLetter(text[end]) {
                hash = (hash ^ UInt64(text[end].value)) &* 0x100_0000_01b3
                end += 1
            }
            body(hash, start..<end, isNumber)
            start = end
        }
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { scalar.value &- 48 < 10 }

    // MARK: Without

    /// In linear time, even for repetitive text (Knuth, Morris, Pratt).
    private func search(_ quote: [Unicode.Scalar]) -> [Range<Int>] {
        // For each prefix of the quote, the longest proper prefix that is also its suffix.
        var shorter = [Int](repeating: 0, count: quote.count)
        var length = 0
        for index in quote.indices.dropFirst() {
            while length > 0, quote[index] != quote[length] { length = shorter[length - 1] }
            if quote[index] == quote[length] { length += 1 }
            shorter[index] = length
        }
        return text.withUnsafeBufferPointer { text in
            var found: [Range<Int>] = []
            var matched = 0
            for index in text.indices {
                while matched > 0, text[index] != quote[matched] { matched = shorter[matched - 1] }
                guard text[index] == quote[matched] else { continue }
                matched += 1
                guard matched == quote.count else { continue }
                found.append(index + 1 - matched..<index + 1)
                matched = shorter[matched - 1]
            }
            return found
        }
    }
}
