import Platform

/// Sixteen random bytes that name a vault, written as 32 lower-case hexadecimal digits.
package struct VaultID: VaultIdentifier {
    package let bytes: [UInt8]

    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }
}

/// Sixteen bytes that name an object and its file, written as 32 lower-case hexadecimal digits.
package struct ObjectID: VaultIdentifier {
    package let bytes: [UInt8]

    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }
}

/// The common part of vault, slot and object names.
package protocol VaultIdentifier: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    var bytes: [UInt8] { get }
    /// - Parameter bytes: 16 of them, else nil.
    init?(bytes: [UInt8])
}

extension VaultIdentifier {
    package static var size: Int { 16 }

    /// - Parameter hex: 32 lower-case hexadecimal digits, else nil: each name has exactly one spelling on disk.
    package init?(hex: String) {
        guard let bytes = bytesOf(hexadecimal: hex) else { return nil }
        self.init(bytes: bytes)
    }

    package static func random() throws -> Self {
        guard let identifier = Self(bytes: try SecureRandom.bytes(size)) else {
            throw Fault(.failed, "no random name could be made; please report it")
        }
        return identifier
    }

    package var description: String { hexadecimal(bytes) }

    package static func < (one: Self, other: Self) -> Bool { one.bytes.lexicographicallyPrecedes(other.bytes) }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let identifier = Self(hex: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not a name of 32 hexadecimal digits")
        }
        self = identifier
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
