import Ledger
import Platform
import Rules

/// `steward undo`: reverts a job, last step first.
package struct UndoJob: Command {
    package static let name = "undo"
    /// The beginning of its id.
    private let job: String

    package init(_ job: String) { self.job = job }

    package func run(in agent: AgentContext) async throws -> [String] {
        let job = try await agent.job(job)
        guard job.state != .undone else { throw Fault(.usage, "the job \(job.id.prefix(12)) was undone already") }
        return try await agent.core.executor.undo(job.id)
    }

    package func lines(_ answer: [String]) -> [String] { answer.isEmpty ? ["the job had done nothing"] : answer }
}
