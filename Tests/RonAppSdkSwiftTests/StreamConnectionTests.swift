import Foundation
import RonAppSdkSwift
import TestSupport
import Testing

private func client(_ server: ScriptedServer, overallMs: Int? = nil, readMs: Int? = nil) throws -> RonClient {
    try RonClient(
        config: RonConfig(
            baseUrl: URL(string: server.url), overallTimeoutMs: overallMs, readTimeoutMs: readMs,
            allowInsecureHttp: true))
}

@Suite("Stream connections") struct StreamConnectionTests {
    @Test("Silence ends a connection; a comment restarts the timer")
    func silence() async throws {
        let server = try ScriptedServer(
            .stream([Array(": one\n".utf8), Array(": two\n\n".utf8)], ending: .held),
            .stream("data: x\n\n", ending: .held))
        let client = try client(server)
        let clock = ManualClock()
        let settings = StreamSettings(firstDelay: .zero, jitter: 0, idleTimeout: .seconds(60), clock: clock)
        let stream = try await client.subscribe(path: "/e", settings: settings)
        let first = Task { try await stream.first { _ in true } }
        // Both comments may come in one piece; the silence after them is a new one.
        try await waitUntil("the silence after a comment") { clock.begun >= 2 && clock.sleeping == 1 }
        #expect(server.requests.count == 1)
        try await waitUntil("the event behind the silence") {
            clock.pass()
            return server.requests.count == 2
        }
        #expect(try await first.value?.data == "x")
        try await waitUntil("both connections are gone") { server.abandoned == 2 }
        try await client.close()
    }

    @Test("Silence ends a connection whose body ignores cancellation")
    func stubbornBody() async throws {
        let (held, release) = AsyncStream<Void>.makeStream()
        let transport = ScriptedTransport { _ throws(TransportError) in
            let pieces = AsyncStream<[UInt8]> {
                // An unstructured task is not cancelled with the task that waits for it.
                await Task.detached { for await _ in held {} }.value
                return nil
            }
            return TransportResponse(
                status: 200, headers: [("content-type", "text/event-stream")], body: TransportBody(pieces))
        }
        let client = try makeClient(transport)
        let settings = StreamSettings(tries: 1, idleTimeout: .milliseconds(20))
        let stream = try await client.subscribe(path: "/e", settings: settings)
        let error = await #expect(throws: RonProblem.self) { try await stream.first { _ in true } }
        #expect(error?.reason == "stream_silent")
        release.finish()
    }

    @Test("The client's timeouts apply up to the response head; silence has its own limit")
    func timeoutsOfTheHead() async throws {
        let server = try ScriptedServer(.stream(": nothing\n\n", ending: .held))
        let client = try client(server, overallMs: 5_000, readMs: 4_900)
        let clock = ManualClock()
        let stream = try await client.subscribe(
            path: "/e", settings: StreamSettings(tries: 1, idleTimeout: .seconds(60), clock: clock))
        let first = Task { try await stream.first { _ in true } }
        try await waitUntil("the head is there, and the silence behind the comment") { clock.begun >= 2 }
        try await Task.sleep(for: .milliseconds(5_200))
        try await waitUntil("the silence is too long") {
            clock.pass()
            return server.abandoned == 1
        }
        let error = await #expect(throws: RonProblem.self) { try await first.value }
        #expect(error?.reason == "stream_silent")
        try await client.close()
    }

    @Test("A missing response head is retried, and given up after the last attempt")
    func headThatDoesNotCome() async throws {
        let server = try ScriptedServer(ScriptedServer.Answer(bytes: [], ending: .held))
        let client = try client(server, overallMs: 2_000)
        let settings = StreamSettings(firstDelay: .zero, jitter: 0, tries: 3)
        let stream = try await client.subscribe(path: "/e", settings: settings)
        let error = await #expect(throws: RonProblem.self) { try await stream.first { _ in true } }
        #expect(error?.code == "local_timeout")
        #expect(server.requests.count == 3)
        try await waitUntil("all connections are gone") { server.abandoned == 3 }
        try await client.close()
    }

    @Test("Cancelling the task ends the connection, and the loop with CancellationError")
    func cancellation() async throws {
        let server = try ScriptedServer(.stream("data: x\n\n", ending: .held))
        let client = try client(server)
        let stream = try await client.subscribe(path: "/e")
        let (seen, hasSeen) = AsyncStream.makeStream(of: Void.self)
        let reader = Task {
            for try await _ in stream { hasSeen.yield() }
        }
        for await _ in seen { break }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        try await waitUntil("the server sees it") { server.abandoned == 1 }
        #expect(server.requests.count == 1)
        try await client.close()
    }

    @Test("Cancelling a task that waits to reconnect ends it too")
    func cancellationWhileWaiting() async throws {
        let server = try ScriptedServer(.stream(": nothing\n\n"))
        let client = try client(server)
        let clock = ManualClock()
        let stream = try await client.subscribe(path: "/e", settings: StreamSettings(idleTimeout: nil, clock: clock))
        let reader = Task { for try await _ in stream {} }
        try await waitUntil("it waits") { clock.sleeping == 1 }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(server.requests.count == 1)
        try await client.close()
    }

    @Test("Leaving the loop ends the connection")
    func leaving() async throws {
        let server = try ScriptedServer(.stream("data: x\n\ndata: y\n\n", ending: .held))
        let client = try client(server)
        for try await event in try await client.subscribe(path: "/e") {
            #expect(event.data == "x")
            break
        }
        try await waitUntil("the server sees it") { server.abandoned == 1 }
        try await client.close()
    }

    @Test("A slow reader slows down the server, and memory does not grow")
    func slowReader() async throws {
        let event = Array("data: \(String(repeating: "a", count: 65_536 - 8))\n\n".utf8)
        let chunk = Array("\(String(event.count, radix: 16))\r\n".utf8) + event + Array("\r\n".utf8)
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        // One array, sent repeatedly: a gigabyte, too much to be buffered unnoticed.
        let total = 16_384 * chunk.count
        let server = try ScriptedServer(
            ScriptedServer.Answer(bytes: [Array(head.utf8)] + Array(repeating: chunk, count: 16_384), ending: .held))
        let client = try client(server)
        var iterator: RonEventStream.AsyncIterator? = try await client.subscribe(path: "/e").makeAsyncIterator()
        #expect(try await iterator?.next()?.data.utf8.count == 65_536 - 8)
        var sent = -1
        var still = 0
        try await waitUntil("the server stands still") {
            still = server.sent == sent ? still + 1 : 0
            sent = server.sent
            return still >= 50
        }
        #expect(sent < total / 8, "\(sent) of \(total) bytes went out for one event")
        for _ in 0..<20 { #expect(try await iterator?.next() != nil) }
        iterator = nil
        try await waitUntil("the server sees that nobody reads on") { server.abandoned == 1 }
        try await client.close()
    }
}
