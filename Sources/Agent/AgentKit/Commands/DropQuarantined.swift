import Ledger
import Platform
import Rules

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
    func quarantined(_ id: String) async throws -> QuarantineRecord {
        guard !id.isEmpty else { throw Fault(.usage, "name a file in quarantine") }
        return try await ledger.read { try $0.quarantine() }.filter { $0.id.hasPrefix(id) }
            .only("file in quarantine", beginning: id, shownBy: "steward quarantine list")
    }
}
