import Foundation
import Hummingbird
import Logging
import NIOHTTP1
import RonAppSdkSwift
import RonHummingbird
import TestSupport
import Testing
import ron_mock_plane

@Suite("Problems and ids in a Hummingbird server")
struct MiddlewareTests {
    /// Runs a server with the middleware while `body` sends requests.
    private func withServer(
        _ routes: (Router<BasicRequestContext>) -> Void, _ body: (String) async throws -> Void
    ) async throws {
        let router = Router()
        router.add(middleware: RonProblemMiddleware(requestIdFactory: { "made-1" }))
        routes(router)
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let app = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await app.run() }
            let url = await ports.first { _ in true }.map { "http://127.0.0.1:\($0)" }
            try await body(#require(url))
            group.cancelAll()
        }
    }

    private struct Unknown: Error { let text: String }

    private func problem(
        _ status: Int, kind: String = "app", code: String = "full", message: String = "no room"
    ) -> RonProblem {
        RonProblem(
            code: code, message: message, kind: kind, status: status, retryable: true, retryAfterMs: 1_200,
            reason: "taxi")
    }

    @Test("A thrown problem becomes the response, with the server's status and the request's ids")
    func thrownProblem() async throws {
        let thrown = problem(409)
        try await withServer({ $0.get("/ride") { _, _ -> String in throw thrown } }) { url in
            let answer = try await PlainHTTP.ask(.GET, url + "/ride", headers: ["x-correlation-id": "c-1"])
            #expect(answer.status == 409 && answer.headers["content-type"] == ["application/json"])
            #expect(answer.headers["x-request-id"] == ["made-1"] && answer.headers["x-correlation-id"] == ["c-1"])
            #expect(answer.headers["retry-after"] == ["2"])
            let told = try JSONDecoder().decode(RonProblem.self, from: answer.body)
            var expected = thrown
            expected.correlationId = "c-1"
            #expect(told == expected)
        }
    }

    @Test("An excessive wait is reported, and does not crash the server")
    func longWait() async throws {
        for (wait, seconds) in [
            (Int.max, "9223372036854776"), (Int.max - 1_000, "9223372036854775"), (1_000, "1"), (-5, "0"),
        ] {
            var thrown = problem(503)
            thrown.retryAfterMs = wait
            try await withServer({ [thrown] in $0.get("/x") { _, _ -> String in throw thrown } }) { url in
                let answer = try await PlainHTTP.ask(.GET, url + "/x")
                #expect(answer.status == 503 && answer.headers["retry-after"] == [seconds])
            }
        }
    }

    @Test("An error without a status gets one that says whose fault it is")
    func statuses() async throws {
        let cases: [(any Error & Sendable, Int)] = [
            (problem(0, kind: RonProblem.transportKind, code: "local_timeout"), 504),
            (problem(0, kind: RonProblem.transportKind, code: "local_network_failure"), 502),
            (problem(200, kind: RonProblem.transportKind, code: "transport_error"), 502),
            (problem(0, kind: RonProblem.localKind, message: "the secret place"), 500),
            (problem(404, kind: RonProblem.localKind, code: "local_x", message: "the secret place"), 500),
            (problem(404, kind: RonProblem.localKind, code: "local_response_too_large"), 502),
            (problem(200, kind: RonProblem.localKind, code: "local_not_a_stream"), 502),
            (Unknown(text: "the secret place"), 500),
            (RonSdkError.problem(problem(403, kind: "auth")), 403),
            (RonSdkError.unknown, 502), (RonSdkError.decoding("at items[3]"), 502),
            (SdkConfigError(setting: "baseUrl", message: "the secret place"), 500),
            (LocalNetworkError(code: "local_x", message: "the secret place"), 500),
        ]
        for (error, status) in cases {
            try await withServer({ $0.get("/x") { _, _ -> String in throw error } }) { url in
                let answer = try await PlainHTTP.ask(.GET, url + "/x")
                #expect(answer.status == status, "\(error)")
                #expect(answer.json["status"] as? Int == status && answer.json["correlation_id"] as? String == "made-1")
                #expect(answer.headers["x-request-id"] == ["made-1"])
                #expect(!answer.text.contains("secret place"))
            }
        }
    }

    @Test("Other responses and errors are unchanged, and get their ids")
    func others() async throws {
        try await withServer({ router in
            router.get("/fine") { _, _ in "fine" }
            router.get("/gone") { _, _ -> String in throw HTTPError(.gone, message: "long ago") }
        }) { url in
            let fine = try await PlainHTTP.ask(.GET, url + "/fine", headers: ["x-request-id": "r-1"])
            #expect(fine.text == "fine" && fine.headers["x-request-id"] == ["r-1"])
            #expect(fine.headers["x-correlation-id"] == ["r-1"])
            let gone = try await PlainHTTP.ask(.GET, url + "/gone")
            #expect(gone.status == 410 && gone.text.contains("long ago") && gone.headers["x-request-id"] == ["made-1"])
            // A value that could do harm in a log is not used as an id.
            let harmful = try await PlainHTTP.ask(
                .GET, url + "/fine", headers: ["x-request-id": String(repeating: "a", count: 200)])
            #expect(harmful.headers["x-request-id"] == ["made-1"])
        }
    }

    @Test("A call to the app plane carries the ids of the request it is made for")
    func carriesOn() async throws {
        try await withPlane(configure: { $0.headerProvider = { RonCorrelation.current?.headers ?? [:] } }) {
            plane, client in
            try await withServer({ router in
                router.get("/hello") { _, _ in
                    let answer: AppResponse<PlaneGreeting> = await client.get("/hello")
                    return try answer.get().message
                }
            }) { url in
                let headers = ["x-request-id": "r-7", "x-correlation-id": "c-7"]
                let answer = try await PlainHTTP.ask(.GET, url + "/hello", headers: headers)
                #expect(answer.text == "Hello from the app plane")
                let sent = try #require(plane.requests.last)
                #expect(sent.header("x-request-id") == "r-7" && sent.header("x-correlation-id") == "c-7")
            }
        }
    }
}
