import Foundation
import RonAppSdkSwift
import TestSupport
import Testing
import ron_mock_plane

@Suite("Calls to an app plane over sockets")
struct IntegrationTests {
    @Test("The first call of every example")
    func hello() async throws {
        try await withPlane { plane, client in
            let answer: AppResponse<PlaneGreeting> = await client.get("/hello", query: ["name": "Ann & Bob + 1"])
            #expect(answer.ok && answer.status == 200 && answer.problem == nil)
            #expect(answer.data == PlaneGreeting(message: "Hello, Ann & Bob + 1"))
            #expect(answer.headers["content-type"] == "application/json")
            #expect(answer.raw == Data(#"{"message":"Hello, Ann & Bob + 1"}"#.utf8))
            struct Health: Decodable, Sendable { let ok: Bool }
            let health: AppResponse<Health> = await client.get("/healthz")
            #expect(health.data?.ok == true)
        }
    }

    @Test("Each method arrives as itself, and a body comes back unchanged", arguments: HTTPVerb.allCases)
    func verbs(verb: HTTPVerb) async throws {
        struct Echo: Codable, Sendable, Equatable {
            var text = "Grüße \"🌍\"\n\u{1}/"
            var number = Int64.max
            var list: [String?] = ["a", nil]
        }
        struct Method: Decodable, Sendable { let method: String }
        try await withPlane { plane, client in
            let method: AppResponse<Method> = await client.request(AppRequest(verb, "/method"))
            #expect(method.data?.method == verb.rawValue)
            guard verb != .get else { return }
            let echo: AppResponse<Echo> = await client.request(AppRequest(verb, "/echo", body: Echo()))
            #expect(echo.data == Echo())
            #expect(plane.requests.last?.header("content-type")?.hasPrefix("application/json") == true)
        }
    }

    @Test("A response without a body is a success without data")
    func noContent() async throws {
        try await withPlane { _, client in
            let nothing: AppResponse<NoContent> = await client.post("/echo")
            #expect(nothing.ok && nothing.status == 204 && nothing.data != nil)
            let greeting: AppResponse<PlaneGreeting> = await client.post("/echo")
            #expect(greeting.ok && greeting.data == nil && greeting.problem == nil)
        }
    }

    @Test("A call carries its ids, token, passport and key, and the response repeats its ids")
    func headers() async throws {
        try await withPlane(configure: {
            $0.authToken = "Macro abc"
            $0.passportToken = "pass-7"
            $0.requestIdFactory = { "call-1" }
        }) { plane, client in
            let answer: AppResponse<NoContent> = await client.request(
                AppRequest(.post, "/events", headers: ["X-Tenant": "acme"], body: ["n": 1], idempotencyKey: "job-1:2"))
            #expect(answer.status == 201)
            #expect(answer.headers["x-request-id"] == "call-1")
            let sent = try #require(plane.requests.last)
            for (name, value) in [
                "authorization": "Macro abc", "x-ron-passport": "pass-7", "x-request-id": "call-1",
                "x-correlation-id": "call-1", "idempotency-key": "job-1:2", "x-idempotency-key": "job-1:2",
                "x-tenant": "acme", "accept": "application/json",
            ] { #expect(sent.header(name) == value, "\(name)") }
        }
    }

    @Test("A changing token is requested for each call")
    func headerProvider() async throws {
        var options = MockPlaneOptions()
        options.token = "second"
        let tokens = TokenSequence(["Macro first", "Macro second"])
        try await withPlane(
            options,
            configure: {
                $0.headerProvider = { await ["authorization": tokens.next()] }
            }
        ) { _, client in
            let first: AppResponse<PlaneGreeting> = await client.get("/hello")
            let second: AppResponse<PlaneGreeting> = await client.get("/hello")
            #expect(first.status == 403 && first.problem?.status == 403 && second.ok)
        }
    }

    @Test("Without a token a node answers 401 in plain text, which becomes a problem with that status")
    func unauthorized() async throws {
        var options = MockPlaneOptions()
        options.token = "abc"
        try await withPlane(options) { _, client in
            let answer: AppResponse<PlaneGreeting> = await client.get("/hello")
            #expect(!answer.ok && answer.status == 401 && answer.problem?.status == 401)
            #expect(answer.headers["www-authenticate"] == #"Macro realm="micronode""#)
        }
    }

    @Test("Concurrent calls each get their own response")
    func concurrentCalls() async throws {
        try await withPlane { plane, client in
            let answers = await withTaskGroup(of: (Int, Int?).self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let answer: AppResponse<[String: Int]> = await client.post("/echo", body: ["n": number])
                        return (number, answer.data?["n"])
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == 200)
            for (asked, told) in answers { #expect(asked == told) }
            #expect(Set(plane.requests.compactMap { $0.header("x-request-id") }).count == 200)
        }
    }

    @Test("A body up to the limit is sent, and a larger one is rejected before anything is sent")
    func bodyLimit() async throws {
        try await withPlane { plane, client in
            // Including its quotation marks.
            let whole = String(repeating: "x", count: (1 << 20) - 2)
            let echoed: AppResponse<String> = await client.post("/echo", body: whole)
            #expect(echoed.data == whole)
            let refused: AppResponse<NoContent> = await client.post("/echo", body: whole + "x")
            #expect(!refused.ok && refused.status == 0 && refused.problem?.kind == RonProblem.localKind)
            #expect(refused.problem?.retryable == false)
            #expect(plane.requests.count == 1)
        }
    }

    @Test("A facet is found below its prefix, and its problem is passed on")
    func facet() async throws {
        struct Login: Encodable, Sendable { let user, pass: String }
        struct Token: Decodable, Sendable { let token: String }
        try await withPlane { plane, client in
            let auth = client.facet("auth")
            let entered: AppResponse<Token> = await auth.post("/login", body: Login(user: "ann", pass: "right"))
            #expect(entered.data?.token.hasPrefix("tok-ann-") == true)
            #expect(plane.requests.last?.path == "/app/facets/auth/login")
            let refused: AppResponse<Token> = await auth.post("/login", body: Login(user: "ann", pass: "wrong"))
            #expect(refused.problem?.code == "verify_failed" && refused.problem?.status == 403)
        }
    }
}

/// Returns texts in order.
private actor TokenSequence {
    private var rest: [String]

    init(_ tokens: [String]) { rest = tokens }

    func next() -> String { rest.isEmpty ? "" : rest.removeFirst() }
}
