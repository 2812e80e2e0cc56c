import Foundation

/// One raw server-sent event.
public struct RonEvent: Sendable, Hashable {
    /// The last id set by the server, possibly with this event; empty if none was set.
    public var id: String
    /// Its name; `message` by default.
    public var event: String
    /// Its data, with lines separated by LF.
    public var data: String

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - id: The last id set by the server.
    ///   - event: Its name.
    ///   - data: Its data.
    public init(id: String = "", event: String = "message", data: String) {
        self.id = id
        self.event = event
        self.data = data
    }

    /// Decodes the data as JSON.
    ///
    /// - Parameter type: The type.
    /// - Returns: The value.
    /// - Throws: ``RonSdkError/decoding(_:)`` that names the event and the place in it, without its data.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(RonSdkError) -> Value {
        do {
            return try RonJSON.decode(type, from: Data(data.utf8))
        } catch {
            let which = id.isEmpty ? "without an id" : "with the id \(quoted(id))"
            throw .decoding("The event \(quoted(event)) \(which) is no \(type): \(DecodingReason.text(error))")
        }
    }
}

/// The reason and place of a decoding error, in one line.
enum DecodingReason {
    /// The reason.
    ///
    /// - Parameter error: The decoder's error.
    static func text(_ error: any Error) -> String {
        switch error as? DecodingError {
        case .keyNotFound(let key, let context): "\(place(of: key, in: context.codingPath)) is missing"
        case .valueNotFound(_, let context): "\(place(context.codingPath)) is null"
        case .typeMismatch(let type, let context): "\(place(context.codingPath)) is no \(type)"
        case .dataCorrupted(let context): "\(place(context.codingPath)): \(context.debugDescription)"
        default: "it cannot be read"
        }
    }

    private static func place(of key: any CodingKey, in path: [any CodingKey]) -> String {
        // Some decoders include the key in the path already.
        place(path.last?.stringValue == key.stringValue ? path : path + [key])
    }

    private static func place(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "the value" : path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    }
}
