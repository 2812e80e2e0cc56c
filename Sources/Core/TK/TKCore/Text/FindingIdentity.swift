import Platform

/// Derives a finding's id, so that the same remark about the same words has the same id in every pass, and an answered
/// finding does not come back (docs/design/draft-anchors.md, "The same finding again").
public enum FindingIdentity {
    /// - Parameters:
    ///   - maker: the rule, or the advisor, that found it.
    ///   - quote: the words concerned; only letters and digits count.
    ///   - before: the text before the quote; its last three words count.
    ///   - after: the text after the quote; its first three words count.
    ///   - occurrence: distinguishes findings that are equal in all of this, from 0.
    /// - Returns: 12 hexadecimal digits.
    public static func id(maker: String, quote: String, before: String, after: String, occurrence: Int = 0) -> String {
        var key = maker
        key += "\u{0}" + PlainWords.of(quote).joined(separator: " ")
        key += "\u{0}" + PlainWords.of(before).suffix(3).joined(separator: " ")
        key += "\u{0}" + PlainWords.of(after).prefix(3).joined(separator: " ")
        if occurrence > 0 { key += "\u{0}\(occurrence)" }
        return hexadecimal(ContentHash(of: key.utf8).bytes.prefix(6))
    }
}
