import Foundation
import Logging
import RonAppSdkSwift
import Synchronization
import TestSupport
import Testing

private struct Line: Codable, Sendable, Equatable {
    var kind: String
    var payload: String
}

private func client(_ server: ScriptedServer, _ change: (inout RonConfig) -> Void = { _ in }) throws -> RonClient {
    var config = RonConfig(baseUrl: URL(string: server.url), allowInsecureHttp: true)
    change(&config)
    return try RonClient(config: config)
}

/// No wait is longer than a moment; silence never ends the stream.
private let quick = StreamSettings(
    firstDelay: .milliseconds(1), longestDelay: .milliseconds(1), idleTimeout: nil,
    retryBounds: .zero...(.milliseconds(1)))

/// Waits on a clock that records the waits.
private func recorded(by clock: RecordingClock, tries: Int = 5, seed: SeededGenerator) -> StreamSettings {
    StreamSettings(tries: tries, idleTimeout: nil, clock: clock, generator: seed)
}

/// All events until the stream ends or throws.
private func all(_ stream: RonEventStream) async -> (events: [RonEvent], error: (any Error)?) {
    var events: [RonEvent] = []
    do {
        for try await event in stream { events.append(event) }
        return (events, nil)
    } catch {
        return (events, error)
    }
}

private let noMore = ScriptedServer.Answer.reply(204, "")

@Suite("Event streams") struct StreamTests {
    @Test("Events are decoded from JSON; heartbeats and comments are skipped; 204 ends the stream")
    func decodedEvents() async throws {
        let server = try ScriptedServer(
            .stream(
                """
                : hello
                event: commit
                data: {"kind":"log","payload":"one","later":1}

                event: heartbeat
                data: 1

                data: {"kind":"log",
                data: "payload":"two"}


                """), noMore)
        let client = try client(server)
        var lines: [Line] = []
        let stream = try await client.subscribe(
            Line.self, path: "/events/logs", query: ["since": "a b"], settings: quick)
        for try await line in stream { lines.append(line) }
        #expect(lines == [Line(kind: "log", payload: "one"), Line(kind: "log", payload: "two")])
        let request = try #require(server.requests.first)
        #expect(request.method == "GET")
        #expect(request.path == "/app/events/logs?since=a%20b")
        #expect(request.headers["accept"] == "text/event-stream")
        #expect(request.headers["last-event-id"] == nil)
        try await client.close()
    }

    @Test("A raw stream yields id, name and data, including heartbeats")
    func rawEvents() async throws {
        let server = try ScriptedServer(
            .stream("id: 7\nevent: heartbeat\ndata: 1\n\ndata\n\nid\ndata: x\n\n"), noMore)
        let client = try client(server)
        let (events, error) = await all(try await client.subscribe(path: "/e", settings: quick))
        #expect(error == nil)
        #expect(
            events == [
                RonEvent(id: "7", event: "heartbeat", data: "1"), RonEvent(id: "7", data: ""), RonEvent(data: "x"),
            ])
        try await client.close()
    }

    @Test("Wherever a connection breaks, each event arrives once", arguments: [ScriptedServer.Ending.whole, .cut])
    func cutAtEveryByte(_ ending: ScriptedServer.Ending) async throws {
        let expected = (1...4).map {
            RonEvent(id: "id-\($0)", event: $0 == 2 ? "ä" : "message", data: "Zeile ü\($0)\nzwei")
        }
        @Sendable func text(after id: String?) -> [UInt8] {
            let rest = expected.drop { event in id.map { event.id <= $0 } ?? false }
            return Array(
                rest.map { event in
                    "id: \(event.id)\r\n: comment\r\n" + (event.event == "message" ? "" : "event: \(event.event)\r\n")
                        + event.data.split(separator: "\n").map { "data: \($0)\r\n" }.joined() + "\r\n"
                }.joined().utf8)
        }
        let cut = Mutex<Int?>(nil)
        let server = try ScriptedServer { request in
            let bytes = text(after: request.headers["last-event-id"])
            if bytes.isEmpty { return noMore }
            // The first connection is cut, the later ones are complete.
            let end = cut.withLock { cut in
                defer { cut = nil }
                return cut
            }
            return .stream(
                [Array(bytes[..<(end ?? bytes.count)])].filter { !$0.isEmpty }, ending: end == nil ? .whole : ending)
        }
        let client = try client(server)
        for place in 0...text(after: nil).count {
            cut.withLock { $0 = place }
            let (events, error) = await all(try await client.subscribe(path: "/e", settings: quick))
            #expect(events == expected, "cut at \(place)")
            #expect(error == nil, "cut at \(place)")
        }
        try await client.close()
    }

    @Test("An event is the same however its bytes are split")
    func splitAnywhere() async throws {
        var generator = SeededGenerator(for: "splitAnywhere")
        let text = Array("\u{FEFF}id: 1\r\ndata: ä\u{1F600}\rdata: b\n\r\n\ndata: c\n\n".utf8)
        let pieces = Mutex<[[UInt8]]>([])
        let server = try ScriptedServer { request in
            request.headers["last-event-id"] == nil ? .stream(pieces.withLock { $0 }) : noMore
        }
        let client = try client(server)
        for _ in 0..<60 {
            var rest = text[...]
            var split: [[UInt8]] = []
            while !rest.isEmpty {
                let count = Int.random(in: 1...min(6, rest.count), using: &generator)
                split.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            pieces.withLock { [split] in $0 = split }
            let (events, error) = await all(try await client.subscribe(path: "/e", settings: quick))
            #expect(error == nil)
            #expect(events == [RonEvent(id: "1", data: "ä\u{1F600}\nb"), RonEvent(id: "1", data: "c")])
        }
        try await client.close()
    }

    @Test("A new connection resumes after the last id: from the settings, an event, or an id without an event")
    func lastEventID() async throws {
        let server = try ScriptedServer(
            .stream("id: 5\ndata: a\n\n"), .stream("id: 6\n\nid: 7\ndata: never"), .stream("data: b\n\n"),
            .stream("id: \u{1}\ndata: c\n\n"), noMore)
        let client = try client(server)
        var settings = quick
        settings.lastEventID = "4"
        let (events, error) = await all(
            try await client.subscribe(path: "/e", headers: ["last-event-id": "mine"], settings: settings))
        #expect(error == nil)
        // An id that does not fit in a header is not sent back.
        #expect(server.requests.map { $0.headers["last-event-id"] } == ["4", "5", "6", "6", "6"])
        #expect(events.map(\.id) == ["5", "6", "\u{1}"])
        try await client.close()
    }

    @Test("Without an event, waits double from half a second, vary by half, and end after the fifth attempt")
    func backoff() async throws {
        let seed = SeededGenerator(for: "backoff")
        let server = try ScriptedServer(.stream(": only a comment\n\n"))
        let client = try client(server)
        let clock = RecordingClock()
        let (events, error) = await all(
            try await client.subscribe(path: "/e", settings: recorded(by: clock, seed: seed)))
        #expect(events.isEmpty)
        #expect((error as? RonProblem)?.reason == "stream_ended")
        #expect((error as? RonProblem)?.retryable == true)
        #expect(server.requests.count == 5)
        for (wait, seconds) in zip(clock.waits, [0.5, 1, 2, 4]) {
            #expect((.seconds(seconds * 0.5)...(.seconds(seconds * 1.5))).contains(wait))
        }
        #expect(clock.waits.count == 4)
        #expect(Set(clock.waits.enumerated().map { $0.element / (1 << $0.offset) }).count == 4, "no two vary alike")
        try await client.close()
    }

    @Test("A wait never exceeds the maximum, and an event resets the attempts")
    func backoffIsReset() async throws {
        let seed = SeededGenerator(for: "backoffIsReset")
        let number = Mutex(0)
        let server = try ScriptedServer { _ in
            let now = number.withLock { number in
                number += 1
                return number
            }
            return now == 8 ? .stream("data: x\n\n") : nil
        }
        let client = try client(server)
        let clock = RecordingClock()
        var settings = recorded(by: clock, tries: 8, seed: seed)
        settings.jitter = 0
        let (events, error) = await all(try await client.subscribe(path: "/e", settings: settings))
        #expect(events.map(\.data) == ["x"])
        #expect((error as? RonProblem)?.code == "local_network_failure")
        #expect(server.requests.count == 16)
        let row: [Duration] = [0.5, 1, 2, 4, 8, 10, 10].map { .seconds($0) }
        #expect(clock.waits == row + [.milliseconds(500)] + row)
        try await client.close()
    }

    @Test(
        "A server's retry is clamped to its bounds, and never shortened",
        arguments: [(3_000, 3.0), (1, 0.1), (9_999_999, 60)])
    func retry(_ milliseconds: Int, _ seconds: Double) async throws {
        let seed = SeededGenerator(for: "retry")
        let server = try ScriptedServer(.stream("retry: \(milliseconds)\n\ndata: x\n\n"), noMore)
        let client = try client(server)
        let clock = RecordingClock()
        let (_, error) = await all(try await client.subscribe(path: "/e", settings: recorded(by: clock, seed: seed)))
        #expect(error == nil)
        let wait = try #require(clock.waits.first)
        #expect((.seconds(seconds)...(.seconds(seconds * 1.5))).contains(wait))
        try await client.close()
    }

    @Test("Retry-After is honoured, in the header and in the problem")
    func retryAfter() async throws {
        let seed = SeededGenerator(for: "retryAfter")
        let server = try ScriptedServer(
            .reply(429, "rate limited", headers: ["content-type": "text/plain", "retry-after": "20"]),
            .reply(503, #"{"code":"SERVICE_DEGRADED","message":"m","retryable":true,"retry_after_ms":30000}"#),
            .stream("data: x\n\n"), noMore)
        let client = try client(server)
        let clock = RecordingClock()
        let (events, error) = await all(
            try await client.subscribe(path: "/e", settings: recorded(by: clock, seed: seed)))
        #expect(error == nil)
        #expect(events.map(\.data) == ["x"])
        #expect(clock.waits.count == 3)
        #expect((.seconds(20)...(.seconds(30))).contains(clock.waits[0]))
        #expect((.seconds(30)...(.seconds(45))).contains(clock.waits[1]))
        try await client.close()
    }

    @Test(
        "An error that retrying cannot fix ends the stream at once",
        arguments: [
            (
                ScriptedServer.Answer.reply(403, #"{"code":"FORBIDDEN","message":"no","retryable":false}"#),
                "FORBIDDEN", 403
            ),
            (.reply(404, "not found", headers: ["content-type": "text/plain"]), "transport_error", 404),
            (.reply(500, #"{"code":"INTERNAL","message":"m","retryable":false}"#), "INTERNAL", 500),
            (.reply(429, "x", headers: ["content-type": "text/plain", "retry-after": "301"]), "transport_error", 429),
            (.reply(302, "", headers: ["location": "/elsewhere"]), "transport_error", 302),
            (.stream("data: x\n\n", type: "application/json"), "local_not_a_stream", 200),
            (.stream("data: x\n\n", type: "text/event-streaming"), "local_not_a_stream", 200),
            (.reply(202, "", headers: ["content-type": "text/event-stream"]), "local_not_a_stream", 202),
        ])
    func permanent(_ answer: ScriptedServer.Answer, _ code: String, _ status: Int) async throws {
        let server = try ScriptedServer(answer)
        let client = try client(server)
        let (events, error) = await all(try await client.subscribe(path: "/e", settings: quick))
        #expect(events.isEmpty)
        let problem = try #require(error as? RonProblem)
        #expect(problem.code == code)
        #expect(problem.status == status)
        #expect(server.requests.count == 1)
        try await client.close()
    }

    @Test("A stream's media type may have a parameter, and capitals")
    func contentType() async throws {
        let server = try ScriptedServer(.stream("data: x\n\n", type: "Text/Event-Stream ;charset=utf-8"), noMore)
        let client = try client(server)
        #expect(await all(try await client.subscribe(path: "/e", settings: quick)).events.map(\.data) == ["x"])
        try await client.close()
    }

    @Test("An event that cannot be decoded ends the stream, and says which and where, but none of its data")
    func undecodable() async throws {
        let server = try ScriptedServer(
            .stream("id: 9\nevent: commit\ndata: {\"kind\":\"secret\",\"payload\":{}}\n\n"), noMore)
        let client = try client(server)
        var iterator = try await client.subscribe(Line.self, path: "/e", settings: quick).makeAsyncIterator()
        let error = await #expect(throws: RonSdkError.self) { try await iterator.next() }
        guard case .decoding(let text) = error else { throw TestFailure("\(String(describing: error))") }
        #expect(text.contains("\"9\"") && text.contains("\"commit\"") && text.contains("payload"))
        #expect(!text.contains("secret"))
        #expect(try await iterator.next() == nil)
        try await client.close()
    }

    @Test(
        "An event beyond the limit ends the stream with a problem",
        arguments: ["data: ", "id: 1\ndata: aaaaaaaa\ndata: "])
    func tooLong(_ start: String) async throws {
        let server = try ScriptedServer(.stream(start + String(repeating: "a", count: 1_000)))
        let client = try client(server)
        var settings = quick
        settings.eventLimit = 999
        let problem = await all(try await client.subscribe(path: "/e", settings: settings)).error as? RonProblem
        #expect(problem?.code == "local_event_too_long")
        #expect(server.requests.count == 1)
        try await client.close()
    }

    @Test("Events before an oversized one are delivered, in the same chunk or not")
    func beforeTooLong() async throws {
        let server = try ScriptedServer(
            .stream("id: 1\ndata: x\n\ndata: y\n\ndata: \(String(repeating: "a", count: 1_000))"))
        let client = try client(server)
        var settings = quick
        settings.eventLimit = 999
        let (events, error) = await all(try await client.subscribe(path: "/e", settings: settings))
        #expect(events.map(\.data) == ["x", "y"])
        #expect((error as? RonProblem)?.code == "local_event_too_long")
        try await client.close()
    }

    @Test("A server that sends a heartbeat and disconnects is not retried for ever")
    func heartbeatsAlone() async throws {
        let server = try ScriptedServer(.stream("event: heartbeat\ndata: 1\n\n"))
        let client = try client(server)
        var settings = quick
        settings.tries = 3
        let (events, error) = await all(try await client.subscribe(path: "/e", settings: settings))
        #expect(events.map(\.event) == ["heartbeat", "heartbeat", "heartbeat"])
        #expect((error as? RonProblem)?.reason == "stream_ended")
        #expect(server.requests.count == 3)
        try await client.close()
    }

    @Test("A rejected stream counts as a failed call, and its problem has the id that was sent")
    func refusedCounts() async throws {
        let server = try ScriptedServer(.reply(503, #"{"code":"SERVICE_DEGRADED","message":"m","retryable":false}"#))
        let book = LogBook()
        let client = try client(server) { config in
            config.logger = book.logger()
            config.requestIdFactory = { "r-9" }
        }
        let (_, error) = await all(try await client.subscribe(path: "/e", settings: quick))
        #expect((error as? RonProblem)?.correlationId == "r-9")
        #expect(book.lines.map { $0.metadata["code"] } == ["SERVICE_DEGRADED"])
        try await client.close()
    }

    @Test("Invalid settings are rejected before anything is sent, and named")
    func settings() async throws {
        let server = try ScriptedServer(noMore)
        let client = try client(server)
        let broken: [(String, StreamSettings)] = [
            ("firstDelay", StreamSettings(firstDelay: .seconds(-1))),
            ("longestDelay", StreamSettings(firstDelay: .seconds(2), longestDelay: .seconds(1))),
            ("jitter", StreamSettings(jitter: 1.5)), ("jitter", StreamSettings(jitter: .nan)),
            ("tries", StreamSettings(tries: 0)), ("idleTimeout", StreamSettings(idleTimeout: .zero)),
            ("retryBounds", StreamSettings(retryBounds: .seconds(-1)...(.seconds(1)))),
            ("eventLimit", StreamSettings(eventLimit: 0)),
        ]
        for (name, settings) in broken {
            let error = await #expect(throws: RonSdkError.self) {
                try await client.subscribe(path: "/e", settings: settings)
            }
            guard case .config(let config) = error else { throw TestFailure("\(String(describing: error))") }
            #expect(config.setting == "StreamSettings.\(name)")
        }
        await #expect(throws: LocalNetworkError.self) { try await client.subscribe(path: "/../etc") }
        #expect(server.requests.isEmpty)
        try await client.close()
    }
}
