import Ledger
import Logging
import Platform
import Rules
import Watching

/// Tells the service manager that the work goes on, for as long as it does: each word follows a trip along the way that a
/// file takes, from the thread that reads events to a transaction of the ledger. A trip that does not come back says
/// nothing, and the manager starts the agent anew.
///
/// Nothing runs where no manager waits for it (`WatchdogSec=`).
package struct Watchdog: Sendable {
    private let manager: SystemNotification
    private let trip: @Sendable () async -> Bool

    /// - Parameters:
    ///   - manager: says how often it wants to hear.
    ///   - trip: along the way; false where something on it stands still. One that does not return says nothing either.
    package init(_ manager: SystemNotification, trip: @escaping @Sendable () async -> Bool) {
        self.manager = manager
        self.trip = trip
    }

    /// Whether there is anything to do.
    package var isWanted: Bool { manager.isHeard && manager.watchdog != nil }

    /// Until its task is cancelled.
    package func run() async {
        guard let limit = manager.watchdog else { return }
        while !Task.isCancelled {
            if await trip() { manager.send("WATCHDOG=1") }
            do {
                // Twice the word may be late before it is missed.
                try await Task.sleep(for: limit / 3)
            } catch {
                return
            }
        }
    }
}

/// The way that a file takes through the agent, gone along by nothing.
package actor WorkTrip {
    private let agent: Agent
    private let lane = BlockingPool("watchdog")
    private var waitedForDisk = false
    private var marks: Int?

    /// Seconds for the thread that reads events to come round.
    private static let patience = 10.0

    package init(_ agent: Agent) { self.agent = agent }

    /// - Returns: whether all on it does its work. What fails and says so does: a disk that is full is no reason to be ended.
    ///   Nor is a place whose disk does not answer, whoever waits for it.
    package func go() async -> Bool {
        guard await watching(), await marking() else { return false }
        _ = await agent.runner.status()
        _ = agent.core.planner.ruleSet.rules.count
        await agent.core.ledger.turn()
        return true
    }

    private func watching() async -> Bool {
        let source = agent.source
        switch await lane.runQuietly({ source.turning(within: Self.patience) }) {
        case .isTurning:
            waitedForDisk = false
            return true
        case .waitsForDisk:
            if !waitedForDisk {
                agent.core.log.warning(
                    "watching waits for a disk that does not answer; what happens meanwhile is seen when it does")
            }
            waitedForDisk = true
            return true
        case .isStuck:
            agent.core.log.error(
                "the thread that reads events stands still; the service manager is not told that all is well")
            return false
        }
    }

    /// Whether what events have marked is taken up: marks that wait were taken since the last trip.
    private func marking() async -> Bool {
        let taken = await agent.pipeline.marksTaken
        defer { marks = taken }
        guard marks == taken, agent.source.dirty.count > 0 else { return true }
        agent.core.log.error("what events have told is not taken up; the service manager is not told that all is well")
        return false
    }
}
