import Foundation
import Logging
import RonAppSdkSwift
import Testing

@Suite("Calls that end before their response", .timeLimit(.minutes(5)))
struct CallEndTests {
    private static let nothing = RonConfig(baseUrl: URL(string: "https://node"))

    /// Never ends, and ignores cancellation, until it is told to.
    private final class Stubborn: Sendable {
        private let (stream, continuation) = AsyncStream<Void>.makeStream()

        func wait() async {
            let stream = stream
            // An unstructured task is not cancelled with the task that waits for it.
            await Task.detached { for await _ in stream {} }.value
        }

        func release() { continuation.finish() }
    }

    @Test("A transport that does not respond times out, and its request ends")
    func timeout() async throws {
        let transport = ScriptedTransport.silent()
        let client = try makeClient(transport) { $0.overallTimeoutMs = 30 }
        let response: AppResponse<NoContent> = await client.get("/x")
        #expect(response.status == 0 && response.problem?.code == "local_timeout")
        #expect(response.problem?.retryable == true && response.problem?.kind == "transport")
        try await wait { transport.running == 0 }
    }

    @Test(
        "A call without a response is identified by the id sent, wherever that came from", arguments: [false, true])
    func sentId(isProvided: Bool) async throws {
        let book = LogBook()
        // Not by the clock, which may run out before the provider is asked.
        let late = ScriptedTransport { _ throws(TransportError) in throw TransportError(.timeout, "late") }
        let client = try makeClient(late) { config in
            config.overallTimeoutMs = 3_600_000
            config.logger = book.logger()
            config.debug = true
            if isProvided { config.headerProvider = { ["X-Request-ID": "own-7", "X-Plain": "seen"] } }
        }
        let headers = isProvided ? [:] : ["x-request-id": "own-7", "X-Plain": "seen"]
        let response: AppResponse<NoContent> = await client.request(AppRequest(.put, "/x", headers: headers, body: [1]))
        #expect(response.problem?.code == "local_timeout" && response.problem?.correlationId == "own-7")
        let line = try #require(book.lines.first)
        #expect(line.metadata["request_id"] == "own-7" && line.text.contains("seen"))
    }

    @Test("The overall timeout covers an endless body")
    func slowBody() async throws {
        let ended = CallCounter()
        let transport = ScriptedTransport { _ throws(TransportError) in
            let pieces = AsyncThrowingStream<[UInt8], any Error> { continuation in
                continuation.yield(Array("{".utf8))
                continuation.onTermination = { _ in _ = ended.next() }
            }
            return TransportResponse(status: 200, body: TransportBody(pieces))
        }
        let client = try makeClient(transport)
        let response: AppResponse<NoContent> = await client.request(AppRequest(.get, "/x", timeoutMs: 30))
        #expect(response.status == 0 && response.problem?.code == "local_timeout")
        try await wait { ended.count == 1 }
    }

    @Test("The overall timeout covers a provider that never returns, even one that ignores cancellation")
    func slowProvider() async throws {
        let stubborn = Stubborn()
        let transport = ScriptedTransport()
        let client = try makeClient(transport) { config in
            config.overallTimeoutMs = 30
            config.headerProvider = {
                await stubborn.wait()
                return [:]
            }
        }
        let response: AppResponse<NoContent> = await client.get("/x")
        #expect(response.problem?.code == "local_timeout" && transport.requests.isEmpty)
        stubborn.release()
    }

    @Test("A cancelled task ends its call at once, and leaves nothing behind")
    func cancelled() async throws {
        let transport = ScriptedTransport.silent()
        let client = try makeClient(transport) { $0.overallTimeoutMs = 3_600_000 }
        let calls = (0..<50).map { _ in
            Task { () async -> AppResponse<NoContent> in await client.get("/x") }
        }
        try await wait { transport.running == calls.count }
        for call in calls { call.cancel() }
        for call in calls {
            let response = await call.value
            #expect(response.status == 0 && response.problem?.code == "local_cancelled")
            #expect(response.problem?.retryable == false)
        }
        try await wait { transport.running == 0 }
    }

    @Test("A short limit ends its call while a longer one continues, again and again")
    func shortBesideLong() async throws {
        let transport = ScriptedTransport.silent()
        let client = try makeClient(transport) { $0.overallTimeoutMs = 3_600_000 }
        let long = Task { () async -> AppResponse<NoContent> in await client.get("/long") }
        try await wait { transport.running == 1 }
        for _ in 0..<3 {
            let response: AppResponse<NoContent> = await client.request(AppRequest(.get, "/x", timeoutMs: 30))
            #expect(response.problem?.code == "local_timeout")
        }
        try await wait { transport.running == 1 }
        long.cancel()
        #expect(await long.value.problem?.code == "local_cancelled")
    }

    @Test("A task that is already cancelled sends nothing")
    func cancelledBefore() async throws {
        let transport = ScriptedTransport()
        let client = try makeClient(transport)
        let response = await Task { () async -> AppResponse<NoContent> in
            withUnsafeCurrentTask { $0?.cancel() }
            return await client.get("/x")
        }.value
        #expect(response.problem?.code == "local_cancelled" && transport.requests.isEmpty)
    }

    @Test("A closed client rejects calls, and closes only its own transport")
    func closed() async throws {
        let transport = ScriptedTransport()
        let client = try makeClient(transport)
        try await client.close()
        try await client.close()
        #expect(transport.closed == 0)
        let response: AppResponse<NoContent> = await client.get("/x")
        #expect(response.problem?.code == "local_closed" && response.problem?.retryable == false)
        #expect(transport.requests.isEmpty)
        let own = try RonClient(config: Self.nothing)
        try await own.close()
        try await own.close()
    }

    @Test("A client may be released without being closed")
    func dropped() async throws {
        for _ in 0..<3 { _ = try RonClient(config: Self.nothing) }
        let transport = AsyncHTTPTransport()
        await #expect(throws: TransportError.self) {
            try await transport.send(
                TransportRequest(method: "GET", url: try #require(URL(string: "http://127.0.0.1:1/"))))
        }
    }

    @Test("If nobody answers, the transport reports that the server cannot be reached")
    func unreachable() async throws {
        let transport = AsyncHTTPTransport()
        // Port 1 is unused, and a name below .invalid never resolves (RFC 6761).
        for address in ["http://127.0.0.1:1/", "http://node.invalid/"] {
            let request = TransportRequest(method: "GET", url: try #require(URL(string: address)))
            do throws(TransportError) {
                _ = try await transport.exchange(request, bodyLimit: 10)
                Issue.record("\(address) has answered")
            } catch {
                #expect(error.kind == .unreachable || error.kind == .timeout, "\(error)")
            }
        }
        try await transport.close()
        await #expect(throws: TransportError.self) {
            try await transport.send(
                TransportRequest(method: "GET", url: try #require(URL(string: "http://127.0.0.1:1/"))))
        }
    }
}
