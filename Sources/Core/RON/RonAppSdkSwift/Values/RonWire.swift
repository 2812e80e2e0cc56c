/// A property of your own type in the app plane's JSON form:
///
/// ```swift
/// struct Upload: Codable {
///     @RonWire var size: UInt64
///     @RonWire var digest: Data?
///     @RonWire var finished: Date?
/// }
/// ```
///
/// Property names are unchanged. A nil property is omitted from the JSON, and may be missing or `null` in it.
@propertyWrapper
public struct RonWire<Value: WireValue>: Sendable, Codable {
    /// The value.
    public var wrappedValue: Value

    /// Wraps a value.
    ///
    /// - Parameter wrappedValue: The value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    /// Decodes the value from its wire form.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError`, as described for ``WireValue``.
    public init(from decoder: any Decoder) throws { wrappedValue = try Value.decodeFromWire(decoder) }

    /// Encodes the value in its wire form.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: `EncodingError`, as described for ``WireValue``.
    public func encode(to encoder: any Encoder) throws { try wrappedValue.encodeToWire(encoder) }
}

extension RonWire: Equatable where Value: Equatable {}
extension RonWire: Hashable where Value: Hashable {}

// The compiler's `Codable` synthesis requires a wrapped property to be present; these overloads replace that for an
// optional value.
extension KeyedDecodingContainer {
    /// Decodes an optional property: nil if it is missing or `null`.
    ///
    /// - Parameters:
    ///   - type: The wrapper's type.
    ///   - key: The property.
    /// - Returns: The wrapper.
    /// - Throws: `DecodingError` for an invalid value.
    public func decode<Value: WireValue>(_ type: RonWire<Value?>.Type, forKey key: Key) throws -> RonWire<Value?> {
        try decodeIfPresent(type, forKey: key) ?? RonWire(wrappedValue: nil)
    }
}

extension KeyedEncodingContainer {
    /// Encodes an optional property; omits it if it is nil.
    ///
    /// - Parameters:
    ///   - wrapper: The wrapper.
    ///   - key: The property.
    /// - Throws: `EncodingError` if the value has no form in JSON.
    public mutating func encode<Value: WireValue>(_ wrapper: RonWire<Value?>, forKey key: Key) throws {
        try encodeIfPresent(wrapper.wrappedValue.map { RonWire<Value>(wrappedValue: $0) }, forKey: key)
    }
}
