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
    private var id: String
    private let limit: Int
    /// How many milliseconds the server asked to wait before the next connection, where it did: its last `retry:`.
    package private(set) var reconnectionTime: Int?
    /// The id behind which the server is to go on after this connection: that of the last event, or of a block that had
    /// an id alone. What the end of the stream cuts off does not count.
    package private(set) var lastEventID: String

    /// `limit`: bytes of one line, and of one event's data. `lastEventID`: that of the connection before.
    package init(limit: Int = 4 << 20, lastEventID: String = "") {
        self.limit = limit
        self.lastEventID = lastEventID
        id = lastEventID
        lines = LineSplitter(limit: limit)
    }

    /// The events that `bytes` complete. Throws ``LineSplitter/TooLong``.
    package mutating func feed(_ bytes: some Sequence<UInt8>) throws -> [SSEEvent] {
        var events: [SSEEvent] = []
        try feed(bytes, into: &events)
        return events
    }

    /// The same, appended to `events`: those before one that is too long are there when it throws.
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
            // Digits alone, says the standard; a number beyond all measure says nothing.
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
