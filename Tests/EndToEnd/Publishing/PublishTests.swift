import Foundation
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

/// The action `publish`, its courier, and `steward outbox`, through the binary and real sockets.
@Suite("Publishing, end to end")
struct PublishTests {
    private static let rule = """
        - rule: Tell
          in: dropbox
          settle: 50ms
          do:
            - publish: { to: hook, path: "/in/{{ file.stem }}", event: dropped }
        """

    private func steward(_ url: String, more: String = "") throws -> AgentFixture {
        let steward = try AgentFixture(
            configuration: "publish: { hook: { kind: webhook, url: \"\(url)\", allow-insecure-http: true\(more) } }")
        try steward.rule(Self.rule)
        return steward
    }

    @Test("An event is received once, signed with a secret from a file, and all commands report it")
    func delivers() async throws {
        let server = try ScriptedServer(.reply(200, "{}"))
        let steward = try steward(server.url + "/base", more: ", secret: hook-secret")
        let secrets = steward.home.path.appending(".config/steward/secrets")
        try Durable.makeDirectory(secrets, mode: 0o700)
        try Durable.replaceOwn(secrets.appending("hook-secret"), with: Array("s3cret\n".utf8), mode: 0o600)
        try await steward.start()
        try steward.drop("dropbox/a.txt", "what it holds")
        try steward.wait()
        let request = try #require(server.requests.first { $0.method == "POST" })
        #expect(server.requests.count { $0.method == "POST" } == 1)
        #expect(request.path == "/base/in/a")
        let body = try Answer(parsing: request.body)
        #expect(body["event"].text == "dropped" && body["file"]["name"].text == "a.txt" && body["rule"].text == "Tell")
        #expect(body["id"].text == request.headers["idempotency-key"])
        #expect(!request.body.contains("what it holds"), "a file goes by reference")
        let timestamp = try #require(request.headers["x-steward-timestamp"])
        let key = try #require(request.headers["idempotency-key"])
        let signed = try HMACSHA256.tag(Array("s3cret".utf8), Array("\(timestamp).\(key).\(request.body)".utf8))
        #expect(request.headers["x-steward-signature"] == "sha256=" + hexadecimal(signed))
        #expect(try steward.json(["outbox"]).items.isEmpty)
        let past = try #require(try steward.past("dropbox/a.txt").first)
        #expect(past["deliveries"].items.first?.text.hasPrefix("`dropped` to hook: delivered") == true)
        #expect(try steward.history().map { $0["kind"].text }.contains("delivered"))
        let undo = try steward.run(["undo", past["job"].text])
        #expect(undo.status == 1 && undo.errors.contains("cannot be taken back"), "\(undo.errors)")
        let finding = try #require(
            try Answer(parsing: steward.run(["doctor", "--json"]).output).items.first {
                $0["subject"].text == "publish hook"
            })
        #expect(finding["isWell"].isTrue, "\(finding)")
        try await steward.stop()
    }

    @Test("Without a receiver events wait in order, across a restart; then all of them arrive")
    func waits() async throws {
        let isUp = Atomic<Bool>(false)
        let server = try ScriptedServer { _ in isUp.load(ordering: .relaxed) ? .reply(200, "") : nil }
        let steward = try steward(server.url)
        try await steward.start()
        for name in ["a", "b", "c"] {
            try steward.drop(BytePath("dropbox/\(name).txt"), name)
            try steward.wait()
        }
        try await steward.until("the first has been tried") {
            try steward.json(["outbox"]).items.first?["problem"].text != ""
        }
        let outbox = try steward.json(["outbox"]).items
        #expect(outbox.map { $0["path"].text } == ["/in/a", "/in/b", "/in/c"])
        #expect(outbox[0]["problem"].text.contains("the connection ended"), "\(outbox[0]["problem"].text)")
        #expect(outbox.dropFirst().allSatisfy { $0["attempts"].number == 0 })
        #expect(outbox.dropFirst().allSatisfy { $0["behind"].text == outbox[0]["id"].text })
        #expect(try steward.json(["status"])["outbox"]["waiting"].number == 3)
        #expect(try steward.run(["status"]).output.contains("outbox: 3 waiting"))
        #expect(try await steward.stop() == 0)
        #expect(try steward.json(["status"])["outbox"]["waiting"].number == 3)
        isUp.store(true, ordering: .relaxed)
        try await steward.start()
        try steward.run(["outbox", "retry", "--all"]).check()
        try await steward.until("all have arrived") { try steward.json(["outbox"]).items.isEmpty }
        let taken = server.requests.map(\.path)
        #expect(Array(taken.drop { $0 == "/in/a" }) == ["/in/b", "/in/c"], "\(taken)")
        #expect(Set(server.requests.filter { $0.path == "/in/a" }.map { $0.headers["idempotency-key"] }).count == 1)
        try await steward.stop()
    }

    @Test("A rejected event is given up; it can be sent again or dropped, with and without an agent")
    func dead() async throws {
        let isStrict = Atomic<Bool>(true)
        let server = try ScriptedServer { _ in
            isStrict.load(ordering: .relaxed)
                ? .reply(422, "{\"code\":\"bad\",\"message\":\"no thanks\"}") : .reply(200, "")
        }
        let steward = try steward(server.url)
        try await steward.start()
        for name in ["a", "b", "c"] { try steward.drop(BytePath("dropbox/\(name).txt"), name) }
        try steward.wait()
        try await steward.until("all are given up") { try steward.json(["status"])["outbox"]["dead"].number == 3 }
        let shown = try steward.run(["outbox"]).check().output
        #expect(shown.contains("given up, one try: HTTP 422, bad: no thanks"), "\(shown)")
        isStrict.store(false, ordering: .relaxed)
        let ids = try steward.json(["outbox"]).items.map { $0["id"].text }
        try steward.run(["outbox", "retry", String(ids[0].prefix(12))]).check()
        try steward.wait()
        try await steward.until("it has arrived") {
            try steward.json(["outbox"]).items.map { $0["id"].text } == Array(ids.dropFirst())
        }
        try await steward.stop()
        #expect(try steward.run(["outbox", "drop", ids[1]]).check().output.contains("took dropped to hook out"))
        #expect(try steward.run(["outbox", "drop", ids[1]]).status == 64)
        #expect(try steward.run(["outbox", "drop", "nonsense"]).status == 64)
        #expect(try steward.run(["outbox", "retry"]).status == 64)
        let job = ids[2].prefix { $0 != "." }
        #expect(try steward.run(["undo", String(job)]).check().output.contains("removed the event from the outbox"))
        #expect(try steward.run(["outbox"]).check().output == "the outbox is empty\n")
        #expect(server.requests.count == 4)
    }

    @Test(
        "An event held by one that was given up is reported, with since when and the remedy; dropping that releases it")
    func held() async throws {
        let server = try ScriptedServer { request in
            request.path.hasSuffix("/a") ? .reply(422, "{\"code\":\"bad\"}") : .reply(200, "")
        }
        let steward = try steward(server.url, more: ", on-dead: hold")
        try await steward.start()
        for name in ["a", "b", "c"] {
            try steward.drop(BytePath("dropbox/\(name).txt"), name)
            try steward.wait()
        }
        try await steward.until("two are held") { try steward.json(["status"])["outbox"]["held"].number == 2 }
        let status = try steward.json(["status"])
        #expect(status["outbox"]["due"].number == 0)
        let outbox = try steward.json(["outbox"]).items
        let dead = try #require(outbox.first)
        #expect(dead["state"].text == "dead" && dead["heldBy"].text == "")
        #expect(outbox.dropFirst().map { $0["heldBy"].text } == [dead["id"].text, dead["id"].text])
        let lane = try #require(status["heldLanes"].items.first)
        #expect(lane["event"].text == dead["id"].text && lane["target"].text == "hook" && lane["waiting"].number == 2)
        let short = dead["id"].text.prefix(12) + dead["id"].text.drop { $0 != "." }
        for shown in [try steward.run(["status"]), try steward.run(["outbox"])] {
            #expect(try shown.check().output.contains("holds up 2 events behind it since 20"), "\(shown.output)")
            #expect(shown.output.contains("`steward outbox drop \(short)`"), "\(shown.output)")
        }
        #expect(try steward.run(["status"]).output.contains("2 waiting, 0 of them due, 2 held"))
        try steward.run(["outbox", "drop", dead["id"].text]).check()
        try await steward.until("the others have gone on") { try steward.json(["outbox"]).items.isEmpty }
        #expect(server.requests.map(\.path) == ["/in/a", "/in/b", "/in/c"])
        #expect(try steward.json(["status"])["heldLanes"].items.isEmpty)
        try await steward.stop()
    }

    @Test(
        "An event being sent when the agent was killed is sent again under the same key",
        arguments: ["sending", "sent"])
    func killed(at point: String) async throws {
        let server = try ScriptedServer(.reply(200, ""))
        let steward = try steward(server.url)
        try await steward.start(endingAt: "\(point):1")
        try steward.drop("dropbox/a.txt", "text")
        try await steward.endedThere()
        try await steward.start()
        try steward.wait()
        try await steward.until("it has arrived") { try steward.json(["outbox"]).items.isEmpty }
        #expect(server.requests.count == (point == "sent" ? 2 : 1))
        #expect(Set(server.requests.map { $0.headers["idempotency-key"] }).count == 1)
        #expect(try steward.past("dropbox/a.txt").map { $0["state"].text } == ["done"])
        try await steward.stop()
    }

    @Test("Stopping does not wait for a receiver that does not respond")
    func stops() async throws {
        let server = try ScriptedServer(ScriptedServer.Answer(bytes: [], ending: .held))
        let steward = try steward(server.url, more: ", timeout: 10m")
        try await steward.start()
        try steward.drop("dropbox/a.txt", "text")
        try await steward.until("it is under way") { !server.requests.isEmpty }
        #expect(try await steward.stop() == 0)
        #expect(try steward.json(["outbox"]).items.map { $0["state"].text } == ["waiting"])
    }

    @Test(
        "Errors in a target are reported with their position",
        arguments: [
            ("{ kind: webhook, url: \"http://x.example/\" }", "allow-insecure-http"),
            ("{ kind: webhook }", "has no `url`"),
            ("{ kind: hook, url: \"https://x.example\" }", "must be one of `ron`, `webhook`"),
            ("{ kind: webhook, url: \"https://u:p@x.example\" }", "would appear in logs"),
            ("{ kind: webhook, url: \"ftp://x.example\" }", "is not a URL that events can be sent to"),
            ("{ kind: ron, url: \"https://x.example\", secret: a }", "`secret` is for targets of the kind `webhook`"),
            ("{ kind: webhook, url: \"https://x.example\", token: \"Bearer abc\" }", "the name of a credential"),
            ("{ kind: webhook, url: \"https://x.example\", limit: 1 GiB }", "at most 16 MiB"),
            ("{ kind: ron, url: \"https://x.example\", facet: a, facet-prefix: \"a/\" }", "or `/` for none"),
            ("{ kind: ron, url: \"https://x.example\", facet: a, facet-prefix: \"/app/x\" }", "is added to every path"),
            ("{ kind: ron, url: \"https://x.example\", facet-prefix: \"/x\" }", "no effect without `facet`"),
            ("{ kind: ron, url: \"https://x.example\", limit: 2 MiB }", "at most 1 MiB"),
            ("{ kind: webhook, url: \"https://x.example\", on-dead: stop }", "must be one of `continue`, `hold`"),
            ("{ kind: webhook, url: \"https://x.example\", path: \"a b\" }", "begins with a slash"),
            ("{ kind: webhook, url: \"https://x.example\", tokn: a }", "did you mean `token`"),
        ])
    func complaints(_ target: String, _ said: String) throws {
        let steward = try AgentFixture(configuration: "publish: { hook: \(target) }")
        let check = try steward.run(["check"])
        #expect(check.status == 2 && check.output.contains(said), "\(check.output)")
        #expect(check.output.contains("steward.yaml:"))
    }

    @Test("`doctor` reports a receiver that does not respond, and a credential that is missing or readable by others")
    func doctor() async throws {
        func finding(_ steward: AgentFixture) throws -> Answer {
            try #require(
                try Answer(parsing: steward.run(["doctor", "--json"]).output).items.first {
                    $0["subject"].text == "publish hook"
                })
        }
        let gone = try ScriptedServer(.reply(200, ""))
        gone.stop()
        let silent = try finding(try steward(gone.url))
        #expect(silent["isWell"].isTrue == false && silent["message"].text.contains("nobody answers at"))
        let server = try ScriptedServer(.reply(200, ""))
        let keyless = try steward(server.url, more: ", token: hook-token")
        #expect(try finding(keyless)["message"].text == "there is no credential `hook-token`")
        let secrets = keyless.home.path.appending(".config/steward/secrets")
        try Durable.makeDirectory(secrets, mode: 0o700)
        try Durable.replaceOwn(secrets.appending("hook-token"), with: Array("abc".utf8), mode: 0o644)
        #expect(try finding(keyless)["message"].text.contains("other users may read"))
        keyless.variables["HOOK_TOKEN_API_KEY"] = "abc"
        #expect(try finding(keyless)["isWell"].isTrue)
    }

    @Test("The example rule loads and plans unchanged once its target is configured")
    func example() async throws {
        let server = try ScriptedServer(.reply(200, ""))
        let steward = try AgentFixture(
            configuration: """
                publish:
                  hub: { kind: ron, url: "\(server.url)", allow-insecure-http: true, facet: library }
                  hook: { kind: webhook, url: "\(server.url)/hook", allow-insecure-http: true }
                """)
        try steward.rule("40-publish.yaml", try ShippedRules.read("40-publish.yaml.example"))
        #expect(try steward.run(["check"]).check().output.contains(", 0 errors, 0 warnings"))
        let file = try steward.drop("drafts/essay.md", "---\nstatus: done\n---\n# On houses\n\nText.\n")
        let explained = try steward.run(["explain", file.text]).check().output
        #expect(explained.contains("send `draft.done` to hook"), "\(explained)")
        try await steward.start()
        try steward.drop("library/Saga/Saga 01.cbz", "not looked into here")
        try steward.drop("drafts/other.md", "---\nstatus: done\n---\n# \"Quoted\"\n\nText.\n")
        try steward.wait()
        try await steward.until("all have arrived") { try steward.json(["outbox"]).items.isEmpty }
        let hook = try #require(server.requests.first { $0.path.hasPrefix("/hook") })
        #expect(try Answer(parsing: hook.body)["title"].text == "\"Quoted\"")
        let hub = try #require(server.requests.first { $0.path.hasPrefix("/app") })
        #expect(hub.path == "/app/facets/library/comics/Saga%2001")
        #expect(try Answer(parsing: hub.body)["file"]["path"].text == "Saga/Saga 01.cbz")
        try await steward.stop()
    }
}
