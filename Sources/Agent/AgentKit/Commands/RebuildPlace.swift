import Ledger
import Platform
import Rules
import SQLiteFile
import Watching

/// `steward rebuild --process`: after the loss of the ledger, handles a place's files as if they had just arrived.
package struct RebuildPlace: Command {
    package static let name = "rebuild"
    private let place: String

    package init(_ place: String) { self.place = place }

    package func run(in agent: AgentContext) async throws -> PlannedJobs {
        let count = try await agent.process(try agent.place(place), rules: nil, within: "", again: false)
        let (losses, file) = (agent.core.directories.losses, agent.ledger.file)
        // Asking for this acknowledges the loss.
        try await BlockingPool("losses").run {
            for loss in try losses.standing(of: file) { _ = try losses.acknowledge(loss.id) }
        }
        return PlannedJobs(jobs: count)
    }

    package func lines(_ answer: PlannedJobs) -> [String] { ["\(answer.jobs) jobs planned for the files in \(place)"] }
}
