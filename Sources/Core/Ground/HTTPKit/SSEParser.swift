/// One server-sent event.
package struct SSEEvent: Sendable, Hashable {
    /// `message` if the server sends no type.
    package var type: String
    package var data: String
    /// The last id set by the server, which the standard carries over from event to event.
    package var id: String

    package init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}

/// Parses server-sent events (WHATWG HTML, section 9.2) from bytes that arrive in pieces.
///
/// Deviates from the standard in one point: ``finish()`` returns an event that lacks its blank line at the end of the
/// stream, because some servers omit it; its JSON shows whether it is complete.
package struct SSEParser: Sendable {
    private var lines: LineSplitter
    private var type = ""
    private var data: [String] = []
    private var size = 0
    private var id: String
    private let limit: Int
    /// How many milliseconds the server asked to wait before reconnecting, by its last `retry:`, if any.
    package private(set) var reconnectionTime: Int?
    /// The id after which the server should resume: that of the last event, or of a block with only an id. Anything cut
    /// off at the end of the stream does not count.
    package private(set) var lastEventID: String

    /// `limit`: bytes of one line, and of one event's data. `lastEventID`: from the previous connection.
    package init(limit: Int = 4 << 20, lastEventID: String = "") {
        self.limit = limit
        self.lastEventID = lastEventID
        id = lastEventID
        lines = LineSplitter(limit: limit)
    }

    /// The events completed by `bytes`. Throws ``LineSplitter/TooLong``.
    package mutating func feed(_ bytes: some Sequence<UInt8>) throws -> [SSEEvent] {
        var events: [SSEEvent] = []
        try feed(bytes, into: &events)
        return events
    }

    /// The same, appended to `events`. If a line is too long, the events before it are appended before this throws.
    package mutating func feed(_ bytes: some Sequence<UInt8>, into events: inout [SSEEvent]) throws {
        var complete: [String] = []
        let cutting = Result { try lines.feed(bytes, into: &complete) }
        for line in complete {
            if let event = try consume(line) { events.append(event) }
        }
        try cutting.get()
    }

    package mutating func finish() throws -> SSEEvent? {
        if let line = lines.finish(), let event = try consume(line) { return event }
        return dispatch()
    }

    private mutating func consume(_ line: String) throws -> SSEEvent? {
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
        case "retry":
            // The standard allows only digits; a number out of range is ignored.
            if !value.isEmpty, value.allSatisfy({ ("0"..."9").contains($0) }), let time = Int(String(value)) {
                reconnectionTime = time
            }
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
        lastEventID = id
        guard !data.isEmpty else { return nil }
        return SSEEvent(type: type.isEmpty ? "message" : type, data: data.joined(separator: "\n"), id: id)
    }
}

extension Substring.UnicodeScalarView {
    fileprivate var utf8Count: Int { Substring(self).utf8.count }
}
