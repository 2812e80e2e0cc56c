import Ledger
import Logging
import Platform
import SQLiteFile

/// What an agent does for its ledger while it runs.
struct HouseKeeping {
    private let core: AgentCore
    private let log: Logger

    private static let hour = Duration.seconds(3600)
    private static let day = hour * 24

    init(_ core: AgentCore, _ log: Logger) { (self.core, self.log) = (core, log) }

    /// Once an hour, how much time has passed; once a day, a copy of the ledger, and then what is older than the history's
    /// length is forgotten. Ends when its task is cancelled.
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

    /// What is forgotten is in the copy for another day, should it turn out to be missed.
    func tidy() async throws {
        let (ledger, losses) = (core.ledger, core.directories.losses)
        // The copy may be all that is left of a ledger that was lost.
        guard try await BlockingPool("losses").run({ try losses.standing(of: ledger.file).isEmpty }) else { return }
        try await ledger.backUp(replacing: core.directories.state.appending("ledger.backup.sqlite"))
        let old = core.seen.look().time.adding(seconds: -core.configuration.history)
        let pruned = try await ledger.prune(before: old)
        if pruned > 0 { log.info("forgot \(pruned) jobs older than the history") }
    }
}
