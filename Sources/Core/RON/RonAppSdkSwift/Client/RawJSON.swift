import Foundation

/// Encoded JSON, sent byte for byte as an ``AppRequest/body``.
public struct RawJSON: Encodable, Sendable, Equatable {
    /// The JSON.
    public let bytes: Data

    /// Validates JSON.
    ///
    /// - Parameter bytes: One JSON value in UTF-8.
    /// - Throws: `DecodingError` if it is anything else.
    public init(_ bytes: Data) throws {
        _ = try JSONDecoder().decode(JSONValue.self, from: bytes)
        self.bytes = bytes
    }

    /// Encodes the value as part of another one, where the encoder decides the form of numbers and the order of keys.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: Any error from the encoder.
    public func encode(to encoder: any Encoder) throws {
        try JSONDecoder().decode(JSONValue.self, from: bytes).encode(to: encoder)
    }
}
