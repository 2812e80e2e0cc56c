import Foundation
import RonAppSdkSwift
import Testing

@Suite("Call headers")
struct HeaderTests {
    private struct Locked: Error {}

    private func sent(
        _ request: AppRequest = AppRequest(.get, "/x"), _ change: (inout RonConfig) -> Void = { _ in }
    ) async throws -> TransportRequest {
        let transport = ScriptedTransport()
        let client = try makeClient(transport, change)
        let response: AppResponse<NoContent> = await client.request(request)
        #expect(response.ok, "\(String(describing: response.problem))")
        return try #require(transport.requests.first)
    }

    /// The problem of a call that must not have been sent.
    private func refused(
        _ request: AppRequest = AppRequest(.get, "/x"), _ change: (inout RonConfig) -> Void = { _ in }
    ) async throws -> RonProblem {
        let transport = ScriptedTransport()
        let client = try makeClient(transport, change)
        let response: AppResponse<NoContent> = await client.request(request)
        #expect(transport.requests.isEmpty && response.status == 0 && !response.ok && response.data == nil)
        let problem = try #require(response.problem)
        #expect(problem.kind == "local" && problem.retryable == false && problem.status == 0)
        return problem
    }

    @Test(
        "A token with a scheme is sent unchanged, any other after Bearer",
        arguments: [
            ("abc.def", "Bearer abc.def"), ("Macro abc", "Macro abc"), ("Bearer abc", "Bearer abc"),
            ("bearer abc", "bearer abc"), ("Basic YTpi", "Basic YTpi"), ("abc==", "Bearer abc=="),
            ("a/b c", "Bearer a/b c"),
        ])
    func authorization(token: String, expected: String) async throws {
        #expect(try await sent { $0.authToken = token }.header("authorization") == expected)
    }

    @Test("Without tokens there are no credentials; the passport has its own header")
    func passport() async throws {
        let bare = try await sent()
        #expect(bare.header("authorization") == nil && bare.header("x-ron-passport") == nil)
        #expect(try await sent { $0.passportToken = "p-1" }.header("X-RON-Passport") == "p-1")
    }

    @Test("The provider's headers override the request's, and the client's override both")
    func precedence() async throws {
        let request = AppRequest(
            .post, "/x",
            headers: [
                "X-A": "request", "x-b": "request", "authorization": "request", "Accept": "text/html",
                "Content-Type": "text/plain", "x-ron-passport": "request",
            ], body: ["a": 1])
        let sent = try await sent(request) { config in
            config.headerProvider = { ["X-B": "provider", "Authorization": "provider", "X-RON-Passport": "provider"] }
            config.authToken = "Macro own"
        }
        #expect(sent.header("x-a") == "request" && sent.header("x-b") == "provider")
        #expect(sent.header("authorization") == "Macro own" && sent.header("x-ron-passport") == "provider")
        #expect(sent.header("accept") == "application/json" && sent.header("content-type") == "application/json")
    }

    @Test("The provider is asked for every call")
    func rotation() async throws {
        let transport = ScriptedTransport()
        let count = CallCounter()
        let client = try makeClient(transport) { $0.headerProvider = { ["Authorization": "Bearer \(count.next())"] } }
        for _ in 0..<3 { let _: AppResponse<NoContent> = await client.get("/x") }
        #expect(transport.requests.map { $0.header("authorization") } == ["Bearer 1", "Bearer 2", "Bearer 3"])
    }

    @Test("A provider that throws fails that call, and its message is not exposed")
    func providerThrows() async throws {
        let problem = try await refused { config in
            config.headerProvider = { throw RonSdkError.decoding("the key is hunter2") }
        }
        #expect(problem.code == "local_header_provider_failed" && !problem.message.contains("hunter2"))
    }

    @Test("JSON is announced if there is a body, and a GET has none")
    func contentType() async throws {
        let get = try await sent(AppRequest(.get, "/x", body: ["a": 1]))
        #expect(get.body == nil && get.header("content-type") == nil)
        for verb in HTTPVerb.allCases where verb != .get {
            let write = try await sent(AppRequest(verb, "/x", body: ["b": 1, "a": 2]))
            #expect(write.method == verb.rawValue && write.header("content-type") == "application/json")
            #expect(write.body == Data(#"{"a":2,"b":1}"#.utf8))
            #expect(try await sent(AppRequest(verb, "/x")).header("content-type") == nil)
        }
    }

    @Test("Request id and correlation id are one new value for each call")
    func ids() async throws {
        let (one, two) = (try await sent(), try await sent())
        let id = try #require(one.header("x-request-id"))
        #expect(id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        #expect(one.header("x-correlation-id") == id)
        #expect(two.header("x-request-id") != id)
        #expect(try await sent { $0.requestIdFactory = { "mine" } }.header("x-correlation-id") == "mine")
    }

    @Test("Ids passed by the caller are unchanged")
    func passedIds() async throws {
        let one = try await sent(AppRequest(.get, "/x", headers: ["X-Correlation-Id": "c-1"]))
        #expect(one.header("x-request-id") == "c-1" && one.header("x-correlation-id") == "c-1")
        let both = try await sent(AppRequest(.get, "/x", headers: ["X-Correlation-Id": "c", "X-Request-Id": "r"]))
        #expect(both.header("x-request-id") == "r" && both.header("x-correlation-id") == "c")
    }

    @Test("An idempotency key is sent under both names, only with writes", arguments: HTTPVerb.allCases)
    func idempotency(verb: HTTPVerb) async throws {
        let expected = verb == .get ? nil : "k-1"
        for request in [
            AppRequest(verb, "/x", idempotencyKey: "k-1"), AppRequest(verb, "/x"),
        ] {
            let sent = try await sent(request) { $0.idempotencyKeyFactory = { "k-1" } }
            #expect(sent.header("idempotency-key") == expected && sent.header("x-idempotency-key") == expected)
        }
        #expect(try await sent(AppRequest(verb, "/x")).header("idempotency-key") == nil)
    }

    @Test("The caller's key overrides the factory's, however it is given")
    func idempotencyPrecedence() async throws {
        for request in [
            AppRequest(.post, "/x", idempotencyKey: "mine"),
            AppRequest(.post, "/x", headers: ["Idempotency-Key": "mine"]),
            AppRequest(.post, "/x", headers: ["x-idempotency-key": "mine"]),
        ] {
            let sent = try await sent(request) { $0.idempotencyKeyFactory = { "other" } }
            #expect(sent.header("idempotency-key") == "mine" && sent.header("x-idempotency-key") == "mine")
        }
    }

    @Test(
        "A key that some server would reject is rejected",
        arguments: ["", "has space", "tab\t", "line\nbreak", "ünicode", String(repeating: "k", count: 65), "\u{0}"])
    func badKey(key: String) async throws {
        let given = try await refused(AppRequest(.post, "/x", idempotencyKey: key))
        #expect(given.code == "local_invalid_idempotency_key")
        let made = try await refused(AppRequest(.post, "/x")) { $0.idempotencyKeyFactory = { key } }
        #expect(made.code == "local_invalid_idempotency_key")
        let longest = String(repeating: "~", count: 64)
        #expect(try await sent(AppRequest(.post, "/x", idempotencyKey: longest)).header("idempotency-key") == longest)
    }

    @Test("A request id that a header cannot contain is rejected", arguments: ["", "a b", "a\r\nX-Evil: 1"])
    func badId(id: String) async throws {
        let problem = try await refused { $0.requestIdFactory = { id } }
        #expect(problem.code == "local_invalid_request_id" && problem.correlationId == nil)
    }

    @Test(
        "A header that would inject another one is rejected, wherever it comes from",
        arguments: [
            ("X-A", "a\r\nX-Evil: 1"), ("X-A", "a\nb"), ("X-A", "a\u{0}b"), ("X-A\r\nX-Evil", "1"), ("X A", "1"),
            ("", "1"), ("X-A:", "1"), ("X-Ä", "1"), ("X-A", "\u{7f}"),
        ])
    func injection(name: String, value: String) async throws {
        let own = try await refused(AppRequest(.get, "/x", headers: [name: value]))
        let provided = try await refused { $0.headerProvider = { [name: value] } }
        for problem in [own, provided] {
            #expect(problem.code == "local_invalid_header" && !problem.message.contains("Evil"))
        }
    }

    @Test(
        "Message framing is left to the transport",
        arguments: ["Host", "content-length", "Transfer-Encoding", "Connection", "TE", "Upgrade", "Expect"])
    func framing(name: String) async throws {
        #expect(try await refused(AppRequest(.post, "/x", headers: [name: "1"])).code == "local_invalid_header")
    }

    @Test("One header in two spellings is rejected, rather than one being dropped at random")
    func twice() async throws {
        let problem = try await refused(AppRequest(.get, "/x", headers: ["X-A": "1", "x-a": "2"]))
        #expect(problem.code == "local_invalid_header")
    }
}
