import Foundation

/// An event accepted by the sink.
package struct ReceivedEvent: Codable, Sendable, Equatable {
    /// From 1, in order of arrival.
    package var sequence: Int
    /// The request's `Idempotency-Key`.
    package var id: String?
    /// The body's `key` member, if it is a string: events with the same key are ordered.
    package var key: String?
    /// The request's path.
    package var path: String
    /// The body as text; nil if it is not UTF-8.
    package var body: String?
    /// The body as base64, if it is not UTF-8.
    package var base64: String?

    init(sequence: Int, id: String?, path: String, body: [UInt8]) {
        self.sequence = sequence
        self.id = id
        self.path = path
        self.body = String(validating: body, as: UTF8.self)
        if self.body == nil { base64 = Data(body).base64EncodedString() }
        struct Keyed: Decodable { let key: String }
        // A body may be any bytes; one without a key is accepted too.
        key = (try? JSONDecoder().decode(Keyed.self, from: Data(body)))?.key
    }

    /// Whether a request with the same id has the same content.
    func isSame(as other: ReceivedEvent) -> Bool {
        path == other.path && body == other.body && base64 == other.base64
    }
}
