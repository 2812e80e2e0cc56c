import Foundation
import NoteActions
import OwnFiles
import Platform
import TKCore
import TestSupport
import Testing

/// A random history of edits, answers, saves and kills: 40 rounds, 1,000 with `STEWARD_TEST_WHOLE=1` (`make campaign`).
///
/// The test keeps its own idea of the buffer, in which each finding's words carry a number: a proposal is there once.
@Suite("Language server: histories", .timeLimit(.minutes(60)))
struct LanguageHistoryTests {
    private static let rounds = Thoroughness.isWhole ? 1_000 : 40

    /// A finding of the quick pass, before and after its proposal.
    private static let kinds = [
        ("Item %d can be utilized.", "utilized", "used"), ("Item %d is here in order to help.", "in order to", "to"),
    ]

    private struct Item {
        var number: Int
        var kind: Int
        var isTaken = false
        var isSkipped = false

        var text: String {
            let (pattern, old, new) = LanguageHistoryTests.kinds[kind]
            let sentence = pattern.replacing("%d", with: "\(number)")
            return isTaken ? sentence.replacing(old, with: new) : sentence
        }

        var words: String { LanguageHistoryTests.kinds[kind].1 }
    }

    /// The draft as it must be.
    private struct Draft {
        var items: [Item] = []

        var text: String { "# Items\n\n" + items.map { $0.text + "\n\n" }.joined() }

        /// What was skipped before a kill comes back, unless a review on disk remembers it.
        func isRight(count: Int) -> Bool {
            let open = items.filter { !$0.isTaken }
            return (open.count { !$0.isSkipped }...open.count).contains(count)
        }

        func start(of index: Int) -> Int { Draft(items: Array(items[..<index])).text.utf8.count }
    }

    @Test(
        "Buffer, file and state agree after any history, and nothing is applied twice",
        arguments: ["utf-8", "utf-16"])
    func history(encoding: String) async throws {
        var random = SeededGenerator(for: "history of a served draft, \(encoding)")
        let fixture = try CommandFixture()
        var draft = Draft(items: (0..<4).map { Item(number: $0, kind: $0 % 2) })
        var next = draft.items.count
        try fixture.write("draft.md", draft.text)
        var client = try await LanguageClient(fixture, draft.text, encoding: encoding)
        for round in 0..<Self.rounds {
            let open = draft.items.indices.filter { !draft.items[$0].isTaken && !draft.items[$0].isSkipped }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3 where draft.items.count < 30:
                let item = Item(number: next, kind: next % 2)
                next += 1
                let place = Int.random(in: 0...draft.items.count, using: &random)
                let start = draft.start(of: place)
                draft.items.insert(item, at: place)
                try client.change(from: start, to: start, item.text + "\n\n")
            case 0...3:
                guard let index = draft.items.indices.randomElement(using: &random) else { break }
                let (start, end) = (draft.start(of: index), draft.start(of: index + 1))
                draft.items.remove(at: index)
                try client.change(from: start, to: end, "")
            case 4..<6:
                guard let index = open.randomElement(using: &random) else { break }
                let reply = try await answer(draft, index, "Change to", client)
                #expect(reply["error"] == nil, "\(reply)")
                draft.items[index].isTaken = true
            case 6:
                guard let index = open.randomElement(using: &random) else { break }
                let reply = try await answer(draft, index, "Skip", client)
                #expect(reply["error"] == nil, "\(reply)")
                draft.items[index].isSkipped = true
            case 7:
                try save(client, in: fixture)
            case 8:
                // Killed while it does what it was asked for: the editor has made the change, or it has not.
                if let index = open.randomElement(using: &random) {
                    let command = try await action(draft, index, "Change to", client)
                    try client.begin("workspace/executeCommand", command)
                    if Bool.random(using: &random) { try await client.settles() }
                    try client.killsServer()
                    draft.items[index].isTaken = true
                    if client.string != draft.text { draft.items[index].isTaken = false }
                } else {
                    try client.killsServer()
                }
                #expect(client.string == draft.text, "round \(round)")
                client = try await LanguageClient(fixture, client.string, encoding: encoding)
            default: break
            }
            try #require(client.string == draft.text, "round \(round)")
            let found = try await client.findings().count
            #expect(draft.isRight(count: found), "round \(round): \(found)")
        }
        try save(client, in: fixture)
        #expect(try fixture.read("draft.md") == draft.text)
        let final = try await client.findings().count
        #expect(draft.isRight(count: final), "\(final)")
        let quick = try fixture.tk(["suggest", "--quick", "--json", "draft.md"])
        let all = quick.output.components(separatedBy: "\"original_text\"").count - 1
        #expect(all == draft.items.count { !$0.isTaken }, "what was taken is not found again")
        _ = try await client.request("shutdown", [:])
        try client.notify("exit", [:])
        #expect(try client.ends() == 0)
        let files = ReviewFiles(draft: fixture.home.path.appending("draft.md"))
        guard try FileStatus.of(files.state) != nil else { return }
        let state = try ReviewState(json: Array(TemporaryFolder.text(files.state).utf8), at: files.state)
        #expect(state.findings.allSatisfy { !$0.isOpen || draft.text.contains($0.suggestion.originalText) })
        #expect(Set(state.findings.map(\.key)).count == state.findings.count)
    }

    /// Runs an action at an item.
    private func answer(
        _ draft: Draft, _ index: Int, _ title: String, _ client: LanguageClient
    ) async throws -> [String: Any] {
        try await client.request("workspace/executeCommand", try await action(draft, index, title, client))
    }

    private func action(
        _ draft: Draft, _ index: Int, _ title: String, _ client: LanguageClient
    ) async throws -> [String: Any] {
        let item = draft.items[index]
        let start = draft.start(of: index) + (item.text.components(separatedBy: item.words)[0]).utf8.count
        let actions = try await client.actions(from: start, to: start + item.words.utf8.count)
        // Not the one for all places.
        guard let found = actions.first(where: { $0.title.hasPrefix(title) && !$0.title.contains("times") }) else {
            throw TestFailure("no “\(title)” at item \(item.number) in \(client.string)")
        }
        return found.command
    }

    private func save(_ client: LanguageClient, in fixture: CommandFixture) throws {
        try fixture.write("draft.md", client.string)
        try client.notify("textDocument/didSave", ["textDocument": ["uri": client.uri], "text": client.string])
    }
}
