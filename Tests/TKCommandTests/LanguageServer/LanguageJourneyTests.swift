import Foundation
import NoteActions
import Platform
import TestSupport
import Testing

/// Another proposal, the next round of feedback, and the end of a draft's journey, by the language server.
extension LanguageServerTests {
    private func run(_ command: String, _ more: [String], _ client: LanguageClient) async throws -> String? {
        let reply = try await client.request(
            "workspace/executeCommand", ["command": command, "arguments": [client.uri] + more])
        return (reply["error"] as? [String: Any])?["message"] as? String
    }

    /// What is shown to the user at a command.
    private func shown(_ command: String, _ more: [String], _ client: LanguageClient) async throws -> String {
        try client.begin("workspace/executeCommand", ["command": command, "arguments": [client.uri] + more])
        let message = try await client.message("a message") { $0["method"] as? String == "window/showMessage" }
        return (message["params"] as? [String: Any])?["message"] as? String ?? ""
    }

    private func key(_ words: String, _ client: LanguageClient) async throws -> String {
        let (findings, diagnostics) = (try await client.findings(), try await client.diagnostics())
        let found = zip(findings, diagnostics).first { $0.0.hasSuffix(": \(words)") }?.1
        return try #require((found?["data"] as? [String: Any])?["key"] as? String)
    }

    private func hover(_ words: String, _ client: LanguageClient) async throws -> String {
        let place = try #require(client.text.firstRange(of: Array(words.utf8)))
        let reply = try await client.request(
            "textDocument/hover",
            ["textDocument": ["uri": client.uri], "position": client.position(place.lowerBound)])
        let contents = (reply["result"] as? [String: Any])?["contents"] as? [String: Any]
        return contents?["value"] as? String ?? ""
    }

    @Test("A finding's advisor is asked for another proposal, which can be taken, and a question is answered")
    func another() async throws {
        let stub = try MessagesStub { body in
            body.contains("has not taken a suggestion")
                ? #"{"replacement":"sort letters","reason":"It says which.","answer":"Data is a wide word."}"# : nil
        }
        let fixture = try CommandFixture(stub)
        let client = try await LanguageClient(fixture, sampleDraft)
        #expect(try await run("tk.review", ["technical_writer"], client) == nil)
        let key = try await key("process data", client)
        #expect(try await run("tk.ask", [key, "Which data?"], client) == nil)
        #expect(stub.requests.count == 2 && stub.requests[1].body.contains("The writer asks: Which data?"))
        #expect(try await hover("process data", client).contains("Data is a wide word."))
        // It stays while the draft is edited.
        try client.change(from: 0, to: 0, "It goes on.\n\n")
        let reply = try await client.does("Change to “sort letters”", at: "process data")
        #expect(reply["error"] == nil && client.string.contains("utilized to sort letters."), "\(reply)")
        #expect(try await run("tk.ask", [key], client)?.contains("has been answered") == true)
    }

    @Test("Where the quick pass has no other wording, that is said, and nobody is asked")
    func noOther() async throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        let client = try await LanguageClient(fixture, sampleDraft)
        #expect(try await client.actions(at: "utilized").contains { $0.title == "Ask for another proposal" })
        let said = try await shown("tk.ask", [try await key("utilized", client)], client)
        #expect(said.contains("no other wording") && stub.requests.isEmpty)
        #expect(try await client.findings() == Self.sample)
        #expect(try await hover("utilized", client).contains("no other wording"))
    }

    @Test("Feedback begins a cycle, whoever answers; a draft becomes final once all is answered and saved")
    func journey() async throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        _ = try review("We met. It was was late.\n", in: fixture)
        for step in ["start", "advance", "advance", "advance"] {
            #expect(try fixture.tk(["journey", step, "draft.md"]).status == 0)
        }
        let client = try await LanguageClient(
            fixture, "We met. It was was late.\n", options: ["advisors": ["technical_writer", "editor"]])
        #expect(try await client.lens().contains("1 finding · revise · cycle 1 · review now"))
        #expect(try await run("tk.feedback", [], client) == nil)
        #expect(stub.requests.count == 2 && stub.requests.allSatisfy { $0.body.contains("DRAFT STAGE: LATE") })
        #expect(try await client.lens().contains("cycle 2 · $"))
        #expect(try await run("tk.final", [], client)?.contains("1 finding has no answer") == true)
        _ = try await client.does("Skip", at: "was was")
        try client.change(from: client.text.count, to: client.text.count, "More.\n")
        #expect(try await run("tk.final", [], client)?.contains("save it first") == true)
        try client.change(from: client.text.count - 6, to: client.text.count, "")
        let said = try await shown("tk.final", [], client)
        #expect(said.contains("stage final") && said.contains("skipped 1"), "\(said)")
        #expect(try fixture.tk(["journey", "draft.md"]).output.contains("stage         final\n"))
        #expect(try await client.lens().contains(" · final"))
        for command in ["tk.feedback", "tk.review"] {
            #expect(try await run(command, [], client)?.contains("go back") == true)
        }
        #expect(stub.requests.count == 2)
    }
}
