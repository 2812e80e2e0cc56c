import Foundation

/// A value whose form in JSON the app plane's schema fixes, other than Swift's own encoding would have it
/// (docs/design/ron.md, "Decisions"). ``RonWire`` puts it into types of your own.
///
/// | Swift | JSON written | JSON read |
/// |---|---|---|
/// | `Int64`, `UInt64` | decimal digits in a string | the same, and plain numbers |
/// | `Data` | base64url without padding, in a string | base64url and base64, with and without padding |
/// | `Date` | ISO 8601 in UTC, as `2026-01-02T03:04:05.25Z` | ISO 8601 with any offset, with and without a fraction |
///
/// Optional values are left out where they are nil; lists and dictionaries hold values in the same forms.
public protocol WireValue: Sendable {
    /// Reads the value.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Returns: The value, exactly as it was sent.
    /// - Throws: `DecodingError` that names what was found, where that is no such value or cannot be held exactly.
    static func decodeFromWire(_ decoder: any Decoder) throws -> Self

    /// Writes the value.
    ///
    /// - Parameter encoder: Where it is written to.
    /// - Throws: `EncodingError`, where the value has no form in JSON, as a date that is not finite.
    func encodeToWire(_ encoder: any Encoder) throws
}

extension Optional: WireValue where Wrapped: WireValue {
    /// Reads a value; `null` is none.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Returns: The value; nil for `null`.
    /// - Throws: What `Wrapped` throws.
    public static func decodeFromWire(_ decoder: any Decoder) throws -> Wrapped? {
        if try decoder.singleValueContainer().decodeNil() { return nil }
        return try Wrapped.decodeFromWire(decoder)
    }

    /// Writes the value, or `null`; as a field of an object, ``RonWire`` leaves it out instead.
    ///
    /// - Parameter encoder: Where it is written to.
    /// - Throws: What `Wrapped` throws.
    public func encodeToWire(_ encoder: any Encoder) throws {
        if let value = self {
            try value.encodeToWire(encoder)
        } else {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }
}

extension Array: WireValue where Element: WireValue {
    /// Reads a list.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Returns: The list.
    /// - Throws: What `Element` throws, with the place in the list.
    public static func decodeFromWire(_ decoder: any Decoder) throws -> [Element] {
        try decoder.singleValueContainer().decode([RonWire<Element>].self).map(\.wrappedValue)
    }

    /// Writes the list.
    ///
    /// - Parameter encoder: Where it is written to.
    /// - Throws: What `Element` throws.
    public func encodeToWire(_ encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(map { RonWire(wrappedValue: $0) })
    }
}

extension Dictionary: WireValue where Key == String, Value: WireValue {
    /// Reads a dictionary.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Returns: The dictionary.
    /// - Throws: What `Value` throws, with the key.
    public static func decodeFromWire(_ decoder: any Decoder) throws -> [String: Value] {
        try decoder.singleValueContainer().decode([String: RonWire<Value>].self).mapValues(\.wrappedValue)
    }

    /// Writes the dictionary.
    ///
    /// - Parameter encoder: Where it is written to.
    /// - Throws: What `Value` throws.
    public func encodeToWire(_ encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(mapValues { RonWire(wrappedValue: $0) })
    }
}
