import Ledger
import Logging
import Platform
import Rules
import Watching

/// Tells the service manager that the agent works, after each successful ``HealthProbe``. If a probe fails or does not return,
/// nothing is told, and the manager restarts the agent.
///
/// Does nothing unless a manager expects it (`WatchdogSec=`).
package struct Watchdog: Sendable {
    private let manager: SystemNotification
    private let probe: @Sendable () async -> Bool

    /// - Parameters:
    ///   - manager: says how often it wants to hear.
    ///   - probe: false if something does not work; may not return.
    package init(_ manager: SystemNotification, probe: @escaping @Sendable () async -> Bool) {
        self.manager = manager
        self.probe = probe
    }

    /// Whether there is anything to do.
    package var isWanted: Bool { manager.isHeard && manager.watchdog != nil }

    /// Until its task is cancelled.
    package func run() async {
        guard let limit = manager.watchdog else { return }
        while !Task.isCancelled {
            if await probe() { manager.send("WATCHDOG=1") }
            do {
                // Twice the word may be late before it is missed.
                try await Task.sleep(for: limit / 3)
            } catch {
                return
            }
        }
    }
}

/// Checks each stage that a file passes in the agent: the thread that reads events, the marks, the rules, the ledger.
package actor HealthProbe {
    private let agent: Agent
    private let lane = BlockingPool("watchdog")
    private var waitedForDisk = false
    private var marks: Int?

    /// Seconds for the thread that reads events to come round.
    private static let patience = 10.0

    package init(_ agent: Agent) { self.agent = agent }

    /// - Returns: whether all on it does its work. What fails and says so does: a disk that is full is no reason to be ended.
    ///   Nor is a place whose disk does not answer, whoever waits for it.
    package func run() async -> Bool {
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

    /// Whether what events have marked is taken up: marks that wait were taken since the last probe.
    private func marking() async -> Bool {
        let taken = await agent.pipeline.marksTaken
        defer { marks = taken }
        guard marks == taken, agent.source.dirty.count > 0 else { return true }
        agent.core.log.error("what events have told is not taken up; the service manager is not told that all is well")
        return false
    }
}
