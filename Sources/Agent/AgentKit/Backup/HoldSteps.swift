import ControlSocket
import Platform
import Rules

/// The agent's side of a backup: it briefly starts no step, so that the backup sees the stores between two steps. The
/// agent copies nothing: it may write only to its own folders.
struct HoldSteps: Conversation {
    /// Sent when the hold begins, and again when it ends.
    struct Begun: Codable {
        /// Whether no step is running.
        let isQuiet: Bool
    }

    static let name = "hold"

    /// How long to wait for running steps.
    static let stepTimeout = Duration.seconds(10)
    /// Maximum hold in seconds, in case the other side never ends it.
    static let longest = 60

    /// Holds the steps, reports that, and resumes when the other side is done or disconnects.
    func hold(on connection: ControlConnection, with agent: Agent) async throws {
        let hold = agent.core.executor.hold
        let begun = Begun(isQuiet: await hold.hold(waiting: Self.stepTimeout))
        defer { hold.release() }
        try await connection.pool.run {
            try connection.send(begun)
            try connection.setTimeout(Self.longest)
            _ = try connection.receiveLine(limit: 4096, within: .seconds(Self.longest))
            // This second answer confirms that no step began in the meantime.
            try connection.send(begun)
        }
    }
}
