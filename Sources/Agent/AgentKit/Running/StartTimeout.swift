import Logging
import Platform
import ServiceLifecycle

/// Makes a start wait out temporary failures, such as a full disk under the ledger, instead of ending the process.
struct StartTimeout: Sendable {
    let log: Logger
    private static let longest = 30.0

    /// Retries the work until it no longer fails with a temporary error; it must be safe to repeat.
    ///
    /// - Throws: any other error of the work; `CancellationError` if the agent is stopped while it waits.
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
