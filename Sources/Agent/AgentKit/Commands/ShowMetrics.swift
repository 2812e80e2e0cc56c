import Platform

/// `steward metrics`
package struct ShowMetrics: Command {
    package struct Answer: Codable, Sendable {
        /// In the Prometheus text format.
        let metrics: String
    }

    package static let name = "metrics"
    package static let onlyLooks = true
    package static let needsAgent = true
    package static let timeout: Int? = 30

    package init() {}

    package func run(in agent: AgentContext) async throws -> Answer {
        Answer(metrics: await AgentMetrics(try agent.requireAgent()).document())
    }

    package func lines(_ answer: Answer) -> [String] {
        answer.metrics.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
