import Ledger
import Platform
import Rules

/// A file that was in quarantine.
package struct QuarantinedFile: Codable, Sendable {
    let path: BytePath
}

/// `steward quarantine`: what lies there, and why.
package struct ListQuarantine: Query {
    package static let name = "quarantine"

    package init() {}

    package func read(_ records: Records) async throws -> [QuarantineRecord] {
        let held = try await records.ledger?.read { try $0.quarantine() } ?? []
        let state = records.directories.state
        return try await BlockingLane("quarantine").run {
            try held.map { try Quarantine.located($0, HeldFiles(below: [state])) }
        }
    }

    package func lines(_ answer: [QuarantineRecord]) -> [String] {
        if answer.isEmpty { return ["nothing is in quarantine"] }
        return answer.flatMap {
            ["\($0.id)  \($0.time)  \($0.place)/\($0.path)", "    \($0.reason)", "    \($0.stored)"]
        }
    }
}

/// `steward quarantine restore`: puts a file back where it was.
package struct RestoreQuarantined: Command {
    package static let name = "quarantine-restore"
    /// The beginning of its id.
    private let id: String

    package init(_ id: String) { self.id = id }

    package func run(in agent: AgentContext) async throws -> QuarantinedFile {
        QuarantinedFile(path: try await agent.putBack(try await agent.quarantined(id)).absolute)
    }

    package func lines(_ answer: QuarantinedFile) -> [String] { ["restored to \(answer.path)"] }
}

/// `steward quarantine drop`: deletes a refused file for good.
package struct DropQuarantined: Command {
    package static let name = "quarantine-drop"
    /// The beginning of its id.
    private let id: String

    package init(_ id: String) { self.id = id }

    package func run(in agent: AgentContext) async throws -> QuarantinedFile {
        let record = try await agent.quarantined(id)
        try await agent.core.quarantine.drop(record)
        return QuarantinedFile(path: record.stored)
    }

    package func lines(_ answer: QuarantinedFile) -> [String] { ["deleted \(answer.path)"] }
}

extension AgentContext {
    fileprivate func quarantined(_ id: String) async throws -> QuarantineRecord {
        guard !id.isEmpty else { throw Fault(.usage, "say which file in quarantine is meant") }
        return try await ledger.read { try $0.quarantine() }.filter { $0.id.hasPrefix(id) }
            .only("file in quarantine", beginning: id, shownBy: "steward quarantine list")
    }
}
