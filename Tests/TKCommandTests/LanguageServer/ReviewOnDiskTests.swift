import Foundation
import NoteActions
import OwnFiles
import Platform
import TestSupport
import Testing

/// Where no agent runs, the server writes the review's files.
extension LanguageServerTests {
    private func state() throws -> ReviewState {
        let path: BytePath = ".tk/reviews/draft.md.json"
        return try ReviewState(json: Array(fixture.read(path).utf8), at: path)
    }

    private func save(_ client: LanguageClient) throws {
        try fixture.write("draft.md", client.string)
        let document = ["uri": client.uri]
        try client.notify("textDocument/didSave", ["textDocument": document, "text": client.string])
    }

    private var sidecarText: String { get throws { try fixture.read("draft.review.md") } }

    @Test("A skip goes into state and sidecar at once; a proposal once its words are saved")
    func recorded() async throws {
        _ = try review(sampleDraft, in: fixture)
        let client = try await LanguageClient(fixture, sampleDraft)
        _ = try await client.does("Skip", at: "was was")
        #expect(try sidecarText.contains("2 findings, 1 skipped."))
        #expect(try state().count(.skipped) == 1)
        _ = try await client.does("Change to “used”", at: "utilized")
        #expect(try sidecarText.contains("2 findings, 1 skipped."), "the file lacks the words")
        try save(client)
        try await waitUntil("it is recorded") { try sidecarText.contains("1 finding, 1 accepted, 1 skipped.") }
        #expect(try state().count(.accepted) == 1)
        let later = try await LanguageClient(fixture, client.string)
        #expect(try await later.findings() == ["wordy: in order to"])
    }

    @Test("A tick in the sidecar goes into a buffer with unsaved changes, and counts once that is saved")
    func ticked() async throws {
        _ = try review(sampleDraft, in: fixture)
        let client = try await LanguageClient(fixture, sampleDraft)
        #expect(try await client.findings() == Self.sample)
        try client.change(from: client.text.count, to: client.text.count, "More.\n")
        let answered = try sidecarText.replacing("- [ ]", with: "- [x]", maxReplacements: 1)
        try fixture.write("draft.review.md", answered)
        let expected = sampleDraft.replacing("utilized", with: "used") + "More.\n"
        try await waitUntil("the buffer has the words") {
            _ = try await client.findings()
            return client.string == expected
        }
        #expect(try fixture.read("draft.md") == sampleDraft, "the file is the editor's")
        try save(client)
        try await waitUntil("it is recorded") { try sidecarText.contains("2 findings, 1 accepted.") }
        #expect(try await client.findings() == Array(Self.sample.dropFirst()))
        #expect(client.string == expected)
    }

    @Test("A draft without a review gets a state when something is answered, and no sidecar")
    func firstAnswer() async throws {
        try fixture.write("draft.md", sampleDraft)
        let client = try await LanguageClient(fixture, sampleDraft)
        try save(client)
        #expect(try await client.findings() == Self.sample)
        #expect(try FileStatus.of(fixture.home.path.appending(".tk/reviews")) == nil)
        _ = try await client.does("Skip", at: "was was")
        #expect(try state().count(.skipped) == 1)
        #expect(try FileStatus.of(fixture.home.path.appending("draft.review.md")) == nil)
        let later = try await LanguageClient(fixture, sampleDraft)
        #expect(try await later.findings() == ["wordy: utilized", "wordy: in order to"])
    }

    @Test("If the saved text is another than the changes have led to, it counts")
    func readAnew() async throws {
        try fixture.write("draft.md", sampleDraft)
        let client = try await LanguageClient(fixture, sampleDraft)
        #expect(try await client.findings() == Self.sample)
        let other = "It is is so.\n"
        try fixture.write("draft.md", other)
        try client.notify("textDocument/didSave", ["textDocument": ["uri": client.uri], "text": other])
        let message = try await client.message("diagnostics of the saved text") {
            $0["method"] as? String == "textDocument/publishDiagnostics"
                && (($0["params"] as? [String: Any])?["diagnostics"] as? [Any])?.count == 1
        }
        #expect(!message.isEmpty)
    }
}
