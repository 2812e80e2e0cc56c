import Foundation
import Logging
import RonAppSdkSwift
import Synchronization
import TestSupport
import Testing

private struct Answer: Codable, Sendable, Equatable { var ok: Bool }

private func client(_ server: ScriptedServer, prefix: String? = nil) throws -> RonClient {
    try RonClient(
        config: RonConfig(baseUrl: URL(string: server.url), allowInsecureHttp: true, facetPrefix: prefix))
}

@Suite("Facets") struct FacetClientTests {
    @Test("Five methods call the routes of a facet")
    func verbs() async throws {
        let server = try ScriptedServer(.reply(200, #"{"ok":true}"#))
        let client = try client(server)
        let facet = client.facet("auth")
        let answers: [AppResponse<Answer>] = [
            await facet.get("/who", query: ["a": "b"]), await facet.post("/login", body: Answer(ok: false)),
            await facet.put("login"), await facet.patch("/x/y"), await facet.delete("/x"),
        ]
        #expect(answers.allSatisfy { $0.data == Answer(ok: true) })
        #expect(
            server.requests.map { "\($0.method) \($0.path)" } == [
                "GET /app/facets/auth/who?a=b", "POST /app/facets/auth/login", "PUT /app/facets/auth/login",
                "PATCH /app/facets/auth/x/y", "DELETE /app/facets/auth/x",
            ])
        #expect(server.requests[1].body == #"{"ok":false}"#)
        try await client.close()
    }

    @Test(
        "The prefix of a facet's name is a setting",
        arguments: [
            ("/facets", "/app/facets/app/x"), ("", "/app/app/x"), ("/", "/app/app/x"),
            ("v1/facet/", "/app/v1/facet/app/x"),
        ])
    func prefixes(_ prefix: String, _ path: String) async throws {
        let server = try ScriptedServer(.reply(200, #"{"ok":true}"#))
        let client = try client(server, prefix: prefix)
        let answer: AppResponse<Answer> = await client.facet("app").get("/x")
        #expect(answer.ok)
        #expect(server.requests.map(\.path) == [path])
        try await client.close()
    }

    @Test(
        "A name that would lead elsewhere is rejected, and nothing is sent",
        arguments: ["", "a/b", ".", "..", "/", "a/../../b"])
    func badNames(_ id: String) async throws {
        let server = try ScriptedServer(.reply(200, "{}"))
        let book = LogBook()
        let (told, teller) = AsyncStream<String?>.makeStream()
        let client = try RonClient(
            config: RonConfig(
                baseUrl: URL(string: server.url), allowInsecureHttp: true, logger: book.logger(),
                onResponse: { teller.yield($0.problem?.code) }))
        let answer: AppResponse<NoContent> = await client.facet(id).get("/x")
        #expect(answer.problem?.code == "local_invalid_facet")
        #expect(answer.problem?.kind == "local")
        #expect(answer.status == 0)
        #expect(server.requests.isEmpty)
        // It is a call like any other.
        #expect(await told.first { _ in true } == "local_invalid_facet")
        #expect(book.lines.map { $0.metadata["code"] } == ["local_invalid_facet"])
        try await client.close()
    }

    @Test(
        "A prefix that leads elsewhere, or repeats /app, is rejected",
        arguments: ["/app/facets", "app", "/facets/..", "../x", "/%2e%2e", "/a\nb"])
    func badPrefixes(_ prefix: String) throws {
        let config = RonConfig(baseUrl: URL(string: "https://node"), facetPrefix: prefix)
        let error = #expect(throws: SdkConfigError.self) { try RonClient(config: config) }
        #expect(error?.setting == "facetPrefix")
    }

    @Test("A route cannot leave its facet")
    func badRoute() async throws {
        let server = try ScriptedServer(.reply(200, "{}"))
        let client = try client(server)
        let answer: AppResponse<NoContent> = await client.facet("docs").get("/../auth/login")
        #expect(answer.problem?.code == "local_invalid_path")
        #expect(server.requests.isEmpty)
        try await client.close()
    }

    @Test("A node lists what it has loaded")
    func loaded() async throws {
        let server = try ScriptedServer(
            .reply(200, #"{"loaded":[{"id":"e","kind":"echo","routes":[{"method":"GET","path":"/"}]}]}"#))
        let client = try client(server)
        let facets = try await client.loadedFacets().get()
        #expect(facets.loaded == [LoadedFacet(id: "e", kind: .echo, routes: [LoadedRoute(method: "GET", path: "/")])])
        #expect(server.requests.map(\.path) == ["/app/facets/meta"])
        try await client.close()
    }
}

@Suite("Registering a facet") struct FacetRegistrationTests {
    private static let manifest = FacetManifest(id: "e", kind: .echo, routes: [.init("GET", "/")])

    /// Answers with these one after another, then with 204.
    private static func server(_ answers: [ScriptedServer.Answer]) throws -> ScriptedServer {
        let rest = Mutex(answers[...])
        return try ScriptedServer { _ in rest.withLock { $0.popFirst() } ?? .reply(204, "") }
    }

    @Test("It registers, sends heartbeats, and registers again with a node that has forgotten it")
    func life() async throws {
        let busy = #"{"code":"too_busy","message":"m","retryable":true,"retry_after_ms":7000}"#
        let server = try Self.server([
            .reply(503, busy), .reply(204, ""), .reply(204, ""), .reply(401, #"{"code":"UNAUTHORIZED","message":"m"}"#),
            .reply(404, #"{"code":"NOT_FOUND","message":"m"}"#),
        ])
        let client = try client(server)
        let clock = RecordingClock()
        let registration = try FacetRegistration(
            client: client, manifest: Self.manifest,
            settings: .init(jitter: 0, clock: clock))
        let failures = Mutex<[String]>([])
        let runner = Task { try await registration.run { problem in failures.withLock { $0.append(problem.code) } } }
        try await waitUntil("it is there again") { server.requests.count >= 8 }
        runner.cancel()
        try await runner.value
        let paths = server.requests.prefix(8).map(\.path)
        let (register, heartbeat) = ("/app/facets/register", "/app/facets/heartbeat")
        #expect(paths == [register, register, heartbeat, heartbeat, heartbeat, register, heartbeat, heartbeat])
        #expect(failures.withLock { $0 } == ["too_busy", "UNAUTHORIZED", "NOT_FOUND"])
        #expect(Array(clock.waits.prefix(6)) == [7, 30, 30, 0.5, 1, 30].map { .seconds($0) })
        #expect(server.requests[2].body == #"{"id":"e"}"#)
        let sent = try JSONDecoder().decode(FacetManifest.self, from: Data(server.requests[0].body.utf8))
        #expect(sent == Self.manifest)
        try await client.close()
    }

    @Test("A manifest permanently rejected by the node ends it")
    func refused() async throws {
        let server = try Self.server([.reply(400, #"{"code":"bad_request","message":"m","retryable":false}"#)])
        let client = try client(server)
        let registration = try FacetRegistration(client: client, manifest: Self.manifest)
        let error = await #expect(throws: RonProblem.self) { try await registration.run() }
        #expect(error?.code == "bad_request")
        #expect(server.requests.count == 1)
        try await client.close()
    }

    @Test("A server's requested wait is limited to five minutes, or to the interval if that is longer")
    func longWait() async throws {
        for (interval, wait) in [(30, 300), (900, 900)] {
            let server = try Self.server([
                .reply(503, #"{"code":"too_busy","message":"m","retryable":true,"retry_after_ms":1e300}"#)
            ])
            let client = try client(server)
            let clock = RecordingClock()
            let registration = try FacetRegistration(
                client: client, manifest: Self.manifest,
                settings: .init(interval: .seconds(interval), jitter: 0, clock: clock))
            let runner = Task { try await registration.run() }
            try await waitUntil("it is there") { server.requests.count >= 2 }
            runner.cancel()
            try await runner.value
            #expect(clock.waits.first == .seconds(wait))
            try await client.close()
        }
    }

    @Test("Settings that would poll a node without a pause are rejected, and named")
    func settings() async throws {
        let client = try client(try Self.server([]))
        var late = FacetRegistration.Settings()
        late.jitter = -0.1
        let broken: [(String, FacetRegistration.Settings)] = [
            ("interval", .init(interval: .zero)), ("interval", .init(interval: .seconds(-1))),
            ("firstDelay", .init(firstDelay: .zero)), ("jitter", .init(jitter: 1.1)), ("jitter", .init(jitter: .nan)),
            ("jitter", late),
        ]
        for (name, settings) in broken {
            let error = #expect(throws: SdkConfigError.self) {
                try FacetRegistration(client: client, manifest: Self.manifest, settings: settings)
            }
            #expect(error?.setting == "FacetRegistration.Settings.\(name)")
        }
        try await client.close()
    }

    @Test("A manifest that no loader would accept is rejected before anything is sent")
    func invalid() async throws {
        let server = try Self.server([])
        let client = try client(server)
        #expect(throws: FacetManifestError.self) {
            try FacetRegistration(client: client, manifest: FacetManifest(id: "", kind: .echo))
        }
        try await client.close()
    }
}
