import Ledger
import Platform
import RuleActions
import Rules

/// `steward reload`
package struct ReloadRules: Command {
    package static let name = "reload"
    package static let needsAgent = true

    package init() {}

    package func run(in agent: AgentContext) async throws -> [Diagnostic] {
        let found = try await agent.requireAgent().reload()
        guard !found.hasErrors else {
            let complaints = found.map(\.description).joined(separator: "\n")
            throw Fault(.failed, "the rules were not reloaded, those in force stay:\n\(complaints)")
        }
        return found
    }

    package func lines(_ answer: [Diagnostic]) -> [String] { answer.flatMap(\.lines) + ["reloaded"] }
}
