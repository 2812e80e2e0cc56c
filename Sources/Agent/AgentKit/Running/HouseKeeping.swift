import Ledger
import Logging
import Platform
import SQLiteFile

/// Regular maintenance of the ledger while the agent runs.
struct HouseKeeping {
    private let core: AgentCore
    private let log: Logger

    private static let hour = Duration.seconds(3600)
    private static let day = hour * 24

    init(_ core: AgentCore, _ log: Logger) { (self.core, self.log) = (core, log) }

    /// Hourly, saves the time seen so far; daily, backs up the ledger and then deletes history older than the retention
    /// time. Runs until its task is cancelled.
    func run() async {
        var done: ContinuousClock.Instant?
        while !Task.isCancelled {
            do {
                try await core.keepTime()
                if done.map({ ContinuousClock.now - $0 >= Self.day }) ?? true {
                    try await tidy()
                    done = .now
                }
            } catch is CancellationError {
                return
            } catch {
                log.error("house-keeping failed: \(explain(error))")
            }
            do { try await Task.sleep(for: Self.hour) } catch { return }
        }
    }

    /// Deleted history stays in the backup for another day, in case it is needed.
    func tidy() async throws {
        let (ledger, losses) = (core.ledger, core.directories.losses)
        // The backup may be all that is left of a lost ledger.
        guard try await BlockingPool("losses").run({ try losses.standing(of: ledger.file).isEmpty }) else { return }
        try await ledger.backUp(replacing: core.directories.state.appending("ledger.backup.sqlite"))
        let old = core.seen.look().time.adding(seconds: -core.configuration.history)
        let pruned = try await ledger.prune(before: old)
        if pruned > 0 { log.info("forgot \(pruned) jobs older than the history") }
    }
}
