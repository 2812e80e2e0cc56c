import Platform
import Rules

/// The agent's side of a backup: for a moment it begins no step, so that whoever copies the stores sees them as they are
/// between two steps. It copies nothing itself: it may write to no folder but its own.
struct HoldSteps: Conversation {
    /// What is said when it has begun, and again when it has ended.
    struct Begun: Codable {
        /// Whether no step is at work.
        let isQuiet: Bool
    }

    static let name = "hold"

    /// How long steps are waited for that have begun.
    static let patienceForSteps = Duration.seconds(10)
    /// Seconds for which steps are held at most, whoever forgets to end it.
    static let longest = 60

    /// Holds the steps, says so, and goes on when the other side says that it has what it needs, or goes away.
    func hold(on connection: ControlConnection, with agent: Agent) async throws {
        let hold = agent.core.executor.hold
        let begun = Begun(isQuiet: await hold.hold(waiting: Self.patienceForSteps))
        defer { hold.release() }
        try await connection.lane.run {
            try connection.send(begun)
            try connection.setTimeout(Self.longest)
            _ = try connection.receiveLine(limit: 4096, within: .seconds(Self.longest))
            // That it was answered tells the other side that nothing has begun meanwhile.
            try connection.send(begun)
        }
    }
}
