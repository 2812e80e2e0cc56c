import Dispatch
import HTTPKit
import Logging
import Synchronization

/// Runs hooks one after another on a thread beside the calls, so that whatever they do, no call waits for it.
final class HookRunner: Sendable {
    private static let limit = 1_000

    private let queue = DispatchQueue(label: "RonAppSdkSwift.hooks")
    private let waiting = Mutex(0)
    private let logger: Logger?

    init(logger: Logger?) { self.logger = logger }

    /// Returns when all hooks have run that wait now, or the time is up.
    ///
    /// - Parameter limit: How long that may take; a hook may hang.
    func finish(within limit: Duration) async {
        do {
            _ = try await withTimeout(limit) { [queue] in
                await withCheckedContinuation { continuation in
                    queue.async { continuation.resume() }
                }
            }
        } catch {
            // The caller was cancelled, and waits no longer.
        }
    }

    func run(_ name: String, _ hook: @escaping @Sendable () throws -> Void) {
        let isTaken = waiting.withLock { waiting in
            guard waiting < Self.limit else { return false }
            waiting += 1
            return true
        }
        guard isTaken else {
            logger?.debug("a hook was left out, as too many wait", metadata: ["hook": "\(name)"])
            return
        }
        queue.async { [self] in
            defer { waiting.withLock { $0 -= 1 } }
            do {
                try hook()
            } catch {
                // Its text may hold what the hook was given.
                logger?.debug("a hook failed", metadata: ["hook": "\(name)", "error": "\(type(of: error))"])
            }
        }
    }
}
