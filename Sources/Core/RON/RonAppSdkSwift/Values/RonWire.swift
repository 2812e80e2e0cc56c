/// A field of a type of your own that has the app plane's form in JSON:
///
/// ```swift
/// struct Upload: Codable {
///     @RonWire var size: UInt64
///     @RonWire var digest: Data?
///     @RonWire var finished: Date?
/// }
/// ```
///
/// Names of fields are left as they are, and a nil field is left out of the JSON and may be missing or `null` in it.
@propertyWrapper
public struct RonWire<Value: WireValue>: Sendable, Codable {
    /// The value.
    public var wrappedValue: Value

    /// Wraps a value.
    ///
    /// - Parameter wrappedValue: The value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    /// Reads the value in its wire form.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Throws: `DecodingError`, as ``WireValue`` says.
    public init(from decoder: any Decoder) throws { wrappedValue = try Value.decodeFromWire(decoder) }

    /// Writes the value in its wire form.
    ///
    /// - Parameter encoder: Where it is written to.
    /// - Throws: `EncodingError`, as ``WireValue`` says.
    public func encode(to encoder: any Encoder) throws { try wrappedValue.encodeToWire(encoder) }
}

extension RonWire: Equatable where Value: Equatable {}
extension RonWire: Hashable where Value: Hashable {}

// What the compiler writes for a `Codable` type decodes a wrapper as a field that must be there; these two take its place
// where the wrapped value is optional.
extension KeyedDecodingContainer {
    /// Reads an optional field: nil where it is missing or `null`.
    ///
    /// - Parameters:
    ///   - type: The wrapper's type.
    ///   - key: The field.
    /// - Returns: The wrapper.
    /// - Throws: `DecodingError`, where a value is there that is none.
    public func decode<Value: WireValue>(_ type: RonWire<Value?>.Type, forKey key: Key) throws -> RonWire<Value?> {
        try decodeIfPresent(type, forKey: key) ?? RonWire(wrappedValue: nil)
    }
}

extension KeyedEncodingContainer {
    /// Writes an optional field; leaves it out where it is nil.
    ///
    /// - Parameters:
    ///   - wrapper: The wrapper.
    ///   - key: The field.
    /// - Throws: `EncodingError`, where the value has no form in JSON.
    public mutating func encode<Value: WireValue>(_ wrapper: RonWire<Value?>, forKey key: Key) throws {
        try encodeIfPresent(wrapper.wrappedValue.map { RonWire<Value>(wrappedValue: $0) }, forKey: key)
    }
}
