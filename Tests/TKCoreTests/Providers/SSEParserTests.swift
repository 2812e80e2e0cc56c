import HTTPKit
import TKCore
import Testing

@Suite("Server-sent events and JSON lines, split anywhere")
struct SSEParserTests {
    /// Everything the standard names, and characters of two, three and four bytes.
    static let stream = """
        : a comment, as servers send it to keep a connection alive

        event: message_start
        data: {"a":1}

        data:no blank behind the colon
        data:  two blanks

        id: 7
        event: täglich
        data: “größer” 🙂 \u{10FFFF}
        retry: 3000

        data
        data

        event: never sent, because it has no data

        unknown: field
        data: last: with: colons

        """
    static let events = [
        SSEEvent(type: "message_start", data: #"{"a":1}"#),
        SSEEvent(data: "no blank behind the colon\n two blanks"),
        SSEEvent(type: "täglich", data: "“größer” 🙂 \u{10FFFF}", id: "7"),
        SSEEvent(data: "\n", id: "7"),
        SSEEvent(data: "last: with: colons", id: "7"),
    ]

    static func parse(_ pieces: [ArraySlice<UInt8>]) throws -> [SSEEvent] {
        var parser = SSEParser()
        var events = try pieces.flatMap { try parser.feed($0) }
        if let last = try parser.finish() { events.append(last) }
        return events
    }

    @Test("Split at every byte, with each line end, with and without a byte order mark, an event is the same")
    func everySplit() throws {
        for end in ["\n", "\r", "\r\n"] {
            for mark in ["", "\u{FEFF}"] {
                let bytes = Array((mark + Self.stream.replacing("\n", with: end)).utf8)
                for split in 0...bytes.count {
                    #expect(try Self.parse([bytes[..<split], bytes[split...]]) == Self.events)
                }
                #expect(try Self.parse(bytes.indices.map { bytes[$0...$0] }) == Self.events)
            }
        }
    }

    @Test("An event is delivered when its blank line has arrived, not later")
    func promptly() throws {
        var parser = SSEParser()
        #expect(try parser.feed("data: x\n".utf8).isEmpty)
        #expect(try parser.feed("\n".utf8) == [SSEEvent(data: "x")])
        #expect(try parser.feed("data: y\r\n\r".utf8) == [SSEEvent(data: "y")])
        #expect(try parser.feed("\ndata: z\r\r".utf8) == [SSEEvent(data: "z")])
    }

    @Test("An event without its blank line is delivered at the end")
    func lastEvent() throws {
        for text in ["data: x", "data: x\n", "data: x\r"] {
            var parser = SSEParser()
            #expect(try parser.feed(text.utf8).isEmpty)
            #expect(try parser.finish() == SSEEvent(data: "x"))
            #expect(try parser.finish() == nil)
        }
    }

    @Test("A byte order mark counts at the beginning only; bytes that are not UTF-8 become U+FFFD")
    func oddBytes() throws {
        var parser = SSEParser()
        let bytes = Array("data: a\n\n\u{FEFF}data: b\n\ndata: c".utf8) + [0xFF] + Array("\n\n".utf8)
        #expect(try parser.feed(bytes) == [SSEEvent(data: "a"), SSEEvent(data: "c\u{FFFD}")])
    }

    @Test("An endless line, or event, is rejected")
    func limits() throws {
        #expect(throws: LineSplitter.TooLong.self) {
            var parser = SSEParser(limit: 100)
            _ = try parser.feed(Array(repeating: UInt8(ascii: "x"), count: 101))
        }
        #expect(throws: LineSplitter.TooLong.self) {
            var parser = SSEParser(limit: 100)
            for _ in 0..<20 { _ = try parser.feed("data: 0123456789\n".utf8) }
        }
    }

    @Test("JSON lines are complete, wherever they are split")
    func lines() throws {
        let text = "{\"a\":\"ü🙂\"}\r\n\n{\"b\":2}\n{\"c\":3}"
        let bytes = Array(text.utf8)
        for split in 0...bytes.count {
            var splitter = LineSplitter()
            var lines = try splitter.feed(bytes[..<split]) + splitter.feed(bytes[split...])
            if let last = splitter.finish() { lines.append(last) }
            #expect(lines == ["{\"a\":\"ü🙂\"}", "", "{\"b\":2}", "{\"c\":3}"])
        }
    }

    @Test("The reconnection time is the server's last, and must be digits")
    func reconnectionTime() throws {
        var parser = SSEParser()
        _ = try parser.feed("data: 1\n\n".utf8)
        #expect(parser.reconnectionTime == nil)
        _ = try parser.feed("retry: 3000\n".utf8)
        #expect(parser.reconnectionTime == 3000)
        for lie in ["", "  5", "-5", "+5", "5s", "0x5", "99999999999999999999", "٣"] {
            _ = try parser.feed("retry: \(lie)\n".utf8)
            #expect(parser.reconnectionTime == 3000)
        }
    }
}
