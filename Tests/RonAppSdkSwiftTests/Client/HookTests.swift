import Dispatch
import Foundation
import Logging
import RonAppSdkSwift
import Synchronization
import Testing

@Suite("Hooks, logs and credentials", .timeLimit(.minutes(5)))
struct HookTests {
    private static let secrets = [
        "tok-1", "pass-1", "cookie-1", "query-1", "provided-1", "set-1", "client-1", "body-1", "answer-1",
    ]

    private static func call(_ client: RonClient) async -> AppResponse<JSONValue> {
        await client.request(
            AppRequest(
                .post, "/login", query: ["access_token": "query-1", "page": "7"],
                headers: ["Cookie": "cookie-1", "X-Client-Secret": "client-1", "X-Plain": "seen"],
                body: ["user": "ann", "pass": "body-1"]))
    }

    private static func configure(_ config: inout RonConfig) {
        config.authToken = "tok-1"
        config.passportToken = "pass-1"
        config.headerProvider = { ["X-RON-Token": "provided-1"] }
        config.requestIdFactory = { "r-1" }
    }

    private let transport = ScriptedTransport(
        headers: [("Set-Cookie", "set-1"), ("X-Plain", "seen")], body: #"["answer-1"]"#)

    @Test("Hooks see requests and responses, without credentials, bodies and data")
    func values() async throws {
        let (told, teller) = AsyncStream<String>.makeStream()
        let client = try makeClient(transport) { config in
            Self.configure(&config)
            config.onRequest = { request, url in
                teller.yield(
                    "\(request.method.rawValue) \(url) \(request.headers.sorted { $0.key < $1.key }) \(request)")
            }
            config.onResponse = { response in
                teller.yield("\(response.status) \(response.headers) \(response)")
                #expect(response.ok && response.data == nil && response.raw == nil)
                teller.finish()
            }
        }
        #expect(await Self.call(client).ok)
        let lines = await told.reduce(into: [String]()) { $0.append($1) }
        #expect(lines.count == 2)
        #expect(lines[0].contains("POST https://node.example.com/app/login?"))
        #expect(lines[0].contains("page=7") && lines[0].contains("seen") && lines[0].contains("r-1"))
        #expect(lines[1].hasPrefix("200 ") && lines[1].contains("seen"))
        for secret in Self.secrets { #expect(!lines.joined().contains(secret)) }
    }

    @Test("A stream reports each connection, and a rejection")
    func streams() async throws {
        let (told, teller) = AsyncStream<String>.makeStream()
        let calls = CallCounter()
        let transport = ScriptedTransport { _ throws(TransportError) in
            guard calls.next() == 1 else { return TransportResponse(status: 403) }
            return TransportResponse(
                status: 200, headers: [("Content-Type", "text/event-stream"), ("Set-Cookie", "set-1")],
                body: TransportBody(Array("data: x\n\n".utf8)))
        }
        let client = try makeClient(transport) { config in
            config.onResponse = { response in
                #expect(!"\(response)".contains("set-1") && response.data == nil)
                teller.yield("\(response.status) \(response.ok)")
            }
        }
        let stream = try await client.subscribe(
            path: "/e", settings: StreamSettings(firstDelay: .zero))
        await #expect(throws: RonProblem.self) { for try await _ in stream {} }
        try await client.close()
        teller.finish()
        #expect(await told.reduce(into: [String]()) { $0.append($1) } == ["200 true", "403 false"])
    }

    @Test("A hook that hangs or throws delays no call, and no number of them fills the memory")
    func badHooks() async throws {
        let gate = DispatchSemaphore(value: 0)
        let calls = CallCounter()
        let book = LogBook()
        let client = try makeClient(transport) { config in
            config.logger = book.logger()
            config.onRequest = { _, _ in
                if calls.next() == 1 { gate.wait() }
                throw RonSdkError.decoding("hunter2")
            }
            config.onResponse = { _ in _ = calls.next() }
        }
        for _ in 0..<700 { #expect(await Self.call(client).ok) }
        #expect(calls.count <= 1)
        #expect(book.lines.contains { $0.message.contains("left out") })
        gate.signal()
        // At most 1,000 were accepted, of 1,400 calls.
        try await wait { calls.count >= 999 }
        #expect(calls.count <= 1_000)
        try await wait { book.lines.contains { $0.message.contains("failed") } }
        #expect(!book.lines.contains { $0.text.contains("hunter2") })
    }

    @Test("Queued hooks have run when the client is closed, and one that hangs does not keep it open")
    func closing() async throws {
        let calls = CallCounter()
        let gate = DispatchSemaphore(value: 0)
        let client = try makeClient(transport) { config in
            config.onRequest = { _, _ in gate.wait() }
            config.onResponse = { _ in _ = calls.next() }
        }
        #expect(await Self.call(client).ok)
        try await client.close()
        #expect(calls.count == 0)
        gate.signal()
        try await client.close()
        #expect(calls.count == 1)
    }

    @Test("A code chosen by a server forges no log line, and does not inflate the metrics")
    func codes() async throws {
        for (code, shown) in [
            ("busy", "busy"), ("a\\nERROR: forged", "other"), (String(repeating: "a", count: 65), "other"),
        ] {
            let book = LogBook()
            let client = try makeClient(ScriptedTransport(status: 500, body: #"{"code":"\#(code)"}"#)) { config in
                config.logger = book.logger()
            }
            let response: AppResponse<NoContent> = await client.get("/x")
            #expect(response.problem?.code.isEmpty == false)
            #expect(book.lines.map { $0.metadata["code"] } == [.string(shown)])
        }
    }

    @Test("An interceptor's error is logged by its type only")
    func interceptorError() async throws {
        struct Leak: RonInterceptor, Error {
            let secret = "hunter2"
            func intercept(request: inout InterceptedRequest) async throws { throw self }
        }
        let book = LogBook()
        let client = try makeClient(transport) { config in
            config.interceptors = [Leak()]
            config.logger = book.logger()
            config.debug = true
        }
        let _: AppResponse<NoContent> = await client.get("/x")
        let line = try #require(book.lines.first)
        #expect(line.text.contains("Leak") && !line.text.contains("hunter2"))
    }

    @Test("A call is one line at level debug, without credentials and query values")
    func logLine() async throws {
        for debug in [false, true] {
            let book = LogBook()
            let client = try makeClient(transport) { config in
                Self.configure(&config)
                config.logger = book.logger()
                config.debug = debug
            }
            #expect(await Self.call(client).ok)
            let line = try #require(book.lines.first)
            #expect(book.lines.count == 1 && line.level == .debug)
            #expect(line.metadata["request_id"] == "r-1" && line.metadata["method"] == "POST")
            #expect(line.metadata["status"] == "200" && line.metadata["duration_ms"] != nil)
            let path = try #require(line.metadata["path"]?.description)
            #expect(path.hasPrefix("/app/login?") && path.contains("page=") && !path.contains("7"))
            #expect((line.metadata["headers"] != nil) == debug)
            #expect(line.text.contains("seen") == debug)
            for secret in Self.secrets { #expect(!line.text.contains(secret)) }
        }
    }

    @Test("A failed call is a line as well; the network's message appears at debug only")
    func failureLine() async throws {
        for debug in [false, true] {
            let book = LogBook()
            let broken = ScriptedTransport { _ throws(TransportError) in throw TransportError(.reset, "errno 104") }
            let client = try makeClient(broken) { config in
                config.logger = book.logger()
                config.debug = debug
            }
            let _: AppResponse<NoContent> = await client.get("/x")
            let _: AppResponse<NoContent> = await client.get("/../x")
            #expect(book.lines.count == 2)
            #expect(book.lines.first?.metadata["code"] == "local_network_failure")
            #expect(book.lines.last?.metadata["code"] == "local_invalid_path")
            #expect(book.lines.first?.text.contains("errno 104") == debug)
        }
    }

    @Test("A logger above debug gets nothing")
    func quiet() async throws {
        let book = LogBook()
        let client = try makeClient(transport) { $0.logger = book.logger(level: .info) }
        #expect(await Self.call(client).ok)
        #expect(book.lines.isEmpty)
    }

    @Test(
        "Credentials are recognised by the names of their headers",
        arguments: [
            ("Authorization", true), ("PROXY-AUTHORIZATION", true), ("x-ron-token", true), ("X-RON-Passport", true),
            ("Cookie", true), ("set-cookie", true), ("X-Api-Key", true), ("X-My-Secret", true), ("password", true),
            ("X-Hub-Signature", true), ("X-RON-Delegation", true), ("X-Capability", true), ("client_assertion", true),
            ("DPoP", true), ("X-JWT", true), ("bearer", true), ("pwd", true), ("X-Correlation-Id", false),
            ("X-Auth-Key", true), ("auth", true), ("author", false), ("Accept", false),
            ("X-Request-Id", false), ("Idempotency-Key", false),
            ("page", false),
        ])
    func names(name: String, isSensitive: Bool) {
        #expect(Redaction.isSensitive(name) == isSensitive)
        #expect(Redaction.redact([name: "v"]) == [name: isSensitive ? Redaction.mark : "v"])
    }

    @Test("A printed configuration shows no token")
    func printed() {
        let config = RonConfig(
            baseUrl: URL(string: "https://ann:hunter2@node"), authToken: "hunter2", passportToken: "hunter2")
        var dumped = ""
        dump(config, to: &dumped)
        for text in ["\(config)", String(reflecting: config), dumped, String(describing: [config])] {
            #expect(text.contains("node") && !text.contains("hunter2"))
        }
    }

    @Test("A URL is shown without user, fragment and query values")
    func describedURL() throws {
        let url = try #require(URL(string: "https://ann:hunter2@node:8443/a%20b?token=x&q=1&flag#frag"))
        #expect(
            Redaction.describe(url) == "https://node:8443/a%20b?token=[redacted]&q=[redacted]&flag=[redacted]")
    }
}

@Suite("Interceptors and metrics of a client")
struct SeamTests {
    private struct Stamp: RonInterceptor {
        var name: String
        var value: String

        func intercept(request: inout InterceptedRequest) async throws { request.headers[name] = value }

        func intercept(response: inout InterceptedResponse, to request: InterceptedRequest) async throws {
            response.headers.add("x-seen-by", value)
        }
    }

    private struct Refusal: RonInterceptor, Error {
        func intercept(request: inout InterceptedRequest) async throws { throw self }
    }

    private final class Ledger: RonMetrics {
        struct Entry: Sendable, Equatable {
            var method: String
            var path: String
            var status: Int
            var code: String?
            var sent: Int
            var received: Int
        }

        private let state = Mutex<(started: Int, ended: [Entry])>((0, []))

        var started: Int { state.withLock { $0.started } }
        var ended: [Entry] { state.withLock { $0.ended } }

        func callStarted(_ call: RonCall) { state.withLock { $0.started += 1 } }

        func callFinished(_ call: RonCall, _ outcome: RonCallOutcome) {
            let entry = Entry(
                method: call.method, path: call.pathTemplate, status: outcome.status, code: outcome.problemCode,
                sent: outcome.bytesSent, received: outcome.bytesReceived)
            state.withLock { $0.ended.append(entry) }
        }
    }

    @Test("Interceptors see requests in order, and responses in reverse")
    func order() async throws {
        let transport = ScriptedTransport()
        let client = try makeClient(transport) { config in
            config.interceptors = [Stamp(name: "X-A", value: "1"), Stamp(name: "X-A", value: "2")]
        }
        let response: AppResponse<NoContent> = await client.get("/x")
        #expect(transport.requests.first?.header("x-a") == "2")
        #expect(response.headers["x-seen-by"] == "2, 1")
    }

    @Test("One that throws ends the call before anything is sent, and so does one that injects a header")
    func refusal() async throws {
        let transport = ScriptedTransport()
        for (interceptor, code) in [
            (Refusal() as any RonInterceptor, "local_interceptor_failed"),
            (Stamp(name: "X-A", value: "a\r\nX-Evil: 1"), "local_invalid_header"),
        ] {
            let client = try makeClient(transport) { $0.interceptors = [interceptor] }
            let response: AppResponse<NoContent> = await client.get("/x")
            #expect(response.status == 0 && response.problem?.code == code && response.problem?.kind == "local")
        }
        #expect(transport.requests.isEmpty)
    }

    @Test("Metrics see every call once, however it ends")
    func metrics() async throws {
        let ledger = Ledger()
        let client = try makeClient(ScriptedTransport(status: 404, body: #"{"code":"gone"}"#)) { $0.metrics = ledger }
        let _: AppResponse<NoContent> = await client.put("/users/4711", body: [1, 2])
        let _: AppResponse<NoContent> = await client.get("/../x")
        let silent = try makeClient(.silent()) { config in
            config.metrics = ledger
            config.overallTimeoutMs = 20
        }
        let _: AppResponse<NoContent> = await silent.put("/slow", body: [1, 2, 3])
        #expect(ledger.started == 3)
        #expect(
            ledger.ended == [
                .init(method: "PUT", path: "/app/users/{id}", status: 404, code: "gone", sent: 5, received: 15),
                .init(method: "GET", path: "none", status: 0, code: "local_invalid_path", sent: 0, received: 0),
                .init(method: "PUT", path: "/app/slow", status: 0, code: "local_timeout", sent: 7, received: 0),
            ])
    }
}
