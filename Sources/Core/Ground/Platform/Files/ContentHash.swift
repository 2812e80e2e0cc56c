import COpenSSL

/// The SHA-256 of some bytes: 32 bytes, written as 64 lower-case hexadecimal digits.
package struct ContentHash: Hashable, Sendable, Codable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// - Parameter bytes: exactly 32, otherwise nil.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// - Parameter hex: exactly 64 hexadecimal digits, otherwise nil.
    package init?(hex: String) {
        guard hex.utf8.count == 64 else { return nil }
        let digits = hex.utf8.compactMap(Self.value(ofDigit:))
        guard digits.count == 64 else { return nil }
        bytes = stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    package init(of data: some Collection<UInt8>) {
        var hasher = StreamingHash()
        hasher.update(Array(data))
        self = hasher.finish()
    }

    package var description: String { hexadecimal(bytes) }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let hash = ContentHash(hex: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a SHA-256 in hexadecimal")
        }
        self = hash
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Hashes an open file from its start, without reading holes. Blocks.
    package static func of(_ file: Descriptor) throws -> ContentHash { try SparseFile.hash(file) }
}

/// Incremental SHA-256, by OpenSSL.
package struct StreamingHash: ~Copyable {
    private let context: OpaquePointer?

    package init() {
        context = EVP_MD_CTX_new()
        let ready = EVP_DigestInit_ex(context, EVP_sha256(), nil)
        precondition(ready == 1, "libcrypto has no SHA-256")
    }

    deinit { EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: [UInt8]) {
        EVP_DigestUpdate(context, bytes, bytes.count)
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    package mutating func finish() -> ContentHash {
        var digest = [UInt8](repeating: 0, count: 32)
        EVP_DigestFinal_ex(context, &digest, nil)
        guard let hash = ContentHash(bytes: digest) else { preconditionFailure("a SHA-256 has 32 bytes") }
        return hash
    }
}
