import Foundation

extension Data: WireValue {
    /// Decodes base64url or base64, with or without padding.
    ///
    /// - Parameter decoder: The decoder.
    /// - Returns: The bytes.
    /// - Throws: `DecodingError.dataCorrupted` if it is neither.
    public static func decodeFromWire(_ decoder: any Decoder) throws -> Data {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let bytes = Data(base64URL: text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\(quoted(text)) is neither base64url nor base64")
        }
        return bytes
    }

    /// Encodes base64url (RFC 4648, section 5) without padding.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: Any error from the encoder.
    public func encodeToWire(_ encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(base64URL)
    }

    /// The bytes in base64url without padding.
    var base64URL: String {
        String(
            base64EncodedString().compactMap { character in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }

    /// Bytes from base64url or base64; padding may be complete or missing, but not partial.
    init?(base64URL text: String) {
        var standard = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        if standard.last != UInt8(ascii: "=") {
            standard += Array(repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        }
        self.init(base64Encoded: Data(standard))
    }
}
