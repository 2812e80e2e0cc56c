import Platform

extension DraftText {
    /// The text of a draft's bytes: UTF-8 without any NUL. One test for every way by which a draft comes in.
    ///
    /// - Parameter name: the draft's, for people.
    /// - Throws: `Fault` (`.refused`) that says what the bytes are instead, where, and what to do.
    package static func text(of bytes: [UInt8], _ name: String, path: BytePath? = nil) throws -> String {
        func refuse(_ what: String) -> Fault { Fault(.refused, "\(name) \(what)", path: path) }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw refuse("is text in UTF-16, and only UTF-8 is read; convert it first (`iconv -f utf-16 -t utf-8`)")
        }
        if let nul = bytes.firstIndex(of: 0) {
            throw refuse(
                "is no text in UTF-8: it holds a NUL in line \(line(of: nul, in: bytes)). If it is text in another "
                    + "encoding, convert it first (`iconv -t utf-8`)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            let valid = String(decoding: bytes, as: UTF8.self).unicodeScalars
                .prefix { $0 != "\u{FFFD}" }.reduce(0) { $0 + UTF8.width($1) }
            throw refuse(
                "is not text in UTF-8: line \(line(of: min(valid, bytes.count), in: bytes)) holds bytes of another "
                    + "encoding; convert it first (`iconv -f windows-1252 -t utf-8`)")
        }
        return text
    }

    private static func line(of offset: Int, in bytes: [UInt8]) -> Int {
        bytes[..<offset].count { $0 == UInt8(ascii: "\n") } + 1
    }
}
