import ControlSocket
import Foundation
import NoteActions
import Platform
import TKCore

/// Tells a running agent which drafts are open, and takes its requests to change them. An agent that is not running is
/// looked for again and again: it may start at any time, and restart.
actor AgentConnection {
    /// Makes a change in an editor's buffer.
    typealias Handler = @Sendable (EditorRequest) async -> EditorReply

    private let socket: BytePath?
    private let clock: any Clock<Duration>
    /// Connects and writes here; what comes is read on the connection's own thread.
    private let pool = BlockingPool("agent")
    private var connection: ControlConnection?
    private var drafts: [BytePath] = []
    private var kept: Set<BytePath> = []
    private var life: Task<Void, Never>?

    /// Between two attempts to reach an agent.
    private static let pause = Duration.seconds(2)
    /// Seconds; an agent that has nothing to say stays silent for longer.
    private static let timeout = 3600

    /// - Parameter socket: the agent's; nil if there can be none.
    init(socket: BytePath?, clock: any Clock<Duration>) { (self.socket, self.clock) = (socket, clock) }

    /// Sets the drafts that are open.
    func set(_ drafts: [BytePath], _ handler: @escaping Handler) async {
        guard drafts != self.drafts else { return }
        self.drafts = drafts
        if life == nil { life = Task { await self.live(handler) } }
        await send(EditorNews(drafts: drafts))
    }

    /// Whether a running agent reviews this draft, and writes the files of its review.
    func keeps(_ draft: BytePath?) -> Bool { draft.map { kept.contains($0) } ?? false }

    func close() { life?.cancel() }

    private func live(_ handler: @escaping Handler) async {
        guard let socket else { return }
        while !Task.isCancelled {
            do {
                if let found = try await pool.run({ try ControlConnection.connect(socket, timeout: 5) }) {
                    try await talk(found, handler)
                }
            } catch {
                // The agent has gone, or is of another version. Without it the server goes on alone.
            }
            (connection, kept) = (nil, [])
            do { try await clock.sleep(for: Self.pause) } catch { return }
        }
    }

    private func talk(_ found: ControlConnection, _ handler: @escaping Handler) async throws {
        let first = EditorNews(command: EditorNews.name, drafts: drafts)
        connection = found
        try await pool.run {
            try found.send(first)
            try found.setTimeout(Self.timeout)
        }
        while true {
            for news in try await found.pool.run({ try Self.news(found) }) {
                if let problem = news.problem { throw Fault(.failed, problem) }
                if let kept = news.kept { self.kept = Set(kept) }
                guard let wanted = news.wanted else { continue }
                // It waits for the client, and other news may come meanwhile.
                Task { await self.send(EditorNews(reply: await handler(wanted))) }
            }
        }
    }

    /// What the agent says next. Blocks.
    private static func news(_ connection: ControlConnection) throws -> [AgentNews] {
        do {
            // It may have said several things at once.
            return try connection.receiveLine().split(separator: UInt8(ascii: "\n")).map {
                try JSONDecoder().decode(AgentNews.self, from: Data($0))
            }
        } catch let fault as Fault where fault.code == ControlConnection.late {
            return []
        }
    }

    private func send(_ news: EditorNews) async {
        guard let connection else { return }
        do {
            try await pool.run { try connection.send(news, within: .seconds(5)) }
        } catch {
            // The connection has ended, which its reader sees as well.
        }
    }
}
