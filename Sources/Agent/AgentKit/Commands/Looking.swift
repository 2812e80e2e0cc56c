import Platform

/// `steward status`, of a running agent. Where none runs, ``StatusReport`` can be had from the ledger.
package struct ShowStatus: Command {
    package static let name = "status"
    package static let onlyLooks = true
    package static let needsAgent = true
    package static let patience: Int? = 30

    package init() {}

    package func run(in agent: AgentContext) async throws -> StatusReport { try await .live(agent.requireAgent()) }

    package func lines(_ answer: StatusReport) -> [String] { answer.lines }
}

/// `steward health`
package struct ShowHealth: Command {
    package static let name = "health"
    package static let onlyLooks = true
    package static let needsAgent = true
    package static let patience: Int? = 30

    package init() {}

    package func run(in agent: AgentContext) async throws -> HealthReport {
        HealthReport(try await StatusReport.live(agent.requireAgent()))
    }

    package func lines(_ answer: HealthReport) -> [String] { answer.lines }
}

/// `steward metrics`
package struct ShowMetrics: Command {
    package struct Answer: Codable, Sendable {
        /// In the text format of Prometheus.
        let metrics: String
    }

    package static let name = "metrics"
    package static let onlyLooks = true
    package static let needsAgent = true
    package static let patience: Int? = 30

    package init() {}

    package func run(in agent: AgentContext) async throws -> Answer {
        Answer(metrics: await AgentMetrics(try agent.requireAgent()).document())
    }

    package func lines(_ answer: Answer) -> [String] {
        answer.metrics.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}

/// The part of `steward doctor` that only the agent can find out.
package struct ExamineCage: Command {
    package static let name = "examine"
    package static let onlyLooks = true
    package static let needsAgent = true

    package init() {}

    package func run(in agent: AgentContext) async throws -> [Examination.Finding] {
        await CageExamination(agent.core).findings()
    }

    package func lines(_ answer: [Examination.Finding]) -> [String] { answer.flatMap(\.lines) }
}
