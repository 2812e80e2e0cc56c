/// How much of a sentence a reader has to remember at once.
struct SentenceMeasure {
    /// All words, for display.
    private(set) var words = 0
    /// The words that count: not those in brackets, which can be skipped, nor the short members of a series, which are
    /// read one by one.
    private(set) var total = 0
    /// Of these, the most between two marks where readers can pause: semicolons, colons, dashes.
    private(set) var longestStretch = 0
    /// Characters foreign to prose separate the words: a table, a grammar, code.
    private(set) var isTechnical = false

    /// The maximum words of a series' member.
    private static let shortMember = 5
    private static let shortestSeries = 3

    init(_ tokens: ArraySlice<ProseTokens.Token>, _ text: UnsafeBufferPointer<Unicode.Scalar>) {
        /// The words of each part between commas in the current stretch.
        var members = [0]
        var depth = 0
        var signs = 0
        var previous: ProseTokens.Token?
        for token in tokens {
            if let previous, !token.followsDirectly {
                for index in previous.end..<token.start {
                    switch text[index] {
                    case "(": depth += 1
                    case ")": depth = max(0, depth - 1)
                    case ",": if depth == 0 { members.append(0) }
                    case ";", ":", "—", "–":
                        if depth == 0 { close(&members) }
                    case "-":
                        // A typed dash; hyphens within words do not get here.
                        if depth == 0, members != [0] { close(&members) }
                    case "|", "<", ">", "{", "}", "[", "]", "=", "\\", "^", "~", "#", "+", "$": signs += 1
                    default: break
                    }
                }
            }
            previous = token
            guard !token.isTechnical else { continue }
            words += 1
            if depth == 0 { members[members.count - 1] += 1 }
        }
        close(&members)
        isTechnical = signs * 8 > tokens.count || words * 4 < tokens.count * 3
    }

    private mutating func close(_ members: inout [Int]) {
        var count = 0
        var index = 0
        while index < members.count {
            let run = members[index...].prefix { $0 <= Self.shortMember }
            if run.count >= Self.shortestSeries {
                index = run.endIndex
            } else {
                count += members[index]
                index += 1
            }
        }
        total += count
        longestStretch = max(longestStretch, count)
        members = [0]
    }

    /// Whether it is longer than `limit` words; with places to pause it may be half as long again.
    func exceeds(_ limit: Int) -> Bool { longestStretch > limit || total * 2 > limit * 3 }
}
