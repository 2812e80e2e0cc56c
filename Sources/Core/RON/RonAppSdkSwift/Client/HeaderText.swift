/// The rules for headers. Invalid text is never sent, so that no value can inject a header.
enum HeaderText {
    /// Whether it is a valid header name: a token of RFC 9110.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// Whether it is a valid header value: no control characters except tab, only ASCII, no space at either end.
    static func isValue(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.allSatisfy({ $0 == 0x09 || (0x20...0x7E).contains($0) }) else { return false }
        return ![bytes.first, bytes.last].contains(0x20) && ![bytes.first, bytes.last].contains(0x09)
    }

    /// Whether it is an id that every server accepts: 1 to `limit` visible ASCII characters.
    static func isVisible(_ text: String, limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
