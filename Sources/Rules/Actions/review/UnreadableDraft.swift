/// Why a file is no text that can be reviewed.
enum UnreadableDraft {
    /// Nil where it is one; else a sentence for its writer.
    static func reason(_ bytes: [UInt8]) -> String? {
        let isText = String(validating: bytes, as: UTF8.self) != nil
        if isText, !bytes.contains(0) { return nil }
        let encoding: (is: String, name: String)
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            encoding = ("it is UTF-16", "utf-16")
        } else if bytes.contains(0) {
            encoding = ("it holds NUL bytes, as UTF-16 and files that are no text do", "utf-16")
        } else {
            encoding = ("it is not UTF-8, but Latin-1 or another encoding of single bytes", "latin1")
        }
        return "This draft is not reviewed: \(encoding.is). Save it as UTF-8, or convert it "
            + "(iconv -f \(encoding.name) -t utf-8); then it is."
    }
}
