import Foundation
import Platform
import RonAppSdkSwift
import RuleActions
import TestSupport
import Testing

@Suite("Sending an event over HTTP") struct SenderTests {
    private static let event = OutgoingEvent(
        id: "0123456789abcdef0123456789abcdef.0", event: "file.arrived", path: "/in/a%20b", body: "{\"a\":1}",
        attempt: 2)

    private func sender(
        _ server: ScriptedServer, _ kind: PublishTarget.Kind, path: String = "/base",
        credentials: [String: String] = [:], set: (inout PublishTarget) -> Void = { _ in }
    ) throws -> any EventSender {
        let url = try #require(URL(string: server.url + path))
        var target = PublishTarget(name: "t", kind: kind, url: url)
        target.allowsInsecureHTTP = true
        set(&target)
        let found = PublishSenders.senders(for: [target], transport: AsyncHTTPTransport()) { name in
            credentials[name].map { SecretBytes(lockedWherePossible: $0.utf8) }
        }
        return try #require(found["t"])
    }

    @Test("A webhook gets the unchanged body, the event's id as its key, and a verifiable signature")
    func webhook() async throws {
        let server = try ScriptedServer(.reply(200, "{}"))
        let sender = try sender(
            server, .webhook, path: "/base?x=1", credentials: ["hook": "s3cret", "who": "abc"],
            set: { ($0.secret, $0.token) = ("hook", "who") })
        #expect(await sender.send(Self.event) == .delivered(status: 200))
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.path == "/base/in/a%20b?x=1" && request.body == "{\"a\":1}")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["idempotency-key"] == Self.event.id)
        #expect(request.headers["x-idempotency-key"] == Self.event.id)
        #expect(request.headers["x-steward-event"] == "file.arrived")
        #expect(request.headers["x-steward-delivery"] == "\(Self.event.id)/2")
        #expect(request.headers["authorization"] == "Bearer abc")
        let timestamp = try #require(request.headers["x-steward-timestamp"])
        let signed = try HMACSHA256.tag(Array("s3cret".utf8), Array("\(timestamp).\(Self.event.id).{\"a\":1}".utf8))
        #expect(request.headers["x-steward-signature"] == "sha256=" + hexadecimal(signed))
    }

    @Test("A node gets it below its app plane, in the right facet, with both idempotency headers")
    func ron() async throws {
        let server = try ScriptedServer(.reply(202, "{\"ok\":true}"))
        let sender = try sender(
            server, .ron, path: "", credentials: ["node": "Macro xyz"], set: { ($0.token, $0.facet) = ("node", "feed") }
        )
        #expect(await sender.send(Self.event) == .delivered(status: 202))
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.path == "/app/facets/feed/in/a%20b" && request.body == "{\"a\":1}")
        #expect(request.headers["idempotency-key"] == Self.event.id)
        #expect(request.headers["x-idempotency-key"] == Self.event.id)
        #expect(request.headers["authorization"] == "Macro xyz")
        #expect(request.headers["x-steward-event"] == "file.arrived")
    }

    @Test("A facet is found where the target says its node has them", arguments: ["", "/v1/facet"])
    func facetPrefix(_ prefix: String) async throws {
        let server = try ScriptedServer(.reply(202, "{}"))
        let sender = try sender(server, .ron, path: "", set: { ($0.facet, $0.facetPrefix) = ("feed", prefix) })
        #expect(await sender.send(Self.event) == .delivered(status: 202))
        #expect(server.requests.map(\.path) == ["/app\(prefix)/feed/in/a%20b"])
    }

    @Test("A response decides about the event, alike for both kinds", arguments: PublishTarget.Kind.allCases)
    func answers(_ kind: PublishTarget.Kind) async throws {
        let problem = "{\"code\":\"too_busy\",\"message\":\"later\",\"retryable\":true,\"retry_after_ms\":250}"
        let cases: [(ScriptedServer.Answer, SendOutcome)] = [
            (.reply(204, ""), .delivered(status: 204)),
            (.reply(200, "no JSON"), .delivered(status: 200)),
            (.reply(503, problem), .retry(after: 0.25, status: 503, reason: "HTTP 503, too_busy: later")),
            (
                .reply(429, "slow down", headers: ["content-type": "text/plain", "retry-after": "7"]),
                .retry(after: 7, status: 429, reason: "HTTP 429")
            ),
            (
                .reply(401, "{\"code\":\"UNAUTHORIZED\"}"),
                .retry(after: nil, status: 401, reason: "HTTP 401, UNAUTHORIZED")
            ),
            (.reply(409, "{}"), .retry(after: nil, status: 409, reason: "HTTP 409")),
            (.reply(408, ""), .retry(after: nil, status: 408, reason: "HTTP 408")),
            (
                .reply(403, "{\"code\":\"POLICY_DENY\",\"message\":\"no\\u001b[2J\"}"),
                .refused(status: 403, reason: "HTTP 403, POLICY_DENY: no [2J")
            ),
            (
                .reply(404, "not found", headers: ["content-type": "text/plain"]),
                .refused(status: 404, reason: "HTTP 404")
            ),
            (.reply(413, "{}"), .refused(status: 413, reason: "HTTP 413")),
            (
                .reply(302, "", headers: ["location": "http://127.0.0.1:1/"]),
                .refused(
                    status: 302,
                    reason: "HTTP 302: redirects are not followed; update the target's `url`")
            ),
        ]
        for (answer, wanted) in cases {
            let server = try ScriptedServer(answer)
            let outcome = await (try sender(server, kind, path: "")).send(Self.event)
            #expect(outcome == wanted)
            #expect(server.requests.count == 1)
        }
    }

    @Test("A date in `Retry-After` counts from now", arguments: PublishTarget.Kind.allCases)
    func date(_ kind: PublishTarget.Kind) async throws {
        let server = try ScriptedServer(
            .reply(503, "", headers: ["retry-after": "Fri, 31 Dec 2100 23:59:59 GMT"]))
        guard case .retry(let after?, 503, _) = await (try sender(server, kind, path: "")).send(Self.event) else {
            Issue.record("it is not to be tried again later")
            return
        }
        #expect(after > 86_400 * 20)
    }

    @Test("No response, a partial one, and an unreachable host are retried", arguments: PublishTarget.Kind.allCases)
    func noAnswer(_ kind: PublishTarget.Kind) async throws {
        let hung = try ScriptedServer { _ in nil }
        let silent = try ScriptedServer(ScriptedServer.Answer(bytes: [Array("HTTP/1.1 ".utf8)], ending: .held))
        let gone = try ScriptedServer(.reply(200, ""))
        gone.stop()
        for server in [hung, silent, gone] {
            let sender = try sender(server, kind, path: "", set: { $0.timeout = 0.3 })
            guard case .retry(nil, nil, let reason) = await sender.send(Self.event) else {
                Issue.record("it is not to be tried again")
                continue
            }
            #expect(!reason.isEmpty)
        }
    }

    @Test("Without its credential nothing is sent, and the event waits", arguments: PublishTarget.Kind.allCases)
    func noCredential(_ kind: PublishTarget.Kind) async throws {
        let server = try ScriptedServer(.reply(200, ""))
        for credentials: [String: String] in [[:], ["who": "a\r\nX-Evil: 1"]] {
            let sender = try sender(server, kind, path: "", credentials: credentials, set: { $0.token = "who" })
            guard case .notSent(let reason) = await sender.send(Self.event) else {
                Issue.record("it does not wait")
                continue
            }
            #expect(reason.contains("`who`") && !reason.contains("Evil"), "\(reason)")
        }
        #expect(server.requests.isEmpty)
    }

    @Test("Cancelling the task ends the attempt", arguments: PublishTarget.Kind.allCases)
    func cancelled(_ kind: PublishTarget.Kind) async throws {
        let server = try ScriptedServer(ScriptedServer.Answer(bytes: [], ending: .held))
        let sender = try sender(server, kind, path: "", set: { $0.timeout = 600 })
        let task = Task { await sender.send(Self.event) }
        try await waitUntil("it has been asked") { !server.requests.isEmpty }
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test(
        "Reachability is checked without an event or a credential",
        arguments: PublishTarget.Kind.allCases)
    func reachable(_ kind: PublishTarget.Kind) async throws {
        let server = try ScriptedServer(.reply(404, ""))
        let sender = try sender(server, kind, path: "", credentials: ["who": "abc"], set: { $0.token = "who" })
        #expect(await sender.unreachable() == nil)
        #expect(server.requests.allSatisfy { $0.body.isEmpty && $0.headers["authorization"] == nil })
        server.stop()
        let gone = try ScriptedServer(.reply(200, ""))
        gone.stop()
        #expect(await (try self.sender(gone, kind, path: "")).unreachable() != nil)
    }

    @Test(
        "The manual's Python receiver accepts a signed event, once, and nothing else",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3"))
    func python() async throws {
        let folder = try TemporaryFolder("receiver")
        let receiver = try WebhookReceiver(in: folder, secret: "s3cret")
        defer { receiver.kill() }
        let url = try #require(URL(string: "http://127.0.0.1:\(receiver.port)/"))
        func sender(_ secret: String) throws -> any EventSender {
            var target = PublishTarget(name: "t", kind: .webhook, url: url)
            (target.allowsInsecureHTTP, target.secret) = (true, "hook")
            let found = PublishSenders.senders(for: [target], transport: AsyncHTTPTransport()) { _ in
                SecretBytes(lockedWherePossible: secret.utf8)
            }
            return try #require(found["t"])
        }
        #expect(await (try sender("s3cret")).send(Self.event) == .delivered(status: 202))
        #expect(await (try sender("s3cret")).send(Self.event) == .delivered(status: 202))
        #expect(
            await (try sender("another")).send(Self.event)
                == .retry(after: nil, status: 401, reason: "HTTP 401, bad_signature: the signature does not match"),
            "a secret that is being changed costs no event")
        let taken = try receiver.taken()
        #expect(taken.map { $0["id"].text } == [Self.event.id] && taken[0]["body"].text == "{\"a\":1}")
    }
}
