import Logging
import Platform
import Rules
import Synchronization

/// The timer for what is due. It may fire before there is a keeper to wake.
struct TimeKeeping: Sendable {
    let timer: WallTimer
    private let sleeper: Sleeper

    private final class Sleeper: Sendable {
        let keeper = Mutex<TimeKeeper?>(nil)

        func wake() {
            guard let keeper = keeper.withLock({ $0 }) else { return }
            Task { await keeper.wake() }
        }
    }

    /// - Throws: `Fault` if the system provides no timer.
    init() throws {
        let sleeper = Sleeper()
        timer = try WallTimer { sleeper.wake() }
        self.sleeper = sleeper
    }

    /// Creates the keeper that the timer wakes from now on.
    func keeper(_ core: AgentCore, _ runner: Runner, _ pipeline: Pipeline, _ log: Logger) -> TimeKeeper {
        let keeper = TimeKeeper(
            ledger: core.ledger, planner: core.planner, inWork: core.inWork, alarm: timer,
            hooks: TimeKeeper.Hooks(
                submit: { jobs in await runner.submit(jobs) },
                look: { place, path in await pipeline.look(at: path, of: place) }), log: log)
        sleeper.keeper.withLock { $0 = keeper }
        return keeper
    }
}
