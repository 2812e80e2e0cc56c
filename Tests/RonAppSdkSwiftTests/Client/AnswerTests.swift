import Foundation
import RonAppSdkSwift
import Synchronization
import Testing

private struct Hello: Codable, Equatable, Sendable {
    var message: String
}

@Suite("Answers to a call")
struct AnswerTests {
    private func answer<T>(_ transport: ScriptedTransport, as type: T.Type = T.self) async throws -> AppResponse<T>
    where T: Decodable & Sendable {
        await (try makeClient(transport) { $0.requestIdFactory = { "own-id" } }).get("/x")
    }

    @Test("Bare JSON is data; unknown fields are ignored")
    func data() async throws {
        let body = #"{"message":"hi","later":[1,{"x":null}]}"#
        let response: AppResponse<Hello> = try await answer(
            ScriptedTransport(status: 201, headers: [("X-Tag", "a"), ("x-tag", "b")], body: body))
        #expect(response.ok && response.status == 201 && response.problem == nil)
        #expect(response.data == Hello(message: "hi") && response.raw == Data(body.utf8))
        #expect(response.headers["x-tag"] == "a, b" && response.headers["content-type"] == "application/json")
        #expect(try response.get() == Hello(message: "hi"))
    }

    @Test("Success without a body is a success without data", arguments: ["application/json", nil])
    func empty(type: String?) async throws {
        let greeting: AppResponse<Hello> = try await answer(ScriptedTransport(status: 204, type: type, body: ""))
        #expect(greeting.ok && greeting.data == nil && greeting.problem == nil && greeting.raw == Data())
        #expect { _ = try greeting.get() } throws: { ($0 as? RonSdkError) == .unknown }
        let nothing: AppResponse<NoContent> = try await answer(ScriptedTransport(status: 204, type: type, body: ""))
        #expect(nothing.ok && nothing.data == NoContent())
    }

    @Test("NoContent accepts any success, and Data is the unchanged body")
    func untyped() async throws {
        for (type, body) in [("application/json", "{}"), ("application/json", "[1"), ("text/html", "<p>")] {
            let nothing: AppResponse<NoContent> = try await answer(ScriptedTransport(type: type, body: body))
            #expect(nothing.ok && nothing.data == NoContent())
            let bytes: AppResponse<Data> = try await answer(ScriptedTransport(type: type, body: body))
            #expect(bytes.ok && bytes.data == Data(body.utf8))
        }
    }

    @Test(
        "An unreadable body is not a success, and keeps status and body",
        arguments: [
            ("application/json", #"{"message":"#), ("application/json", #"{"message":1}"#), ("application/json", "[]"),
            ("text/html", "<p>"), ("text/plain", #"{"message":"hi"}"#),
        ])
    func unreadable(type: String, body: String) async throws {
        let response: AppResponse<Hello> = try await answer(ScriptedTransport(status: 200, type: type, body: body))
        #expect(!response.ok && response.status == 200 && response.data == nil && response.raw == Data(body.utf8))
        let problem = try #require(response.problem)
        #expect(problem.code == "transport_error" && problem.kind == "transport" && problem.status == 200)
        #expect(problem.retryable == false && !problem.message.contains(body))
    }

    @Test("Dates are read with and without fractions of a second")
    func dates() async throws {
        let body = #"["2026-02-03T04:05:06Z","2026-02-03T04:05:06.250Z","2026-02-03T05:05:06+01:00"]"#
        let response: AppResponse<[Date]> = try await answer(ScriptedTransport(body: body))
        let dates = try response.get()
        #expect(dates.map { $0.timeIntervalSince(dates[0]) } == [0, 0.25, 0])
    }

    @Test("A problem is the server's, and always has an id")
    func problem() async throws {
        let body = #"{"code":"nope","message":"No","correlation_id":"c-1"}"#
        let named: AppResponse<Hello> = try await answer(ScriptedTransport(status: 409, body: body))
        #expect(!named.ok && named.status == 409 && named.problem?.code == "nope")
        #expect(named.problem?.correlationId == "c-1" && named.raw == Data(body.utf8))
        #expect { _ = try named.get() } throws: {
            if case .problem(let problem)? = $0 as? RonSdkError { problem.status == 409 } else { false }
        }
        let nameless: AppResponse<Hello> = try await answer(
            ScriptedTransport(status: 502, type: "text/plain", body: "bad gateway"))
        #expect(nameless.status == 502 && nameless.problem?.correlationId == "own-id")
    }

    @Test("A redirect is a response like any other, and is not followed")
    func redirect() async throws {
        let transport = ScriptedTransport(status: 307, headers: [("Location", "https://evil.example.com/")], body: "")
        let response: AppResponse<Hello> = try await answer(transport)
        #expect(!response.ok && response.status == 307 && response.problem?.code == "transport_error")
        #expect(transport.requests.count == 1)
    }

    @Test(
        "An error that prevents a response becomes a problem with status 0 and fixed text",
        arguments: [
            (TransportError.Kind.timeout, "local_timeout", "Request timed out", "transport", true),
            (.unreachable, "local_network_failure", "Network error", "transport", true),
            (.reset, "local_network_failure", "Network error", "transport", true),
            (.tls, "local_network_failure", "Network error", "transport", false),
            (.other, "local_network_failure", "Network error", "transport", true),
            (.cancelled, "local_cancelled", "Request cancelled", "local", false),
        ])
    func lost(kind: TransportError.Kind, code: String, message: String, problemKind: String, retryable: Bool)
        async throws
    {
        for isLate in [false, true] {
            let transport = ScriptedTransport { _ throws(TransportError) in
                let error = TransportError(kind, "10.0.0.7 refused, errno 111")
                if !isLate { throw error }
                let pieces = AsyncThrowingStream<[UInt8], any Error> { continuation in
                    continuation.yield(Array("{\"message\":".utf8))
                    continuation.finish(throwing: error)
                }
                return TransportResponse(
                    status: 200, headers: [("content-type", "application/json")], body: TransportBody(pieces))
            }
            let response: AppResponse<Hello> = try await answer(transport)
            #expect(response.status == 0 && !response.ok && response.data == nil && response.raw == nil)
            let problem = try #require(response.problem)
            #expect(problem.code == code && problem.message == message && problem.kind == problemKind)
            #expect(problem.status == 0 && problem.retryable == retryable && problem.correlationId == "own-id")
        }
    }

    @Test("A response may be as long as the limit, whether it announces its length or not")
    func responseLimit() async throws {
        for (length, isAnnounced, fits) in [
            (100, true, true), (100, false, true), (101, true, false), (101, false, false),
        ] {
            let pulled = CallCounter()
            let transport = ScriptedTransport { _ throws(TransportError) in
                let body = AsyncThrowingStream<[UInt8], any Error> {
                    let count = pulled.next()
                    // Endless unless it fits: a client that reads on never finishes.
                    return count > length && fits ? nil : [UInt8(ascii: "1")]
                }
                let headers = isAnnounced ? [("Content-Length", "\(length)")] : []
                return TransportResponse(status: 200, headers: headers, body: TransportBody(body))
            }
            let client = try makeClient(transport) { $0.maxResponseBytes = 100 }
            let response: AppResponse<Data> = await client.get("/x")
            #expect(response.ok == fits && response.status == 200 && (response.raw != nil) == fits)
            if !fits {
                #expect(response.problem?.code == "local_response_too_large" && response.problem?.kind == "local")
                #expect(response.problem?.status == 200 && response.problem?.retryable == false)
                #expect(pulled.count == (isAnnounced ? 0 : 101))
            }
        }
    }

    @Test("A request body may be one mebibyte, and nothing longer is sent")
    func requestLimit() async throws {
        let transport = ScriptedTransport()
        let client = try makeClient(transport)
        // Two quotation marks go around it.
        let longest = String(repeating: "x", count: RonClient.maxRequestBytes - 2)
        let fits: AppResponse<NoContent> = await client.post("/x", body: longest)
        #expect(fits.ok && transport.requests.first?.body?.count == 1_048_576)
        let tooLong: AppResponse<NoContent> = await client.post("/x", body: longest + "x")
        #expect(tooLong.status == 0 && tooLong.problem?.code == "local_body_too_large")
        #expect(tooLong.problem?.kind == "local" && transport.requests.count == 1)
        let raw: AppResponse<NoContent> = await client.post("/x", body: try RawJSON(Data("\"\(longest)x\"".utf8)))
        #expect(raw.problem?.code == "local_body_too_large" && transport.requests.count == 1)
    }

    @Test("JSON that is already encoded is sent byte for byte, and nothing else is accepted as such")
    func rawJSON() async throws {
        let transport = ScriptedTransport()
        let client = try makeClient(transport)
        let text = #"{ "b": 1.50, "a": 18446744073709551615 }"#
        let _: AppResponse<NoContent> = await client.post("/x", body: try RawJSON(Data(text.utf8)))
        #expect(transport.requests.first?.body == Data(text.utf8))
        #expect(throws: DecodingError.self) { try RawJSON(Data("{".utf8)) }
    }

    @Test("A value that cannot be encoded fails alone, and is not sent")
    func unwritable() async throws {
        let transport = ScriptedTransport()
        let response: AppResponse<NoContent> = await (try makeClient(transport)).post("/x", body: [Double.infinity])
        #expect(response.problem?.code == "local_encode_failed" && transport.requests.isEmpty)
    }

    @Test("A path that leads elsewhere and an invalid timeout are not sent either")
    func unsendable() async throws {
        let transport = ScriptedTransport()
        let client = try makeClient(transport)
        let path: AppResponse<NoContent> = await client.delete("/../x")
        #expect(path.problem?.code == "local_invalid_path" && path.problem?.kind == "local")
        for ms in [0, -5, Int.max] {
            let timeout: AppResponse<NoContent> = await client.request(AppRequest(.get, "/x", timeoutMs: ms))
            #expect(timeout.problem?.code == "local_invalid_timeout")
        }
        #expect(transport.requests.isEmpty)
    }
}

/// Counts calls.
final class CallCounter: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .sequentiallyConsistent) }

    func next() -> Int { value.add(1, ordering: .sequentiallyConsistent).newValue }
}
