import Platform
import Rules

/// The agent's side of a backup: for a moment it begins no step, so that whoever copies the stores sees them as they are
/// between two steps. It copies nothing itself: it may write to no folder but its own.
struct HoldHandler: Sendable {
    let hold: StepHold

    /// How long steps are waited for that have begun.
    static let patienceForSteps = Duration.seconds(10)
    /// Seconds for which steps are held at most, whoever forgets to end it.
    static let longest = 60

    /// Holds the steps, says so, and goes on when the other side says that it has what it needs, or goes away.
    func answer(_ connection: ControlConnection) async throws {
        let isQuiet = await hold.hold(waiting: Self.patienceForSteps)
        defer { hold.release() }
        let begun = try ControlReply(HoldReply(isQuiet: isQuiet), lines: [])
        try await connection.lane.run {
            try connection.send(begun)
            try connection.loseThePatience(after: Self.longest)
            _ = try connection.receiveLine(limit: 4096, within: .seconds(Self.longest))
            // That it was answered tells the other side that nothing has begun meanwhile.
            try connection.send(begun)
        }
    }
}

/// What the agent answers to `hold`.
struct HoldReply: Codable, Sendable {
    /// Whether no step is at work.
    let isQuiet: Bool
}
