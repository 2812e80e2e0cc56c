/// Two lower-case digits per byte.
package func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.underestimatedCount)
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
}

/// Random bytes from the kernel, as hexadecimal digits.
package func randomHex(_ count: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    return hexadecimal((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
}

/// Two upper-case digits.
func upperHexadecimal(_ byte: UInt8) -> String { hexadecimal([byte]).uppercased() }

/// A path encoded for a URI (RFC 3986): letters, digits, `-._~` and `/` unchanged, every other byte as `%XX`.
package func percentEncoded(_ path: some Sequence<UInt8>) -> String {
    path.map { byte in
        switch UnicodeScalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~", "/": String(UnicodeScalar(byte))
        default: "%" + upperHexadecimal(byte)
        }
    }.joined()
}

extension BinaryInteger {
    /// Its digits, zero-padded to `width`.
    package func padded(_ width: Int) -> String {
        let digits = String(magnitude)
        return (self < 0 ? "-" : "") + String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}

/// - Returns: nil if `text` is not pairs of lower-case hexadecimal digits.
package func bytesOf(hexadecimal text: String) -> [UInt8]? {
    let digits: [UInt8] = Array(text.utf8).compactMap {
        switch $0 {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): $0 - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): $0 - UInt8(ascii: "a") + 10
        default: nil
        }
    }
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
