/// Two lower-case digits for each byte.
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
