/// The anchor of a block: `<prefix>-<HHMM>`, plus the device's name if two devices wrote in the same minute
/// (docs/design/a4.md).
public struct AnchorToken: Hashable, Sendable, CustomStringConvertible {
    /// The kind of block: `[a-z][a-z0-9-]{1,24}`.
    public let prefix: String
    /// The local time, `0000` to `2359`.
    public let hhmm: String
    /// The device: `[A-Za-z0-9._-]+` without `__`.
    public let suffix: String?

    /// Parses the text after the `^`, such as `focus-0930__iphone`.
    ///
    /// - Throws: `A4Error.invalidAnchor`, naming the part that breaks the grammar.
    public init(parse token: String) throws {
        if token.utf8.first == UInt8(ascii: "^") {
            throw A4Error.invalidAnchor("\(token.debugDescription): give the token without the leading ^")
        }
        let bytes = Array(token.utf8)
        var head = bytes[...]
        var suffix: String?
        if let cut = bytes.indices.dropLast().first(where: { bytes[$0] == underscore && bytes[$0 + 1] == underscore }) {
            head = bytes[..<cut]
            suffix = String(decoding: bytes[(cut + 2)...], as: UTF8.self)
        }
        guard head.count > 5, head[head.endIndex - 5] == UInt8(ascii: "-") else {
            throw A4Error.invalidAnchor(
                "\(token.debugDescription) is not <prefix>-<HHMM> with an optional __<suffix>, such as jrnl-0930")
        }
        try self.init(
            prefix: String(decoding: head.dropLast(5), as: UTF8.self),
            hhmm: String(decoding: head.suffix(4), as: UTF8.self),
            suffix: suffix)
    }

    /// Creates a token from its parts.
    ///
    /// - Throws: `A4Error.invalidAnchor`, naming the part that breaks the grammar.
    public init(prefix: String, hhmm: String, suffix: String? = nil) throws {
        guard Self.isPrefix(prefix) else {
            throw A4Error.invalidAnchor(
                "the prefix \(prefix.debugDescription) is not a lower-case letter and then 1 to 24 of a-z, 0-9 and -")
        }
        guard Self.isTime(hhmm) else {
            throw A4Error.invalidAnchor("\(hhmm.debugDescription) is not a time of day from 0000 to 2359")
        }
        if let suffix, !Self.isSuffix(suffix) {
            throw A4Error.invalidAnchor(
                "the suffix \(suffix.debugDescription) is not one or more of A-Z, a-z, 0-9, ., _ and - without __")
        }
        self.prefix = prefix
        self.hhmm = hhmm
        self.suffix = suffix
    }

    /// The token as written at the start of a line: `^focus-0930__iphone`.
    public func marker() -> String { "^\(description)" }

    /// The token without the `^`.
    public var description: String { "\(prefix)-\(hhmm)" + (suffix.map { "__\($0)" } ?? "") }

    private static func isPrefix(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLower(first) else { return false }
        return (2...25).contains(text.utf8.count)
            && text.utf8.allSatisfy { isLower($0) || isDigit($0) || $0 == UInt8(ascii: "-") }
    }

    private static func isTime(_ text: String) -> Bool {
        guard text.utf8.count == 4, text.utf8.allSatisfy(isDigit), let number = Int(text) else { return false }
        return number / 100 < 24 && number % 100 < 60
    }

    private static func isSuffix(_ text: String) -> Bool {
        var previous: UInt8 = 0
        for byte in text.utf8 {
            let allowed =
                isLower(byte) || isDigit(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
                || (byte == underscore && previous != underscore)
            if !allowed { return false }
            previous = byte
        }
        return !text.isEmpty
    }
}

private let underscore = UInt8(ascii: "_")

private func isLower(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
