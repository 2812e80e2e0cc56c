/// What may stand in a header; what may not is never sent, so that no value begins a header of its own.
enum HeaderText {
    /// Whether a header may have this name: a token of RFC 9110.
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

    /// Whether a header may have this value: no control characters but the tab, none outside ASCII, no space at an end.
    static func isValue(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.allSatisfy({ $0 == 0x09 || (0x20...0x7E).contains($0) }) else { return false }
        return ![bytes.first, bytes.last].contains(0x20) && ![bytes.first, bytes.last].contains(0x09)
    }

    /// Whether it is an id that every server takes: 1 to `limit` visible ASCII characters.
    static func isVisible(_ text: String, limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
