import Ledger
import Platform
import Rules
import SQLiteFile
import Watching

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
        try await BlockingPool("accept").run { try presence.accept(place) }
        await agent.agent?.pipeline.lookThrough(place)
        return Answer(place: place.name, path: place.root)
    }

    package func lines(_ answer: Answer) -> [String] {
        ["\(answer.path) is \(answer.place); files that are not in it any more count as removed"]
    }
}
