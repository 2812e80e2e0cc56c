/// A quote's place in a text, with enough context to find it again after the text has changed (W3C Web Annotation:
/// TextQuoteSelector and TextPositionSelector).
public struct TextAnchor: Codable, Sendable, Hashable {
    /// The quote.
    public var exact: String
    /// The text before it: at most ``contextLength`` Unicode scalars.
    public var prefix: String
    /// The text after it: at most ``contextLength`` Unicode scalars.
    public var suffix: String
    /// Its start, in Unicode scalars from the beginning of the text.
    public var start: Int
    /// Its end, exclusive.
    public var end: Int
    /// Counted from 1.
    public var line: Int
    /// SHA-256 of the text's UTF-8, in hexadecimal digits.
    public var textHash: String
    /// The number of other occurrences of the quote in the text; nil if not counted (``AnchorResolver/distinct(_:)``).
    public var twins: Int?
    /// A longer ``prefix`` that no twin has, if the short one does not distinguish them.
    public var longPrefix: String?
    /// A longer ``suffix`` that no twin has, if the short one does not distinguish them.
    public var longSuffix: String?

    /// The scalars of context stored on either side.
    public static let contextLength = 32
    /// The maximum for a quote with twins; a side of this length does not distinguish them.
    public static let longestContext = 256

    /// The quote's range, in Unicode scalars.
    public var range: Range<Int> { start..<end }

    /// An anchor with all its parts; ``DraftText/anchor(of:)`` makes one from a text.
    public init(
        exact: String, prefix: String, suffix: String, start: Int, end: Int, line: Int, textHash: String
    ) {
        (self.exact, self.prefix, self.suffix, self.start) = (exact, prefix, suffix, start)
        (self.end, self.line, self.textHash) = (end, line, textHash)
    }
}
