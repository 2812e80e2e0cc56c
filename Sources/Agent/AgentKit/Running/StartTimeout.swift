import Logging
import Platform
import ServiceLifecycle

/// Makes a start wait out temporary failures, such as a full disk under the ledger, instead of ending the process.
struct StartTimeout: Sendable {
    let log: Logger

    /// Retries the work until it no longer fails with a temporary error; it must be safe to repeat.
    ///
    /// - Throws: any other error of the work; `CancellationError` if the agent is stopped while it waits.
    func until<R: Sendable>(_ what: String, _ work: @Sendable () async throws -> R) async throws -> R {
        var backoff = Backoff(first: .seconds(1), longest: .seconds(30))
        while true {
            do {
                return try await work()
            } catch let fault as Fault where fault.kind == .transient {
                let pause = backoff.next()
                let seconds = pause.components.seconds
                log.error(
                    "cannot start yet, as \(what) failed: \(fault.message); trying again in \(seconds) s (free some space)"
                )
                SystemNotification.send(
                    "STATUS=waiting to start: \(fault.message)\nEXTEND_TIMEOUT_USEC=\((seconds + 60) * 1_000_000)")
                try await cancelWhenGracefulShutdown { try await Task.sleep(for: pause) }
            }
        }
    }
}
