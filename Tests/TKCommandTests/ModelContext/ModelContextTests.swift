import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// `tk mcp` by its protocol, and by the protocol's own Python library.
@Suite("Model context", .timeLimit(.minutes(30)))
struct ModelContextTests {
    private let fixture: CommandFixture

    init() throws {
        fixture = try CommandFixture()
        try fixture.write("drafts/essay.md", sampleDraft)
    }

    private func client(revision: String = "2025-06-18") async throws -> ContextClient {
        try await ContextClient(fixture, ["drafts"], revision: revision)
    }

    // MARK: Protocol

    @Test(
        "The protocol's revision is agreed on",
        arguments: [
            ("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18"),
            ("1999-01-01", "2025-06-18"),
        ])
    func revisions(wanted: String, agreed: String) async throws {
        let client = try await client(revision: wanted)
        #expect(client.revision == agreed)
        #expect(try await client.call("list_drafts").failure == nil)
        try client.raw(
            "[{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]")
        // Only one revision has batches.
        let reply = try await client.line("an answer to a batch") { $0["id"] as? String == "b" || $0["error"] != nil }
        #expect((reply["result"] != nil) == (agreed == "2025-03-26"))
        #expect(try client.ends().status == 0)
    }

    @Test(
        "A request that is none gets an error, and the next one its answer",
        arguments: [
            ("{", -32700), ("7", -32600), (#"{"jsonrpc":"2.0","id":9}"#, -32600),
            (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#, -32600),
            (#"{"jsonrpc":"2.0","id":9,"method":"prompts/list"}"#, -32601),
            (#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"apply"}}"#, -32602),
            (#"{"jsonrpc":"2.0","id":9,"method":"tools/call"}"#, -32602),
            (#"{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}"#, -32002),
        ])
    func errors(line: String, code: Int) async throws {
        let client = try await client()
        try client.raw(line)
        let reply = try await client.line("an error") { $0["error"] != nil }
        #expect((reply["error"] as? [String: Any])?["code"] as? Int == code)
        #expect(try await client.request("ping")["result"] != nil)
    }

    @Test("Nothing but the handshake is answered before it")
    func handshake() throws {
        let lines = ["tools/list", "server/discover", "ping"].enumerated().map {
            "{\"jsonrpc\":\"2.0\",\"id\":\($0.offset),\"method\":\"\($0.element)\"}\n"
        }
        let result = try fixture.tk(
            ["mcp", "drafts"], input: lines.joined() + "\r\n{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n")
        let replies = result.output.split(separator: "\n").sorted()
        try #require(replies.count == 3, "\(result.output)\(result.errors)")
        #expect(replies.contains { $0.contains("-32600") && $0.contains("\"id\":0") })
        #expect(replies.contains { $0.contains("-32601") && $0.contains("\"id\":1") })
        #expect(replies.contains { $0.contains("\"result\":{}") && $0.contains("\"id\":2") })
        #expect(result.status == 0)
    }

    @Test("A call that was cancelled gets no reply")
    func cancelled() async throws {
        let client = try await client()
        let folder = fixture.home.path.appending("drafts/.tk/reviews")
        try FileManager.default.createDirectory(atPath: folder.text, withIntermediateDirectories: true)
        var lock: Descriptor? = try Descriptor(folder)
        try #require(try FileLock.acquire(.exclusive, on: #require(lock), by: .whole))
        let id = try client.start(
            "tools/call",
            [
                "name": "comment", "arguments": ["draft": "essay.md", "quote": "The system", "comment": "Which?"],
            ])
        try client.send(["jsonrpc": "2.0", "method": "notifications/cancelled", "params": ["requestId": id]])
        #expect(try await client.request("ping")["result"] != nil)
        lock = nil
        #expect(try client.ends().replies.contains(id) == false)
    }

    // MARK: Reviewing

    @Test("An agent reads, proposes and comments; the draft stays, and the writer sees whose words they are")
    func review() async throws {
        let client = try await client()
        let drafts = try await client.call("list_drafts").value["drafts"] as? [[String: Any]]
        #expect(drafts?.map { $0["path"] as? String } == ["essay.md"])
        #expect(drafts?.first?["title"] as? String == "Manual")
        var read = try await client.call("read_draft", ["draft": "essay.md"]).value
        #expect(read["text"] as? String == sampleDraft)
        #expect(Self.findings(read).map(\.quote) == ["utilized", "was was", "in order to"])

        let proposal = [
            "draft": "essay.md", "quote": "The system", "replacement": "The program", "reason": "It is no system.",
        ]
        var told = try await client.call("propose", proposal).value
        #expect(told["status"] as? String == "added")
        told = try await client.call("propose", proposal).value
        #expect(told["status"] as? String == "known")
        told = try await client.call(
            "propose",
            ["draft": "essay.md", "quote": "# Manual", "replacement": "## Manual", "reason": "Lower."]
        ).value
        #expect((told["message"] as? String)?.hasPrefix("Added as a remark") ?? false, "\(told)")
        #expect(
            try await client.call("comment", ["draft": "essay.md", "quote": "data", "comment": "Which?"]).failure == nil
        )

        #expect(try fixture.read("drafts/essay.md") == sampleDraft)
        let sidecar = try fixture.read("drafts/essay.review.md")
        for words in ["tester", "The program", "It is no system.", "Which?"] { #expect(sidecar.contains(words)) }
        read = try await client.call("read_draft", ["draft": "essay.md"]).value
        let mine = Self.findings(read).filter { $0.by == "tester" }
        #expect(mine.count == 3, "\(mine)")

        let key = try #require(mine.first { $0.quote == "The system" }?.id)
        let answer = ["draft": "essay.md", "finding": key, "answer": "It is one.", "replacement": "The tool"]
        #expect(try await client.call("answer_question", answer).failure?.contains("asks nothing") ?? false)
        // No agent of Steward has read the mark.
        let lines = try fixture.read("drafts/essay.review.md").split(separator: "\n", omittingEmptySubsequences: false)
        let marked = lines.map { $0.contains("**\(key)**") ? "- [?]\($0.dropFirst(5)) Is it one?" : String($0) }
        try fixture.write("drafts/essay.review.md", marked.joined(separator: "\n"))
        read = try await client.call("read_draft", ["draft": "essay.md"]).value
        #expect(Self.questions(read, key) == [["question": "Is it one?"]])
        told = try await client.call("answer_question", answer).value
        #expect(told["status"] as? String == "answered", "\(told)")
        let answered = try fixture.read("drafts/essay.review.md")
        #expect(answered.contains("  You asked: Is it one?\n\n  tester: It is one.\n"), "\(answered)")
        #expect(answered.contains("  The tool\n") && !answered.contains("- [?]"), "\(answered)")
        read = try await client.call("read_draft", ["draft": "essay.md"]).value
        #expect(Self.questions(read, key) == [["question": "Is it one?", "by": "tester", "answer": "It is one."]])
        #expect(try client.ends().status == 0)
    }

    private static func questions(_ read: [String: Any], _ key: String) -> [[String: String]]? {
        let finding = (read["findings"] as? [[String: Any]])?.first { $0["id"] as? String == key }
        return finding?["questions"] as? [[String: String]]
    }

    @Test("Where a draft stands is told")
    func stage() async throws {
        _ = try fixture.tk(["journey", "start", "drafts/essay.md"])
        let client = try await client()
        for told in [
            try await client.call("read_draft", ["draft": "essay.md"]).value,
            (try await client.call("list_drafts").value["drafts"] as? [[String: Any]])?.first ?? [:],
        ] {
            #expect(told["stage"] as? String == "draft" && told["draft_stage"] as? String == "early", "\(told)")
            #expect(told["cycle"] as? Int == 0)
        }
    }

    private static func findings(_ read: [String: Any]) -> [(id: String, by: String, quote: String)] {
        (read["findings"] as? [[String: Any]] ?? []).map {
            ($0["id"] as? String ?? "", $0["by"] as? String ?? "", $0["quote"] as? String ?? "")
        }
    }

    @Test("What a call lacks is said to the agent")
    func complaints() async throws {
        try fixture.write("drafts/twice.md", "One word and one word.\n")
        try fixture.home.write("drafts/latin.md", [0x41, 0xFF])
        let client = try await client()
        let cases: [(String, [String: Any], String)] = [
            ("read_draft", [:], "needs the argument `draft`"),
            ("read_draft", ["draft": 7], "`draft` is a string"),
            ("read_draft", ["draft": "essay.md", "form_line": 1], "no argument `form_line`"),
            ("list_drafts", ["draft": "essay.md"], "it takes none"),
            ("read_draft", ["draft": "latin.md"], "UTF-8"),
            ("comment", ["draft": "essay.md", "quote": "nowhere", "comment": "?"], "not in the draft"),
            ("comment", ["draft": "essay.md", "quote": "data", "comment": " \n"], "the comment is empty"),
            ("comment", ["draft": "twice.md", "quote": "word", "comment": "?"], "in 2 places"),
            ("answer_question", ["draft": "essay.md", "finding": "abcd", "answer": "?"], "no open finding abcd"),
            (
                "comment", ["draft": "essay.md", "quote": "data", "comment": String(repeating: "x", count: 20_000)],
                "say less"
            ),
        ]
        for (tool, arguments, words) in cases {
            let failure = try await client.call(tool, arguments).failure
            #expect(failure?.contains(words) ?? false, "\(arguments): \(failure ?? "done")")
        }
        let told = try await client.call(
            "comment", ["draft": "twice.md", "quote": "word", "before": "and one ", "comment": "Again?"])
        #expect(told.failure == nil)
    }

    @Test("Nothing outside the folders is read, by no name and no link")
    func outside() async throws {
        try fixture.write("secret.md", "A secret.\n")
        try fixture.write("drafts/.hidden/plan.md", "A secret.\n")
        try fixture.write("drafts/.env.md", "A secret.\n")
        try fixture.write("drafts/key.pem", "A secret.\n")
        try fixture.write("drafts/sub/own.md", "Words.\n")
        let drafts = fixture.home.path.appending("drafts")
        try FileManager.default.createSymbolicLink(
            atPath: drafts.appending("link.md").text, withDestinationPath: "../secret.md")
        try FileManager.default.createSymbolicLink(
            atPath: drafts.appending("up").text, withDestinationPath: "..")
        let client = try await client()
        let names = [
            "../secret.md", fixture.home.path.appending("secret.md").text, "link.md", "up/secret.md", "/etc/passwd",
            "sub/../../secret.md", ".hidden/plan.md", ".env.md", "key.pem", "sub", "", ".", "none.md",
        ]
        for name in names {
            let failure = try await client.call("read_draft", ["draft": name]).failure
            #expect(failure?.contains("list_drafts names those") ?? false, "\(name): \(failure ?? "read")")
            let added = try await client.call("comment", ["draft": name, "quote": "secret", "comment": "?"]).failure
            #expect(added != nil, "\(name)")
        }
        let listed = try await client.call("list_drafts").value["drafts"] as? [[String: Any]] ?? []
        #expect(listed.compactMap { $0["path"] as? String }.sorted() == ["essay.md", "sub/own.md"])
        #expect(try await client.call("read_draft", ["draft": "sub/own.md"]).value["text"] as? String == "Words.\n")
        let addresses = (try await client.request("resources/list")["result"] as? [String: Any])?["resources"]
        #expect((addresses as? [[String: Any]])?.count == 2)
        #expect(try fixture.tk(["mcp", "none"]).status == 1)
    }

    @Test("The client's roots count beside the folders of the command line, and alone if there are none")
    func roots() async throws {
        try fixture.write("one/a.md", "Words.\n")
        try fixture.write("two/b.md", "Words.\n")
        func root(_ name: BytePath) -> String { "file://\(fixture.home.path.appending(name).text)" }
        func names(_ client: ContextClient) async throws -> [String] {
            let drafts = try await client.call("list_drafts").value["drafts"] as? [[String: Any]] ?? []
            return drafts.compactMap { ($0["path"] as? String)?.split(separator: "/").last.map(String.init) }.sorted()
        }
        for (named, own) in [(["drafts"], ["essay.md"]), ([], [])] {
            let client = try await ContextClient(fixture, named, hasRoots: true)
            // The call waits for the roots.
            let first = try client.start("tools/call", ["name": "list_drafts"])
            try await client.tell(roots: [root("one"), "https://example.org/", root("gone"), root("one/a.md")])
            let drafts = String(describing: try await client.reply(to: first))
            #expect(drafts.contains("a.md") && drafts.contains("essay.md") == !own.isEmpty, "\(drafts)")
            #expect(try await client.call("read_draft", ["draft": "b.md"]).failure != nil)
            try client.send(["jsonrpc": "2.0", "method": "notifications/roots/list_changed"])
            try await client.tell(roots: [root("two")])
            #expect(try await names(client) == (["b.md"] + own).sorted())
            try client.send(["jsonrpc": "2.0", "method": "notifications/roots/list_changed"])
            try await client.tell(roots: nil)
            #expect(try await names(client) == (["b.md"] + own).sorted())
            try client.send(["jsonrpc": "2.0", "method": "notifications/roots/list_changed"])
            try await client.tell(roots: [])
            #expect(try await names(client) == (own.isEmpty ? ["a.md", "b.md", "essay.md"] : own))
            #expect(try client.ends().status == 0)
        }
        // One that offers them and leaves is answered all the same.
        let client = try await ContextClient(fixture, ["drafts"], hasRoots: true)
        let last = try client.start("tools/call", ["name": "list_drafts"])
        #expect(try client.ends().replies.contains(last))
    }

    @Test(
        "The protocol's own Python library understands everything",
        .enabled("Python and PyPI's mcp are wanted (see Tests/Peers/mcp-peers.sh)") {
            await ContextPeer.python.value != nil
        })
    func peer() async throws {
        let python = try #require(await ContextPeer.python.value)
        let result = try fixture.home.run(
            [
                python, ContextPeer.script("mcp_client.py"), CommandFixture.binary,
                fixture.home.path.appending("drafts").text, "essay.md",
            ], environment: fixture.environment)
        try #require(result.status == 0, "\(result.errors)")
        let told = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any] ?? [:]
        #expect(told["protocol"] as? String == "2025-06-18")
        #expect(told["resource"] as? String == sampleDraft)
        #expect((told["tools"] as? [String])?.count == 5)
        for (call, failed) in [("drafts", false), ("before", false), ("proposed", false), ("lost", true)] {
            #expect((told[call] as? [String: Any])?["failed"] as? Bool == failed, "\(told)")
        }
        let read = (told["after"] as? [String: Any])?["value"] as? [String: Any] ?? [:]
        #expect(Self.findings(read).filter { $0.by == "peer" }.map(\.quote).sorted() == ["The system", "process data"])
        #expect(try fixture.read("drafts/essay.md") == sampleDraft)
    }
}

/// The Python of `Tests/Peers/mcp-peers.sh`.
enum ContextPeer {
    static func script(_ name: String) -> String { Checkout.root.appending("Tests/Peers/\(name)").text }

    /// nil if there is none.
    static let python = Task<String?, Never> {
        guard ProcessInfo.processInfo.environment["STEWARD_TEST_PEERS"] != "0" else { return nil }
        do {
            let program = BytePath(CommandFixture.binary)
            let build = (program.real ?? program).parent.parent.parent
            let made = try await runProgramAside(["/bin/sh", script("mcp-peers.sh"), build.text + "/mcp-peers"])
            guard made.status == 0, let folder = made.output.split(separator: "\n").last else {
                print("tests that want mcp-peers.sh are skipped: \(made.errors)")
                return nil
            }
            return folder + "/bin/python"
        } catch {
            print("tests that want mcp-peers.sh are skipped: \(error)")
            return nil
        }
    }
}
