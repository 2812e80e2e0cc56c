import Foundation
import RonAppSdkSwift
import Synchronization
import TestSupport
import Testing

/// Does what a test says, and records what it saw.
private final class Interceptor: RonInterceptor {
    let handlesCredentials: Bool
    private let name: String
    private let notes: Notes
    private let change: @Sendable (inout InterceptedRequest) async throws -> Void
    private let changeResponse: @Sendable (inout InterceptedResponse) async throws -> Void

    init(
        _ name: String, _ notes: Notes = Notes(), handlesCredentials: Bool = false,
        response: @escaping @Sendable (inout InterceptedResponse) async throws -> Void = { _ in },
        request: @escaping @Sendable (inout InterceptedRequest) async throws -> Void = { _ in }
    ) {
        self.name = name
        self.notes = notes
        self.handlesCredentials = handlesCredentials
        change = request
        changeResponse = response
    }

    func intercept(request: inout InterceptedRequest) async throws {
        notes.add("\(name) > \(request.method) \(request.url.path)")
        notes.shown(request.headers)
        try await change(&request)
    }

    func intercept(response: inout InterceptedResponse, to request: InterceptedRequest) async throws {
        notes.add("\(name) < \(response.status)")
        notes.shown(request.headers)
        try await changeResponse(&response)
    }
}

private final class Notes: Sendable {
    private let state = Mutex<(lines: [String], shown: Set<String>)>(([], []))

    var lines: [String] { state.withLock(\.lines) }
    /// Names of the headers it was shown, in lower case.
    var names: Set<String> { state.withLock(\.shown) }

    func add(_ line: String) { state.withLock { $0.lines.append(line) } }
    func shown(_ headers: HeaderFields) {
        state.withLock { $0.shown.formUnion(headers.fields.map { $0.name.lowercased() }) }
    }
}

private struct Oops: Error {}

private func client(
    _ server: ScriptedServer, metrics: (any RonMetrics)? = nil, _ interceptors: any RonInterceptor...
) throws -> RonClient {
    var config = RonConfig(
        baseUrl: URL(string: server.url), authToken: "Macro abc", passportToken: "p", allowInsecureHttp: true)
    config.headerProvider = { ["X-Api-Key": "k"] }
    config.interceptors = interceptors
    config.metrics = metrics
    return try RonClient(config: config)
}

@Suite("Interceptors") struct InterceptorTests {
    @Test("Requests pass in order, responses in reverse, and headers can be changed both ways")
    func order() async throws {
        let server = try ScriptedServer(.reply(200, #"{"a":1}"#, headers: ["x-from": "server"]))
        let notes = Notes()
        let client = try client(
            server,
            Interceptor(
                "one", notes, response: { $0.headers["X-From"] = ($0.headers["x-from"] ?? "") + " one" },
                request: { $0.headers["X-Trace"] = "1" }),
            Interceptor(
                "two", notes, response: { $0.headers["X-From"] = ($0.headers["x-from"] ?? "") + " two" },
                request: { $0.headers["x-trace"] = ($0.headers["X-TRACE"] ?? "") + "2" }))
        let answer: AppResponse<[String: Int]> = await client.post("/hello", body: ["b": 2])
        #expect(answer.data == ["a": 1])
        #expect(answer.headers["x-from"] == "server two one")
        #expect(server.requests.first?.headers["x-trace"] == "12")
        #expect(server.requests.first?.body == #"{"b":2}"#)
        #expect(notes.lines == ["one > POST /app/hello", "two > POST /app/hello", "two < 200", "one < 200"])
        try await client.close()
    }

    @Test("Credentials are hidden, and sent anyway")
    func hiddenCredentials() async throws {
        let server = try ScriptedServer(.reply(200, "{}"))
        let notes = Notes()
        let client = try client(server, Interceptor("one", notes, request: { $0.headers["accept"] = nil }))
        let answer: AppResponse<NoContent> = await client.get("/hello")
        #expect(answer.ok)
        #expect(notes.names.isDisjoint(with: ["authorization", "x-ron-passport", "x-api-key"]))
        #expect(notes.names.contains("x-request-id"))
        let sent = try #require(server.requests.first?.headers)
        #expect(sent["authorization"] == "Macro abc")
        #expect(sent["x-ron-passport"] == "p")
        #expect(sent["x-api-key"] == "k")
        try await client.close()
    }

    @Test("An interceptor that asks for credentials sees and changes them")
    func handledCredentials() async throws {
        let server = try ScriptedServer(.reply(200, "{}"))
        let notes = Notes()
        let client = try client(
            server,
            Interceptor("one", notes, handlesCredentials: true, request: { $0.headers["Authorization"] = "Macro new" }))
        let answer: AppResponse<NoContent> = await client.get("/hello")
        #expect(answer.ok)
        #expect(notes.names.contains("authorization"))
        #expect(server.requests.first?.headers["authorization"] == "Macro new")
        try await client.close()
    }

    @Test(
        "Setting a reserved header ends the call, and nothing is sent",
        arguments: [
            "Authorization", "x-ron-passport", "X-RON-Token", "Cookie", "X-Api-Key", "Content-Length", "Host",
            "Transfer-Encoding",
        ])
    func forbidden(_ name: String) async throws {
        let server = try ScriptedServer(.reply(200, "{}"))
        let client = try client(server, Interceptor("one", request: { $0.headers[name] = "5" }))
        let answer: AppResponse<NoContent> = await client.get("/hello")
        let problem = try #require(answer.problem)
        #expect(problem.code == "local_interceptor_failed")
        #expect(problem.kind == "local")
        #expect(problem.message.contains(name.lowercased()))
        #expect(server.requests.isEmpty)
        try await client.close()
    }

    @Test("An invalid header is rejected", arguments: ["a\r\nb: c", "a\u{0}"])
    func injection(_ value: String) async throws {
        let server = try ScriptedServer(.reply(200, "{}"))
        let client = try client(server, Interceptor("one", request: { $0.headers["x-note"] = value }))
        let answer: AppResponse<NoContent> = await client.get("/hello")
        #expect(answer.problem?.code == "local_invalid_header")
        #expect(server.requests.isEmpty)
        try await client.close()
    }

    @Test("One that throws ends only its own call, and its message is not passed on")
    func throwing() async throws {
        let server = try ScriptedServer(.reply(200, "{}"))
        let fails = Mutex(true)
        let client = try client(
            server, Interceptor("one", request: { _ in if fails.withLock({ $0 }) { throw Oops() } }))
        let answer: AppResponse<NoContent> = await client.get("/hello")
        #expect(answer.problem?.code == "local_interceptor_failed")
        #expect(answer.problem?.message.contains("Oops") == false)
        #expect(server.requests.isEmpty)
        fails.withLock { $0 = false }
        let other: AppResponse<NoContent> = await client.get("/hello")
        #expect(other.ok)
        try await client.close()
    }

    @Test("One that throws on a response ends that call")
    func throwingAtTheResponse() async throws {
        let server = try ScriptedServer(.reply(200, "{}"))
        let client = try client(server, Interceptor("one", response: { _ in throw Oops() }))
        let answer: AppResponse<NoContent> = await client.get("/hello")
        #expect(answer.problem?.code == "local_interceptor_failed")
        #expect(server.requests.count == 1)
        try await client.close()
    }

    @Test("Streams pass through them as well")
    func streams() async throws {
        let server = try ScriptedServer(.stream("data: x\n\n"), .reply(204, ""))
        let notes = Notes()
        let client = try client(server, Interceptor("one", notes, request: { $0.headers["x-trace"] = "t" }))
        for try await event in try await client.subscribe(path: "/e", settings: StreamSettings(firstDelay: .zero)) {
            #expect(event.data == "x")
        }
        #expect(server.requests.map { $0.headers["x-trace"] } == ["t", "t"])
        #expect(notes.lines == ["one > GET /app/e", "one < 200", "one > GET /app/e", "one < 204"])
        try await client.close()
    }
}

/// Records the metrics it receives.
private final class Tally: RonMetrics {
    private let state = Mutex<(started: [RonCall], finished: [(RonCall, RonCallOutcome)])>(([], []))

    var started: [RonCall] { state.withLock(\.started) }
    var finished: [(call: RonCall, outcome: RonCallOutcome)] { state.withLock { $0.finished.map { ($0.0, $0.1) } } }

    func callStarted(_ call: RonCall) { state.withLock { $0.started.append(call) } }
    func callFinished(_ call: RonCall, _ outcome: RonCallOutcome) {
        state.withLock { $0.finished.append((call, outcome)) }
    }
}

@Suite("Events reported to metrics") struct CallMetricsTests {
    @Test("Each call begins and ends once, however it ends")
    func everyEnd() async throws {
        let tally = Tally()
        let server = try ScriptedServer { request in
            switch request.path {
            case "/app/users/17": .reply(200, #"{"a":1}"#)
            case "/app/none": .reply(404, #"{"code":"NOT_FOUND"}"#)
            case "/app/held": ScriptedServer.Answer(bytes: [], ending: .held)
            default: nil
            }
        }
        let client = try client(server, metrics: tally)
        let one: AppResponse<[String: Int]> = await client.post("/users/17", body: ["b": 2])
        #expect(one.ok)
        let two: AppResponse<NoContent> = await client.get("/none")
        #expect(!two.ok)
        let three: AppResponse<NoContent> = await client.get("/reset")
        #expect(!three.ok)
        let four: AppResponse<NoContent> = await client.get("/../etc")
        #expect(!four.ok)
        let held = Task { await client.request(AppRequest(.get, "/held"), as: NoContent.self) }
        try await waitUntil("it is sent") { server.requests.count == 4 }
        held.cancel()
        #expect(await held.value.problem?.code == "local_cancelled")
        #expect(tally.started.count == 5)
        let finished = tally.finished
        #expect(finished.map(\.call) == tally.started)
        #expect(finished.map(\.outcome.status) == [200, 404, 0, 0, 0])
        #expect(
            finished.map(\.outcome.problemCode) == [
                nil, "NOT_FOUND", "local_network_failure", "local_invalid_path", "local_cancelled",
            ])
        #expect(finished[0].call == RonCall(method: "POST", pathTemplate: "/app/users/{id}"))
        #expect(finished[0].outcome.bytesSent == #"{"b":2}"#.utf8.count)
        #expect(finished[0].outcome.bytesReceived == #"{"a":1}"#.utf8.count)
        try await client.close()
    }
}
