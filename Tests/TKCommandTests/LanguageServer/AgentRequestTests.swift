import ControlSocket
import Foundation
import Glibc
import NoteActions
import OwnFiles
import Platform
import Synchronization
import TKCore
import TestSupport
import Testing

extension LanguageServerTests {
    @Test("With an agent, answers come over its socket into the buffer, once, and the review's files are its own")
    func agent() async throws {
        let files = try review(sampleDraft, in: fixture)
        let agent = try AgentStub(fixture.home.path.appending(".local/state/steward/run/control.sock"))
        let client = try await LanguageClient(fixture, sampleDraft)
        try await waitUntil("the draft is registered") { agent.news.contains { $0.drafts == [files.draft] } }
        try agent.tell(AgentNews(kept: [files.draft]))
        let state = try ReviewState(json: Array(TemporaryFolder.text(files.state).utf8), at: files.state)
        let keys = try ["utilized", "was was", "in order to"].map { words in
            try #require(state.findings.first { $0.suggestion.originalText == words }?.key)
        }
        var request = EditorRequest(
            draft: files.draft, content: ContentHash(of: Array(sampleDraft.utf8)),
            accepted: [EditorRequest.Answer(key: keys[0])])
        // The buffer changes before the editor makes the change.
        client.obedience = .types("More.\n")
        let expected = sampleDraft.replacing("utilized", with: "used") + "More.\n"
        for serial in 1...2 {
            request.serial = serial
            try agent.tell(AgentNews(wanted: request))
            let reply = try await reply(serial, agent, client)
            #expect(client.string == expected)
            #expect(reply.content == ContentHash(of: Array(expected.utf8)))
            #expect(reply.taken.map(\.key) == [keys[0]] && reply.taken.first?.applied?.exact == "used")
        }
        // What the agent writes is not written here.
        _ = try await client.does("Skip", at: "was was")
        let asked = try await client.does("Ask for another proposal", at: "in order to")
        #expect(asked["error"] == nil, "\(asked)")
        let sidecar = try fixture.read("draft.review.md")
        #expect(sidecar.contains("- [?] **\(keys[2])**"), "the agent asks")
        #expect(sidecar.contains("- [-] **\(keys[1])**"))
        try fixture.write("draft.md", client.string)
        try client.notify("textDocument/didSave", ["textDocument": ["uri": client.uri], "text": client.string])
        request.accepted = []
        request.serial = 3
        try agent.tell(AgentNews(wanted: request))
        let reply = try await reply(3, agent, client)
        #expect(reply.taken.map(\.key) == [keys[0]] && reply.skipped == [keys[1]])
        #expect(try fixture.read("draft.review.md") == sidecar)
        try client.notify("textDocument/didClose", ["textDocument": ["uri": client.uri]])
        try await waitUntil("nothing is open") { agent.news.last?.drafts == [] }
    }

    @Test("A change that the editor refuses is asked for again only after a save")
    func agentRefused() async throws {
        let files = try review(sampleDraft, in: fixture)
        let agent = try AgentStub(fixture.home.path.appending(".local/state/steward/run/control.sock"))
        let client = try await LanguageClient(fixture, sampleDraft)
        try await waitUntil("the draft is registered") { agent.news.contains { $0.drafts == [files.draft] } }
        try agent.tell(AgentNews(kept: [files.draft]))
        let state = try ReviewState(json: Array(TemporaryFolder.text(files.state).utf8), at: files.state)
        var request = EditorRequest(
            draft: files.draft, content: ContentHash(of: Array(sampleDraft.utf8)),
            accepted: [EditorRequest.Answer(key: try #require(state.findings.first).key)])
        client.obedience = .refuses
        for serial in 1...2 {
            request.serial = serial
            try agent.tell(AgentNews(wanted: request))
            #expect(try await reply(serial, agent, client).taken.isEmpty)
            #expect(client.string == sampleDraft)
            // It would obey now, but is not asked.
            client.obedience = .obeys
        }
        try client.notify("textDocument/didSave", ["textDocument": ["uri": client.uri], "text": client.string])
        // The server has read it once it answers what is asked next.
        _ = try await client.findings()
        request.serial = 3
        try agent.tell(AgentNews(wanted: request))
        #expect(try await reply(3, agent, client).taken.count == 1)
        #expect(client.string != sampleDraft)
    }

    /// Waits for a reply, while the editor goes on.
    private func reply(_ serial: Int, _ agent: AgentStub, _ client: LanguageClient) async throws -> EditorReply {
        try await waitUntil("reply \(serial)") {
            _ = try await client.lens()
            return agent.news.contains { $0.reply?.serial == serial }
        }
        return try #require(agent.news.compactMap(\.reply).first { $0.serial == serial })
    }
}

/// The agent's end of the control socket.
private final class AgentStub: Sendable {
    private struct Heard {
        var news: [EditorNews] = []
        var connection: ControlConnection?
    }

    private let heard = Mutex(Heard())

    init(_ path: BytePath) throws {
        try Durable.makeDirectory(path.parent, mode: 0o700)
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard UnixAddress.with(path.text, { bind(listener, $0, $1) }) == 0, listen(listener, 4) == 0 else {
            throw TestFailure("cannot listen at \(path)")
        }
        Thread.detachNewThread { [weak self] in
            let connection = ControlConnection(owning: accept(listener, nil, nil))
            close(listener)
            self?.heard.withLock { $0.connection = connection }
            while let lines = try? connection.receiveLine() {
                let news = lines.split(separator: UInt8(ascii: "\n")).compactMap {
                    try? JSONDecoder().decode(EditorNews.self, from: Data($0))
                }
                self?.heard.withLock { $0.news += news }
            }
        }
    }

    var news: [EditorNews] { heard.withLock { $0.news } }

    func tell(_ news: AgentNews) throws {
        guard let connection = heard.withLock({ $0.connection }) else { throw TestFailure("nobody has connected") }
        try connection.send(news)
    }
}
