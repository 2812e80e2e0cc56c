import Foundation
import Platform
import TestSupport
import Testing

/// What the language server does at a command: advisors that are asked, and where a rule is described.
@Suite("Language server: reviews", .timeLimit(.minutes(30)))
struct LanguageReviewTests {
    @Test("What one advisor has said is shown while another one is still asked, and stays if that is cancelled")
    func asTheyCome() async throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        stub.fail(.stream([], ending: .held), times: 1)
        let client = try await LanguageClient(fixture, sampleDraft)
        try client.raw(
            Self.frame(
                #"{"jsonrpc":"2.0","id":"r","method":"workspace/executeCommand","params":{"command":"tk.review","#
                    + #""arguments":["\#(client.uri)","technical_writer","editor"],"workDoneToken":"t1"}}"#))
        _ = try await client.message("half of the progress") { message in
            let value = (message["params"] as? [String: Any])?["value"] as? [String: Any]
            return value?["kind"] as? String == "report" && value?["percentage"] as? Int == 50
        }
        #expect(try await client.findings().count { $0.hasSuffix(": process data") } == 1)
        try client.notify("window/workDoneProgress/cancel", ["token": "t1"])
        let reply = try await client.message("the reply") { $0["id"] as? String == "r" }
        #expect((reply["error"] as? [String: Any])?["code"] as? Int == -32800, "\(reply)")
        #expect(try await client.findings().count { $0.hasSuffix(": process data") } == 1)
    }

    @Test("If one advisor cannot be asked, what the others said is kept, and the reason is shown")
    func oneFails() async throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        stub.refuse(1)
        let client = try await LanguageClient(fixture, sampleDraft)
        let arguments = [client.uri, "technical_writer", "editor"]
        let reply = try await client.request(
            "workspace/executeCommand", ["command": "tk.review", "arguments": arguments])
        #expect(reply["error"] == nil, "\(reply)")
        #expect(stub.requests.count == 2)
        #expect(try await client.findings().count { $0.hasSuffix(": process data") } == 1)
    }

    private static func frame(_ text: String) -> String { "Content-Length: \(text.utf8.count)\r\n\r\n\(text)" }

    @Test("Each draft has the settings of its own workspace folder, as they are at the time")
    func folders() async throws {
        let fixture = try CommandFixture()
        let quiet = #"{"ignored_rules": ["wordy"]}"#
        try fixture.write("one/.tk/config.json", quiet)
        try fixture.write("two/.tk/config.json", #"{"ignored_rules": ["repeated-word"]}"#)
        let client = try await LanguageClient(
            fixture, sampleDraft, name: "one/draft.md", folders: ["one", "two", "two/deep"])
        #expect(try await client.findings() == ["repeated-word: was was"])
        var others: [Int] = []
        for name in ["two/draft.md", "two/deep/draft.md", "draft.md"] {
            let uri = "file://" + fixture.home.path.appending(BytePath(name)).text
            let document: [String: Any] = ["uri": uri, "languageId": "markdown", "version": 1, "text": sampleDraft]
            try client.notify("textDocument/didOpen", ["textDocument": document])
            let reply = try await client.request("textDocument/diagnostic", ["textDocument": ["uri": uri]])
            others.append(((reply["result"] as? [String: Any])?["items"] as? [Any])?.count ?? -1)
        }
        #expect(others == [2, 3, 3])
        try fixture.write("one/.tk/config.json", "{}")
        try client.change(from: client.text.count, to: client.text.count, "More.\n")
        #expect(try await client.findings() == LanguageServerTests.sample)
        try fixture.write("one/.tk/config.json", quiet)
        let removed = [["uri": "file://" + fixture.home.path.appending("one").text]]
        try client.notify("workspace/didChangeWorkspaceFolders", ["event": ["added": [Any](), "removed": removed]])
        #expect(try await client.findings() == LanguageServerTests.sample)
    }

    @Test("A finding names the section that describes its rule, where the page is installed")
    func pages() async throws {
        let resources = Checkout.root.appending("Sources/Core/TK/TKCore/Resources").text
        let prefix = try TemporaryFolder("prefix")
        for folder in ["share/steward", "share/doc/steward"] {
            try FileManager.default.createDirectory(
                atPath: prefix.path.appending(BytePath(folder)).text, withIntermediateDirectories: true)
        }
        let data = prefix.path.appending("share/steward/tk").text
        try FileManager.default.createSymbolicLink(atPath: data, withDestinationPath: resources)
        let page = try prefix.write("share/doc/steward/quick-rules.md", "# Rules\n")
        let fixture = try CommandFixture(variables: ["STEWARD_TK_RESOURCES": data])
        let client = try await LanguageClient(fixture, sampleDraft)
        let addresses = try await client.diagnostics().compactMap {
            ($0["codeDescription"] as? [String: Any])?["href"] as? String
        }
        #expect(addresses == ["wordy", "repeated-word", "wordy"].map { "file://\(page.text)#\($0)" })
        let bare = try CommandFixture()
        let without = try await LanguageClient(bare, sampleDraft)
        defer { withExtendedLifetime((fixture, bare)) {} }
        #expect(try await without.diagnostics().allSatisfy { $0["codeDescription"] == nil })
    }
}
