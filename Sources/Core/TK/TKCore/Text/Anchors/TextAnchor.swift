/// Where a quote stands in a text, with enough around it to find it again after the text has changed (W3C Web Annotation:
/// TextQuoteSelector and TextPositionSelector).
public struct TextAnchor: Codable, Sendable, Hashable {
    /// The quote.
    public var exact: String
    /// What stands before it: at most ``contextLength`` Unicode scalars.
    public var prefix: String
    /// What stands behind it: at most ``contextLength`` Unicode scalars.
    public var suffix: String
    /// Where it begins, in Unicode scalars from the beginning of the text.
    public var start: Int
    /// Where it ends: the scalar behind its last.
    public var end: Int
    /// Counted from 1.
    public var line: Int
    /// SHA-256 of the text's UTF-8, in hexadecimal digits.
    public var textHash: String
    /// In how many other places the text has the quote; nil where nobody has looked (``AnchorResolver/distinct(_:)``).
    public var twins: Int?
    /// A longer ``prefix`` that no twin has, where the short one does not tell them apart.
    public var longPrefix: String?
    /// A longer ``suffix`` that no twin has, where the short one does not tell them apart.
    public var longSuffix: String?

    /// How many scalars of its surroundings an anchor keeps on either side.
    public static let contextLength = 32
    /// How many it keeps at most of a quote with twins; what is as long tells nothing.
    public static let longestContext = 256

    /// Where the quote stood, in Unicode scalars.
    public var range: Range<Int> { start..<end }

    /// An anchor with all its parts; ``DraftText/anchor(of:)`` makes one from a text.
    public init(
        exact: String, prefix: String, suffix: String, start: Int, end: Int, line: Int, textHash: String
    ) {
        self.exact = exact
        self.prefix = prefix
        self.suffix = suffix
        self.start = start
        self.end = end
        self.line = line
        self.textHash = textHash
    }
}
