import Ledger
import Logging
import Platform
import Rules
import Watching

/// Pings the service manager's watchdog after each successful ``HealthProbe``. If a probe fails or does not return,
/// there is no ping, and the manager restarts the agent.
///
/// Does nothing unless a manager expects it (`WatchdogSec=`).
package struct Watchdog: Sendable {
    private let manager: SystemNotification
    private let probe: @Sendable () async -> Bool

    /// - Parameters:
    ///   - manager: determines how often to ping.
    ///   - probe: false if something does not work; may not return.
    package init(_ manager: SystemNotification, probe: @escaping @Sendable () async -> Bool) {
        self.manager = manager
        self.probe = probe
    }

    /// Whether the manager expects pings.
    package var isWanted: Bool { manager.isHeard && manager.watchdog != nil }

    /// Runs until its task is cancelled.
    package func run() async {
        guard let limit = manager.watchdog else { return }
        while !Task.isCancelled {
            if await probe() { manager.send("WATCHDOG=1") }
            do {
                // Two pings may be late before the manager acts.
                try await Task.sleep(for: limit / 3)
            } catch {
                return
            }
        }
    }
}

/// Checks each stage that a file passes through in the agent: the thread that reads events, the marks, the rules, the
/// ledger.
package actor HealthProbe {
    private let agent: Agent
    private let pool = BlockingPool("watchdog")
    private var waitedForDisk = false
    private var marks: Int?

    /// Timeout in seconds for the thread that reads events.
    private static let timeout = 10.0

    package init(_ agent: Agent) { self.agent = agent }

    /// - Returns: whether every stage works. A stage that fails and reports it does work: a full disk is no reason to
    ///   be restarted. Nor is a place whose disk hangs, even if something waits for it.
    package func run() async -> Bool {
        guard await watching(), await marking() else { return false }
        _ = await agent.runner.status()
        _ = agent.core.planner.ruleSet.rules.count
        await agent.core.ledger.turn()
        return true
    }

    private func watching() async -> Bool {
        let source = agent.source
        switch await pool.runQuietly({ source.turning(within: Self.timeout) }) {
        case .isTurning:
            waitedForDisk = false
            return true
        case .waitsForDisk:
            if !waitedForDisk {
                agent.core.log.warning(
                    "watching waits for a disk that does not respond; events in the meantime are noticed when it does")
            }
            waitedForDisk = true
            return true
        case .isStuck:
            agent.core.log.error(
                "the event thread is stuck; withholding the watchdog ping")
            return false
        }
    }

    /// Whether the marks of events are processed: if some are waiting, others were taken since the last probe.
    private func marking() async -> Bool {
        let taken = await agent.pipeline.marksTaken
        defer { marks = taken }
        guard marks == taken, agent.source.dirty.count > 0 else { return true }
        agent.core.log.error("file events are not being processed; withholding the watchdog ping")
        return false
    }
}
