import Foundation

/// JSON that is written already, and goes out byte for byte as an ``AppRequest/body``.
public struct RawJSON: Encodable, Sendable, Equatable {
    /// The JSON.
    public let bytes: Data

    /// Takes JSON.
    ///
    /// - Parameter bytes: One JSON value in UTF-8.
    /// - Throws: `DecodingError`, if that is not what it is.
    public init(_ bytes: Data) throws {
        _ = try JSONDecoder().decode(JSONValue.self, from: bytes)
        self.bytes = bytes
    }

    /// Writes the value, as part of another one: then numbers and the order of keys are the encoder's.
    ///
    /// - Parameter encoder: Where it is written to.
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try JSONDecoder().decode(JSONValue.self, from: bytes).encode(to: encoder)
    }
}
