import Foundation

/// The JSON coding of the app plane; property names are unchanged.
enum RonJSON {
    /// Encodes dates and bytes like ``RonWire``, with sorted keys, so that the output is deterministic.
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { try $0.encodeToWire($1) }
        encoder.dataEncodingStrategy = .custom { try $0.encodeToWire($1) }
        return encoder
    }()

    /// Decodes dates and bytes like ``RonWire``.
    private static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { try Date.decodeFromWire($0) }
        decoder.dataDecodingStrategy = .custom { try Data.decodeFromWire($0) }
        return decoder
    }()

    /// Decodes an answer's body.
    static func decode<T: Decodable>(_ type: T.Type, from body: Data) throws -> T {
        try decoder.decode(type, from: body)
    }

    /// Encodes a request's body.
    ///
    /// - Throws: ``LocalNetworkError`` for a value that is not JSON, or that exceeds the app plane's limit.
    static func encode(_ value: any Encodable & Sendable) throws(LocalNetworkError) -> Data {
        let body: Data
        if let written = value as? RawJSON {
            body = written.bytes
        } else {
            do {
                body = try encoder.encode(value)
            } catch {
                throw LocalNetworkError(
                    code: "local_encode_failed",
                    message: "the body of type \(type(of: value)) cannot be written as JSON")
            }
        }
        guard body.count <= RonClient.maxRequestBytes else {
            throw LocalNetworkError(
                code: "local_body_too_large",
                message:
                    "the body has \(body.count) bytes, and the app plane takes \(RonClient.maxRequestBytes); send it "
                    + "in parts, or a reference to it")
        }
        return body
    }
}
