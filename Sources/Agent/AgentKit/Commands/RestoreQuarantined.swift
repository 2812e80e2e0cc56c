import Ledger
import Platform
import Rules

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
