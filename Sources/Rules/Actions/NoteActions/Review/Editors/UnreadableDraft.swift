import Platform
import TKCore

/// Explains to the writer why a file cannot be reviewed.
enum UnreadableDraft {
    /// Longer texts are not reviewed.
    static let longest: Int64 = 8 << 20

    static func reason(_ unreadable: DraftText.Unreadable) -> String {
        let encoding: (is: String, name: String) =
            switch unreadable {
            case .utf16: ("it is UTF-16", "utf-16")
            case .nul: ("it holds NUL bytes, as UTF-16 and files that are no text do", "utf-16")
            case .otherEncoding: ("it is not UTF-8, but Latin-1 or another encoding of single bytes", "latin1")
            }
        return "This draft is not reviewed: \(encoding.is). Save it as UTF-8, or convert it "
            + "(iconv -f \(encoding.name) -t utf-8); then it is."
    }

    /// nil if the draft is not too long.
    static func reason(size: Int64) -> String? {
        guard size > longest else { return nil }
        return
            "This draft is not reviewed: it is longer than \(longest >> 20) MiB, which no draft is. Save its parts as "
            + "drafts of their own; then they are."
    }
}
