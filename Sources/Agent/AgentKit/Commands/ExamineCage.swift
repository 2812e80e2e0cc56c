import Platform

/// The part of `steward doctor` that only the agent can check.
package struct ExamineCage: Command {
    package static let name = "examine"
    package static let onlyLooks = true
    package static let needsAgent = true

    package init() {}

    package func run(in agent: AgentContext) async throws -> [Examination.Finding] {
        await CageExamination(try agent.requireAgent()).findings()
    }

    package func lines(_ answer: [Examination.Finding]) -> [String] { answer.flatMap(\.lines) }
}
