import Platform

/// `steward health`
package struct ShowHealth: Command {
    package static let name = "health"
    package static let onlyLooks = true
    package static let needsAgent = true
    package static let timeout: Int? = 30

    package init() {}

    package func run(in agent: AgentContext) async throws -> HealthReport {
        HealthReport(try await StatusReport.live(agent.requireAgent()))
    }

    package func lines(_ answer: HealthReport) -> [String] { answer.lines }
}
