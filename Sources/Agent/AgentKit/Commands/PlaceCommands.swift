import Ledger
import Platform
import Rules
import SQLiteFile
import Watching

/// `steward rebuild --process`: after the ledger was lost, has a place's files dealt with as if they had just arrived.
package struct RebuildPlace: Command {
    package static let name = "rebuild"
    private let place: String

    package init(_ place: String) { self.place = place }

    package func run(in agent: AgentContext) async throws -> PlannedJobs {
        let count = try await agent.process(try agent.place(place), rules: nil, within: "", again: false)
        let (losses, file) = (agent.core.directories.losses, agent.ledger.file)
        // Whoever asks for this knows of the loss.
        try await BlockingLane("losses").run {
            for loss in try losses.standing(of: file) { _ = try losses.acknowledge(loss.id) }
        }
        return PlannedJobs(jobs: count)
    }

    package func lines(_ answer: PlannedJobs) -> [String] { ["\(answer.jobs) jobs planned for the files in \(place)"] }
}

/// `steward rebuild --accept`: takes the folder that stands at a place's path for the place. What was known of it and is not
/// there is gone.
package struct AcceptPlace: Command {
    package struct Answer: Codable, Sendable {
        let place: String
        let path: BytePath
    }

    package static let name = "accept"
    private let place: String

    package init(_ place: String) { self.place = place }

    package func run(in agent: AgentContext) async throws -> Answer {
        let place = try agent.place(place)
        let presence = agent.core.journal.presence
        try await BlockingLane("accept").run { try presence.accept(place) }
        await agent.agent?.pipeline.lookThrough(place)
        return Answer(place: place.name, path: place.root)
    }

    package func lines(_ answer: Answer) -> [String] {
        ["\(answer.path) is \(answer.place); files that are not in it any more count as removed"]
    }
}
