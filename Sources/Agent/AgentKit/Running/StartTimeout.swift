import Logging
import Platform
import ServiceLifecycle

/// Has a start wait for what passes by itself, such as a full disk under the ledger, instead of ending the process.
struct StartTimeout: Sendable {
    let log: Logger
    private static let longest = 30.0

    /// Does the work again until it does not fail for such a reason; it must be fit to be done twice.
    ///
    /// - Throws: what else the work throws; `CancellationError` where the agent is told to stop while it waits.
    func until<R: Sendable>(_ what: String, _ work: @Sendable () async throws -> R) async throws -> R {
        var wait = 1.0
        while true {
            do {
                return try await work()
            } catch let fault as Fault where fault.kind == .transient {
                log.error(
                    "cannot start yet, as \(what) failed: \(fault.message); trying again in \(Int(wait)) s (free some space)"
                )
                SystemNotification.send(
                    "STATUS=waiting to start: \(fault.message)\nEXTEND_TIMEOUT_USEC=\(Int((wait + 60) * 1e6))")
            }
            let pause = wait
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(pause)) }
            wait = min(Self.longest, wait * 2)
        }
    }
}
