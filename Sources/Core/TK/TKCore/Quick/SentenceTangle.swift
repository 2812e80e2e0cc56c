/// Why a sentence is harder to read than its length says: a splice, many subordinate clauses, or a long bracket.
/// For English.
struct SentenceTangle {
    private var subordinators = 0
    /// The words of the longest pair of brackets.
    private var bracket = 0
    /// A bare comma separates two sentences: “The files are read, it shows them.”
    private var isSpliced = false

    private static let mostSubordinators = 2
    private static let longestBracket = 3

    var isTangled: Bool {
        subordinators > Self.mostSubordinators || bracket > Self.longestBracket || isSpliced
    }

    init(_ tokens: ArraySlice<ProseTokens.Token>, _ text: UnsafeBufferPointer<Unicode.Scalar>) {
        var depth = 0
        var inBracket = 0
        var part: [ProseTokens.Token] = []
        /// The part before the last comma is a sentence of its own.
        var isWhole = false
        var previous: ProseTokens.Token?
        for token in tokens {
            for scalar in text[(previous?.end ?? token.start)..<token.start] {
                switch scalar {
                case "(":
                    depth += 1
                    inBracket = 0
                case ")": depth = max(0, depth - 1)
                case ",", ";", ":", "—", "–":
                    guard depth == 0 else { break }
                    isWhole = scalar == "," && Self.isClause(part)
                    part = []
                default: break
                }
            }
            previous = token
            if depth > 0 {
                inBracket += 1
                bracket = max(bracket, inBracket)
                continue
            }
            if Words.subordinators.contains(token.hash) { subordinators += 1 }
            if part.isEmpty, isWhole, Words.splicers.contains(token.hash) { isSpliced = true }
            part.append(token)
        }
    }

    /// Whether these words, up to a comma, can stand alone: “By default it is on”, but neither “If it is on” nor “In
    /// most cases”.
    private static func isClause(_ part: [ProseTokens.Token]) -> Bool {
        guard let first = part.first, first.ending != .ing, !Words.links.contains(first.hash) else { return false }
        if !Words.leads.contains(first.hash) { return part.contains { Words.verbs.contains($0.hash) } }
        return zip(part, part.dropFirst()).contains {
            Words.subjects.contains($0.hash) && Words.verbs.contains($1.hash)
        }
    }
}

private enum Words {
    static let subordinators = WordHash.set(
        "because if since that unless until when where whether which while who whose although")
    static let subjects = WordHash.set("i you we they it he she")
    /// A new sentence begins with one of these, behind a comma as well. “First of all” is such a beginning.
    static let splicers = WordHash.set("i you we they it he she this these there however first")
    static let verbs = WordHash.set(
        "is are was were has have had can could will would should must may might do does did need needs want wants")
    /// They begin a clause that cannot stand alone.
    static let links = WordHash.set(
        "after although and as because before but even given if nor once or since so that unless until when where whether "
            + "which while who")
    /// They begin an adverbial.
    static let leads = WordHash.set("at by during for from in on to under upon with without")
}
