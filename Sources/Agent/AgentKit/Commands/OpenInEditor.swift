import ControlSocket
import Foundation
import NoteActions
import Platform
import Rules

/// A language server says which drafts its editor has open, for as long as the connection lasts. Changes that answers
/// elsewhere make to these drafts are sent to it.
struct OpenInEditor: Conversation {
    static let name = EditorNews.name
    let drafts: [BytePath]

    /// Seconds; a server that has nothing to say stays silent for longer.
    private static let timeout = 3600

    func hold(on connection: ControlConnection, with agent: Agent) async throws {
        let (pool, core) = (BlockingPool("editor"), agent.core)
        let editor = ConnectedEditor { news in try await pool.run { try connection.send(news, within: .seconds(5)) } }
        defer { core.openDrafts.remove(editor) }
        try connection.setTimeout(Self.timeout)
        var open: [BytePath]? = drafts
        while true {
            if let drafts = open {
                try await pool.run {
                    core.openDrafts.set(drafts, of: editor)
                    try connection.send(AgentNews(kept: Self.reviewed(drafts, core)), within: .seconds(5))
                }
            }
            open = nil
            for news in try await connection.pool.run({ try Self.news(connection) }) {
                if let reply = news.reply { editor.take(reply) }
                open = news.drafts ?? open
            }
        }
    }

    /// What the server says next. Blocks.
    private static func news(_ connection: ControlConnection) throws -> [EditorNews] {
        do {
            // It may have said several things at once.
            return try connection.receiveLine().split(separator: UInt8(ascii: "\n")).map {
                try JSONDecoder().decode(EditorNews.self, from: Data($0))
            }
        } catch let fault as Fault where fault.code == ControlConnection.late {
            return []
        }
    }

    /// The drafts that a rule reviews when they are saved; not those that cannot be read, which no rule will review.
    /// Blocks.
    private static func reviewed(_ drafts: [BytePath], _ core: AgentCore) -> [BytePath] {
        drafts.filter { (try? isReviewed($0, core)) ?? false }
    }

    private static func isReviewed(_ draft: BytePath, _ core: AgentCore) throws -> Bool {
        let (path, files) = (core.places.known(draft), core.journal.files())
        guard let (place, relative) = core.places.locate(path), let status = try files.status(path),
            status.kind == .file
        else { return false }
        let facts = FileFacts(
            place: place, path: relative, status: status, event: .changed, now: .now(),
            content: .open(try files.file(path)))
        return try core.planner.ruleSet.match(facts).contains { match in
            match.rule.steps.contains { $0.declaration.name == ReviewRegistry.review }
        }
    }
}
