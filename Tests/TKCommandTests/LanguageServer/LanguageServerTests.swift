import Foundation
import NoteActions
import Platform
import TKCore
import TestSupport
import Testing

/// `tk lsp` by its protocol: documents, findings, and answers to them.
@Suite("Language server", .timeLimit(.minutes(30)))
struct LanguageServerTests {
    let fixture: CommandFixture

    init() throws { fixture = try CommandFixture() }

    static let sample = ["wordy: utilized", "repeated-word: was was", "wordy: in order to"]

    // MARK: Documents

    @Test("Findings are about the words of the buffer, however columns are counted", arguments: ["utf-8", "utf-16"])
    func positions(encoding: String) async throws {
        let text = "# Überschrift 🐦\r\n\r\n🐦🐦 It was was é utilized.\rAnd so 😀 it is is so.\n"
        let client = try await LanguageClient(fixture, text, encoding: encoding)
        #expect(
            try await client.findings() == ["repeated-word: was was", "wordy: utilized", "repeated-word: is is"])
        #expect(try client.ends() == 1, "the editor has gone without `exit`")
    }

    @Test("Findings are published with the version that they are about, and follow what is typed")
    func published() async throws {
        let client = try await LanguageClient(fixture, sampleDraft)
        var message = try await client.message("diagnostics") {
            $0["method"] as? String == "textDocument/publishDiagnostics"
        }
        var parameters = try #require(message["params"] as? [String: Any])
        #expect(parameters["version"] as? Int == client.version)
        #expect((parameters["diagnostics"] as? [Any])?.count == 3)
        try client.change(from: client.text.count - 1, to: client.text.count - 1, " It is is so.")
        let version = client.version
        message = try await client.message("diagnostics of the change") {
            ($0["params"] as? [String: Any])?["version"] as? Int == version
        }
        parameters = try #require(message["params"] as? [String: Any])
        #expect((parameters["diagnostics"] as? [Any])?.count == 4)
        try client.notify("textDocument/didClose", ["textDocument": ["uri": client.uri]])
        message = try await client.message("no diagnostics") {
            (($0["params"] as? [String: Any])?["diagnostics"] as? [Any])?.isEmpty ?? false
        }
    }

    @Test("An editor pulls its findings if it can be told to, and gets them pushed otherwise")
    func pulledOrPushed() async throws {
        for refreshes in [false, true] {
            let client = try await LanguageClient(
                fixture, sampleDraft,
                more: [
                    "textDocument": ["diagnostic": [String: Any]()],
                    "workspace": ["diagnostics": ["refreshSupport": refreshes]],
                ])
            #expect((client.abilities["diagnosticProvider"] != nil) == refreshes)
            let ways = ["textDocument/publishDiagnostics", "workspace/diagnostic/refresh"]
            let message = try await client.message("findings, or the wish to pull them") {
                ways.contains($0["method"] as? String ?? "")
            }
            #expect((message["method"] as? String == "workspace/diagnostic/refresh") == refreshes)
            #expect(try await client.findings() == Self.sample)
        }
    }

    @Test("After any history of edits, findings are those of the text as a whole", arguments: ["utf-8", "utf-16"])
    func history(encoding: String) async throws {
        var random = SeededGenerator(for: "edits")
        let pieces = [
            "It was was so. ", "🐦", "é", "\r\n", "\n", "\r", "in order to ", "utilized ", "# Heading\n", "`code` ",
            "\n\n",
        ]
        let client = try await LanguageClient(fixture, sampleDraft, encoding: encoding)
        for _ in 0..<60 {
            // An editor has no position between the two of CRLF.
            var places = [0]
            var bytes = 0
            var last: Unicode.Scalar?
            for scalar in client.string.unicodeScalars {
                if last == "\r", scalar == "\n" { places.removeLast() }
                bytes += UTF8.width(scalar)
                places.append(bytes)
                last = scalar
            }
            let start = Int.random(in: 0..<places.count, using: &random)
            let length = Bool.random(using: &random) ? 0 : Int.random(in: 0...12, using: &random)
            let end = min(places.count - 1, start + length)
            let new = Bool.random(using: &random) ? pieces.randomElement(using: &random) ?? "" : ""
            try client.change(from: places[start], to: places[end], new)
        }
        let edited = try await client.findings()
        try client.open(client.string)
        #expect(try await client.findings() == edited)
        let quick = try fixture.tk(["suggest", "--quick", "--json", "-"], input: client.string)
        #expect(quick.output.components(separatedBy: "\"original").count - 1 == edited.count, "\(client.string)")
    }

    @Test("Nothing is found in a sidecar, or in a format whose prose is not known")
    func others() async throws {
        let client = try await LanguageClient(
            fixture, SidecarMark.line("a.md") + "\nIt was was so.\n", name: "a.review.md")
        #expect(try await client.findings().isEmpty)
        let code = try await LanguageClient(fixture, "# It was was so.\n", name: "a.py")
        #expect(try await code.findings().isEmpty)
    }

    // MARK: Answers

    @Test("A proposal that is taken goes into the buffer, and stays out of sight")
    func taken() async throws {
        let client = try await LanguageClient(fixture, sampleDraft)
        #expect(try await client.lens() == "tk: 3 findings · review now")
        let reply = try await client.does("Change to “used”", at: "utilized")
        #expect(reply["error"] == nil, "\(reply)")
        #expect(client.string == sampleDraft.replacing("utilized", with: "used"))
        #expect(try await client.findings() == Array(Self.sample.dropFirst()))
        #expect(try await client.lens() == "tk: 2 findings, 1 taken · review now")
    }

    @Test("What the editor refuses is not recorded")
    func refused() async throws {
        let client = try await LanguageClient(fixture, sampleDraft)
        client.obedience = .refuses
        let reply = try await client.does("Change to “used”", at: "utilized")
        #expect((reply["error"] as? [String: Any])?["message"] as? String == "the editor did not make the change")
        #expect(client.string == sampleDraft)
        #expect(try await client.findings() == Self.sample)
    }

    @Test("If the buffer changes before the editor makes the change, it is decided again")
    func stale() async throws {
        let client = try await LanguageClient(fixture, sampleDraft)
        client.obedience = .types("More.\n")
        let reply = try await client.does("Change to “used”", at: "utilized")
        #expect(reply["error"] == nil, "\(reply)")
        #expect(client.string == sampleDraft.replacing("utilized", with: "used") + "More.\n")
    }

    @Test("The same words can be changed everywhere in the draft")
    func everywhere() async throws {
        let text = "It was utilized here, and it was utilized there.\n\n😀 It is is so, and utilized.\n"
        let client = try await LanguageClient(fixture, text)
        _ = try await client.does("Change to “used”, 3 times", at: "utilized")
        #expect(client.string == text.replacing("utilized", with: "used"))
        #expect(try await client.findings() == ["repeated-word: is is"])
    }

    @Test("A finding that is skipped does not come back, also after edits elsewhere")
    func skipped() async throws {
        let client = try await LanguageClient(fixture, sampleDraft)
        _ = try await client.does("Skip", at: "utilized")
        #expect(try await client.findings() == Array(Self.sample.dropFirst()))
        try client.change(from: 0, to: 0, "It goes on.\n\n")
        #expect(try await client.findings() == Array(Self.sample.dropFirst()))
    }

    @Test(
        "A rule can be ignored in a paragraph, in the draft, and everywhere",
        arguments: [
            ("in this paragraph", 1, "<!-- tk: ignore repeated-word -->\nIt was was so.\n\nThat is is so.\n"),
            ("in this draft", 0, "<!-- tk: off repeated-word -->\nIt was was so.\n\nThat is is so.\n"),
            ("everywhere", 0, "It was was so.\n\nThat is is so.\n"),
        ])
    func ignored(scope: String, left: Int, text: String) async throws {
        let client = try await LanguageClient(fixture, "It was was so.\n\nThat is is so.\n")
        let reply = try await client.does("Ignore repeated-word \(scope)", at: "was was")
        #expect(reply["error"] == nil, "\(reply)")
        #expect(client.string == text)
        #expect(try await client.findings().count == left)
        if scope == "everywhere" {
            #expect(try fixture.tk(["config", "get", "ignored_rules"]).output == "repeated-word\n")
        }
    }

    @Test("A word can be added to the user's own", .enabled("hunspell-en-us is wanted") { Self.hasDictionary })
    func words() async throws {
        let fixture = try CommandFixture(variables: ["DICPATH": "/usr/share/hunspell", "LANG": "en_US.UTF-8"])
        let text = "The quick brown fox jumps over the lazy dog, and xqzvw a little, as foxes do in a story.\n"
        let client = try await LanguageClient(fixture, text, options: ["strictStyle": true])
        #expect(try await client.findings() == ["unknown-word: xqzvw"])
        let reply = try await client.does("Add “xqzvw” to your words", at: "xqzvw")
        #expect(reply["error"] == nil, "\(reply)")
        #expect(try await client.findings().isEmpty)
        #expect(try fixture.tk(["words", "list"]).output == "xqzvw\n")
    }

    private static var hasDictionary: Bool {
        FileManager.default.fileExists(atPath: "/usr/share/hunspell/en_US.dic")
    }

    // MARK: The review on disk

    /// A draft with the sidecar and the state that a rule has left.
    func review(_ text: String, in fixture: CommandFixture) throws -> ReviewFiles {
        let path = try fixture.write("draft.md", text)
        let files = ReviewFiles(draft: path)
        let quick = try QuickPass()
        var state = ReviewRound(
            of: DraftText(text), known: ReviewState(draft: "draft.md"), sidecar: nil, settings: ReviewSettings(),
            mayWrite: true
        ) { draft, _ in quick.suggestions(for: draft) }.state
        let sidecar = ReviewSidecar.text(state)
        state.rendered = ContentHash(of: Array(sidecar.utf8))
        try fixture.write("draft.review.md", sidecar)
        try fixture.write(".tk/reviews/draft.md.json", try state.json())
        return files
    }

    @Test("A sidecar that is open in an editor is left alone, and the answer counts all the same")
    func sidecarInEditor() async throws {
        _ = try review(sampleDraft, in: fixture)
        let before = try fixture.read("draft.review.md")
        try FileManager.default.createSymbolicLink(
            atPath: fixture.home.path.appending(".#draft.review.md").text, withDestinationPath: "me@here.1")
        let client = try await LanguageClient(fixture, sampleDraft)
        _ = try await client.does("Skip", at: "was was")
        #expect(try fixture.read("draft.review.md") == before)
        #expect(try await client.findings() == ["wordy: utilized", "wordy: in order to"])
    }

    @Test("What was answered in the sidecar is answered in the editor")
    func answeredElsewhere() async throws {
        let files = try review(sampleDraft, in: fixture)
        let client = try await LanguageClient(fixture, sampleDraft)
        #expect(try await client.findings() == Self.sample)
        var state = try ReviewState(json: Array(TemporaryFolder.text(files.state).utf8), at: files.state)
        state.findings[0].state = .skipped
        try fixture.write(".tk/reviews/draft.md.json", try state.json())
        try client.notify("workspace/didChangeWatchedFiles", ["changes": [["uri": client.uri, "type": 2]]])
        try await waitUntil("it is gone here, too") {
            try await client.findings() == Array(Self.sample.dropFirst())
        }
    }

    // MARK: Advisors

    @Test("Advisors are asked on request, with progress; their findings stay while the draft is edited")
    func advisors() async throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        let client = try await LanguageClient(fixture, sampleDraft, options: ["advisors": ["technical_writer"]])
        #expect(stub.requests.isEmpty)
        let command: [String: Any] = [
            "command": "tk.review", "arguments": [client.uri, "technical_writer"], "workDoneToken": "t1",
        ]
        let reply = try await client.request("workspace/executeCommand", command)
        #expect(reply["error"] == nil, "\(reply)")
        #expect(try await client.findings().contains("technical_writer: process data"))
        try client.change(from: 0, to: 0, "It goes on.\n\n")
        #expect(try await client.findings().contains("technical_writer: process data"))
    }

    @Test("What advisors have said at the editor's request stays when a rule reviews the draft")
    func advisorsAndRule() async throws {
        let fixture = try CommandFixture(try MessagesStub())
        let client = try await LanguageClient(fixture, sampleDraft)
        let command: [String: Any] = ["command": "tk.review", "arguments": [client.uri, "technical_writer"]]
        _ = try await client.request("workspace/executeCommand", command)
        let files = try review(sampleDraft, in: fixture)
        var state = try ReviewState(json: Array(TemporaryFolder.text(files.state).utf8), at: files.state)
        state.findings[0].state = .skipped
        try fixture.write(".tk/reviews/draft.md.json", try state.json())
        try client.notify("workspace/didChangeWatchedFiles", ["changes": [[String: Any]]()])
        var findings: [String] = []
        try await waitUntil("the rule's review counts") {
            findings = try await client.findings()
            return findings.count == 3
        }
        #expect(findings.contains("technical_writer: process data"), "\(findings)")
    }

    @Test("A review can be cancelled, and what is wrong with a service is said")
    func cancelled() async throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        stub.fail(.stream([], ending: .held), times: 1)
        let client = try await LanguageClient(fixture, sampleDraft)
        try client.raw(
            Self.frame(
                #"{"jsonrpc":"2.0","id":"r","method":"workspace/executeCommand","params":{"command":"tk.review","#
                    + #""arguments":["\#(client.uri)"],"workDoneToken":"t1"}}"#))
        _ = try await client.message("progress begins") { $0["method"] as? String == "$/progress" }
        try client.notify("window/workDoneProgress/cancel", ["token": "t1"])
        let reply = try await client.message("the reply") { $0["id"] as? String == "r" }
        #expect((reply["error"] as? [String: Any])?["code"] as? Int == -32800, "\(reply)")
        stub.refuse(1)
        let failed = try await client.request(
            "workspace/executeCommand", ["command": "tk.review", "arguments": [client.uri]])
        let message = (failed["error"] as? [String: Any])?["message"] as? String
        #expect(message?.contains("the stub was told to refuse") ?? false, "\(failed)")
    }

    // MARK: Mistakes

    private static func frame(_ text: String) -> String { "Content-Length: \(text.utf8.count)\r\n\r\n\(text)" }

    @Test("Wrong messages are answered, and the server goes on")
    func wrongMessages() async throws {
        let client = try await LanguageClient(fixture, sampleDraft)
        try client.raw(Self.frame("{"))
        let invalid = try await client.message("an answer") { $0["id"] is NSNull }
        #expect((invalid["error"] as? [String: Any])?["code"] as? Int == -32700)
        for (method, parameters, code) in [
            ("textDocument/rename", [:], -32601), ("textDocument/codeAction", [:], -32602),
            ("textDocument/hover", ["textDocument": ["uri": client.uri]], -32602),
            ("workspace/executeCommand", ["command": "tk.nothing"], -32602),
            ("workspace/executeCommand", ["command": "tk.answer", "arguments": [client.uri, "ffff", "take"]], -32803),
            ("workspace/executeCommand", ["command": "tk.review", "arguments": [client.uri, "nobody"]], -32803),
        ] as [(String, [String: Any], Int)] {
            let reply = try await client.request(method, parameters)
            #expect((reply["error"] as? [String: Any])?["code"] as? Int == code, "\(method): \(reply)")
        }
        #expect(try await client.findings() == Self.sample)
        let reply = try await client.request("shutdown", [:])
        #expect(reply["result"] is NSNull)
        try client.notify("exit", [:])
        #expect(try client.ends() == 0)
    }

    @Test("Input that is no message ends the server with a reason")
    func noMessage() throws {
        for (input, reason) in [
            ("hello\r\n\r\n", "without Content-Length"), ("Content-Length: x\r\n\r\n", "Content-Length is `"),
        ] {
            let result = try fixture.tk(["lsp"], input: input)
            #expect(result.status == 1 && result.errors.contains(reason), "\(result)")
        }
        let early = try fixture.tk(
            ["lsp"], input: Self.frame(#"{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{}}"#))
        #expect(early.output.contains("send `initialize` first"))
    }

    @Test("Settings of the editor count, and a wrong one is named")
    func settings() async throws {
        let client = try await LanguageClient(fixture, sampleDraft, options: ["ignore": ["wordy"]])
        #expect(try await client.findings() == ["repeated-word: was was"])
        try client.notify("workspace/didChangeConfiguration", ["settings": ["tk": ["ignore": ["wordi"]]]])
        let message = try await client.message("a complaint") { $0["method"] as? String == "window/logMessage" }
        let text = (message["params"] as? [String: Any])?["message"] as? String
        #expect(text?.contains("there is no rule `wordi`") ?? false, "\(message)")
        try client.notify("workspace/didChangeConfiguration", ["settings": ["tk": ["ignore": ["repeated-word"]]]])
        #expect(try await client.findings() == ["wordy: utilized", "wordy: in order to"])
        try client.notify("workspace/didChangeConfiguration", ["settings": ["tk": [String: Any]()]])
        #expect(try await client.findings() == ["repeated-word: was was"])
    }
}
