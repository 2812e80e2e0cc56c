import Ledger
import Platform
import Rules
import SQLiteFile
import Watching

/// `steward rebuild --accept`: accepts the folder at a place's path as the place. Known files that are not in it count
/// as gone.
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
        ["\(answer.path) is \(answer.place); files that are no longer in it count as removed"]
    }
}
