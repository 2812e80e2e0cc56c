import Foundation

/// A value whose JSON form is fixed by the app plane's schema and differs from Swift's own encoding
/// (docs/design/ron.md, "Decisions"). ``RonWire`` applies it in your own types.
///
/// | Swift | JSON written | JSON read |
/// |---|---|---|
/// | `Int64`, `UInt64` | decimal digits in a string | the same, and plain numbers |
/// | `Data` | base64url without padding, in a string | base64url and base64, with and without padding |
/// | `Date` | ISO 8601 in UTC, as `2026-01-02T03:04:05.25Z` | ISO 8601 with any offset, with and without a fraction |
///
/// Optional values are omitted if they are nil; lists and dictionaries hold values in the same forms.
public protocol WireValue: Sendable {
    /// Decodes the value.
    ///
    /// - Parameter decoder: The decoder.
    /// - Returns: The exact value.
    /// - Throws: `DecodingError` that names the found value if it is invalid or cannot be represented exactly.
    static func decodeFromWire(_ decoder: any Decoder) throws -> Self

    /// Encodes the value.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: `EncodingError` if the value has no form in JSON, such as a date that is not finite.
    func encodeToWire(_ encoder: any Encoder) throws
}

extension Optional: WireValue where Wrapped: WireValue {
    /// Decodes a value or `null`.
    ///
    /// - Parameter decoder: The decoder.
    /// - Returns: The value; nil for `null`.
    /// - Throws: Any error from `Wrapped`.
    public static func decodeFromWire(_ decoder: any Decoder) throws -> Wrapped? {
        if try decoder.singleValueContainer().decodeNil() { return nil }
        return try Wrapped.decodeFromWire(decoder)
    }

    /// Encodes the value, or `null`; as a property of an object, ``RonWire`` omits it instead.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: Any error from `Wrapped`.
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
    /// Decodes a list.
    ///
    /// - Parameter decoder: The decoder.
    /// - Returns: The list.
    /// - Throws: Any error from `Element`, with the place in the list.
    public static func decodeFromWire(_ decoder: any Decoder) throws -> [Element] {
        try decoder.singleValueContainer().decode([RonWire<Element>].self).map(\.wrappedValue)
    }

    /// Encodes the list.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: Any error from `Element`.
    public func encodeToWire(_ encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(map { RonWire(wrappedValue: $0) })
    }
}

extension Dictionary: WireValue where Key == String, Value: WireValue {
    /// Decodes a dictionary.
    ///
    /// - Parameter decoder: The decoder.
    /// - Returns: The dictionary.
    /// - Throws: Any error from `Value`, with the key.
    public static func decodeFromWire(_ decoder: any Decoder) throws -> [String: Value] {
        try decoder.singleValueContainer().decode([String: RonWire<Value>].self).mapValues(\.wrappedValue)
    }

    /// Encodes the dictionary.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: Any error from `Value`.
    public func encodeToWire(_ encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(mapValues { RonWire(wrappedValue: $0) })
    }
}
