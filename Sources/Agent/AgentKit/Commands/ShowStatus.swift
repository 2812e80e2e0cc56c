import Platform

/// `steward status` of a running agent. Without one, ``StatusReport`` reads the ledger.
package struct ShowStatus: Command {
    package static let name = "status"
    package static let onlyLooks = true
    package static let needsAgent = true
    package static let timeout: Int? = 30

    package init() {}

    package func run(in agent: AgentContext) async throws -> StatusReport { try await .live(agent.requireAgent()) }

    package func lines(_ answer: StatusReport) -> [String] { answer.lines }
}
