import Platform

extension DraftText {
    /// Why bytes are not a draft's text, which is UTF-8 without NULs. Lines count from 1.
    package enum Unreadable: Sendable, Hashable {
        case utf16
        case nul(line: Int)
        case otherEncoding(line: Int)
    }

    /// Reads a draft from bytes: its text, and its syntax by its name and its beginning.
    ///
    /// - Parameter name: the draft's, for messages.
    /// - Throws: `Fault` (`.refused`) that describes the actual content, its place, and the remedy.
    package init(_ bytes: [UInt8], _ name: String, path: BytePath? = nil) throws {
        func refuse(_ what: String) -> Fault { Fault(.refused, "\(name) \(what)", path: path) }
        switch Self.read(bytes) {
        case .success(let text): self.init(text, syntax: .of(path, text))
        case .failure(.utf16):
            throw refuse("is text in UTF-16, and only UTF-8 is read; convert it first (`iconv -f utf-16 -t utf-8`)")
        case .failure(.nul(let line)):
            throw refuse(
                "is no text in UTF-8: it holds a NUL in line \(line). If it is text in another encoding, convert it "
                    + "first (`iconv -t utf-8`)")
        case .failure(.otherEncoding(let line)):
            throw refuse(
                "is not text in UTF-8: line \(line) holds bytes of another encoding; convert it first "
                    + "(`iconv -f windows-1252 -t utf-8`)")
        }
    }

    /// Why bytes are not a draft's text; nil if they are.
    package static func unreadable(_ bytes: [UInt8]) -> Unreadable? {
        guard case .failure(let reason) = read(bytes) else { return nil }
        return reason
    }

    private static func read(_ bytes: [UInt8]) -> Result<String, Unreadable> {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return .failure(.utf16) }
        if let nul = bytes.firstIndex(of: 0) { return .failure(.nul(line: line(of: nul, in: bytes))) }
        if let text = String(validating: bytes, as: UTF8.self) { return .success(text) }
        let valid = String(decoding: bytes, as: UTF8.self).unicodeScalars
            .prefix { $0 != "\u{FFFD}" }.reduce(0) { $0 + UTF8.width($1) }
        return .failure(.otherEncoding(line: line(of: min(valid, bytes.count), in: bytes)))
    }

    private static func line(of offset: Int, in bytes: [UInt8]) -> Int {
        bytes[..<offset].count { $0 == UInt8(ascii: "\n") } + 1
    }
}

extension DraftText.Unreadable: Error {}
