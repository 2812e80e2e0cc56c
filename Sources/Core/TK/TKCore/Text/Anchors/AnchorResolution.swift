/// The place of an anchor's quote in a text that may have changed, and how it was found.
public enum AnchorResolution: Sendable, Hashable {
    /// The text has not changed: the anchor's own offsets.
    case unchanged(Range<Int>)
    /// By a comparison with the previous text: the quote and its surroundings survived.
    case mapped(Range<Int>)
    /// The quote is unchanged, and its context agrees.
    case exact(Range<Int>)
    /// The same except for white space, quotation marks and dashes.
    case normalised(Range<Int>)
    /// The quote itself has changed: show it and ask, never apply it automatically.
    case fuzzy(Range<Int>, score: Double)
    /// Several places fit equally well.
    case ambiguous([Range<Int>])
    /// The quote is gone.
    case orphan

    /// The place, if there is one.
    public var range: Range<Int>? {
        switch self {
        case .unchanged(let range), .mapped(let range), .exact(let range), .normalised(let range), .fuzzy(let range, _):
            range
        case .ambiguous, .orphan: nil
        }
    }

    /// Whether an answer may be applied there without asking.
    public var isCertain: Bool {
        switch self {
        case .unchanged, .mapped, .exact, .normalised: true
        case .fuzzy, .ambiguous, .orphan: false
        }
    }
}
