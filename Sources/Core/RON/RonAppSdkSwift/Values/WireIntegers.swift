import Foundation

extension Int64: WireValue {}
extension UInt64: WireValue {}

extension WireValue where Self: FixedWidthInteger & Codable {
    /// Decodes a string of decimal digits, or an integer.
    ///
    /// - Parameter decoder: The decoder.
    /// - Returns: The exact number.
    /// - Throws: `DecodingError.dataCorrupted` that names the value if it is not an integer or out of range.
    public static func decodeFromWire(_ decoder: any Decoder) throws -> Self {
        let container = try decoder.singleValueContainer()
        let refused: (String) -> DecodingError = { reason in
            .dataCorrupted(.init(codingPath: container.codingPath, debugDescription: reason))
        }
        if let text = try? container.decode(String.self) {
            let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
            guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw refused("\(quoted(text)) is no whole number in decimal digits")
            }
            guard let value = Self(text) else {
                throw refused("\(quoted(text)) is out of the range of \(Self.self), \(Self.min) to \(Self.max)")
            }
            return value
        }
        do {
            return try container.decode(Self.self)
        } catch {
            // The decoder's own error need not include the number.
            if let number = try? container.decode(Decimal.self) {
                throw refused("\(number) is not a whole number from \(Self.min) to \(Self.max)")
            }
            throw error
        }
    }

    /// Encodes a string of decimal digits.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: Any error from the encoder.
    public func encodeToWire(_ encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(self))
    }
}

/// A peer's value, shortened for a message.
func quoted(_ text: String) -> String {
    text.utf8.count <= 64 ? "\"\(text)\"" : "\"\(text.prefix(48))…\" (\(text.utf8.count) bytes)"
}
