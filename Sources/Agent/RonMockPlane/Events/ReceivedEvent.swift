import Foundation

/// An event that the sink has taken.
package struct ReceivedEvent: Codable, Sendable, Equatable {
    /// From 1 on, in the order in which they were received.
    package var sequence: Int
    /// The `Idempotency-Key` that it came with.
    package var id: String?
    /// Its body's member `key`, where that is a string: events with one key are in an order.
    package var key: String?
    /// The path that it was sent to.
    package var path: String
    /// The body as text; nil where it is none.
    package var body: String?
    /// The body as base64, where it is not UTF-8.
    package var base64: String?

    init(sequence: Int, id: String?, path: String, body: [UInt8]) {
        self.sequence = sequence
        self.id = id
        self.path = path
        self.body = String(validating: body, as: UTF8.self)
        if self.body == nil { base64 = Data(body).base64EncodedString() }
        struct Keyed: Decodable { let key: String }
        // Events are any bytes: those without a key are received as well.
        key = (try? JSONDecoder().decode(Keyed.self, from: Data(body)))?.key
    }

    /// Whether a request that shows the same id asks for the same.
    func isSame(as other: ReceivedEvent) -> Bool {
        path == other.path && body == other.body && base64 == other.base64
    }
}
