/// One server-sent event.
package struct SSEEvent: Sendable, Hashable {
    /// `message` where the server names none.
    package var type: String
    package var data: String
    /// The last id that the server set, as the standard keeps it from event to event.
    package var id: String

    package init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}

/// Reads server-sent events (WHATWG HTML, section 9.2) from bytes that arrive in pieces.
///
/// Differs from the standard in one thing: an event that the end of the stream cuts before its blank line is given out
/// by ``finish()``, because servers exist that leave out the last blank line; its JSON shows whether it is whole.
package struct SSEParser: Sendable {
    private var lines: LineSplitter
    private var type = ""
    private var data: [String] = []
    private var size = 0
    private var id = ""
    private let limit: Int

    /// `limit`: bytes of one line, and of one event's data.
    package init(limit: Int = 4 << 20) {
        self.limit = limit
        lines = LineSplitter(limit: limit)
    }

    /// The events that `bytes` complete. Throws ``LineSplitter/TooLong``.
    package mutating func feed(_ bytes: some Sequence<UInt8>) throws -> [SSEEvent] {
        var events: [SSEEvent] = []
        for line in try lines.feed(bytes) {
            if let event = try take(line) { events.append(event) }
        }
        return events
    }

    package mutating func finish() throws -> SSEEvent? {
        if let line = lines.finish(), let event = try take(line) { return event }
        return dispatch()
    }

    private mutating func take(_ line: String) throws -> SSEEvent? {
        if line.isEmpty { return dispatch() }
        let parts = line.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let field = String(parts[0])
        var value = parts.count > 1 ? parts[1] : ""[...].unicodeScalars
        if value.first == " " { value = value.dropFirst() }
        switch field {
        case "data":
            size += value.utf8Count + 1
            guard size <= limit else { throw LineSplitter.TooLong(limit: limit) }
            data.append(String(value))
        case "event": type = String(value)
        case "id": if !value.contains("\0") { id = String(value) }
        default: break
        }
        return nil
    }

    private mutating func dispatch() -> SSEEvent? {
        defer {
            type = ""
            data = []
            size = 0
        }
        guard !data.isEmpty else { return nil }
        return SSEEvent(type: type.isEmpty ? "message" : type, data: data.joined(separator: "\n"), id: id)
    }
}

extension Substring.UnicodeScalarView {
    fileprivate var utf8Count: Int { Substring(self).utf8.count }
}
