import Dispatch
import HTTPKit
import Logging
import Synchronization

/// Runs hooks one at a time on a separate thread, so that calls never wait for them.
final class HookRunner: Sendable {
    private static let limit = 1_000

    private let queue = DispatchQueue(label: "RonAppSdkSwift.hooks")
    private let waiting = Mutex(0)
    private let logger: Logger?

    init(logger: Logger?) { self.logger = logger }

    /// Returns when all pending hooks have run, or at the timeout.
    ///
    /// - Parameter limit: The timeout; a hook may hang.
    func finish(within limit: Duration) async {
        do {
            _ = try await withTimeout(limit) { [queue] in
                await withCheckedContinuation { continuation in
                    queue.async { continuation.resume() }
                }
            }
        } catch {
            // The caller was cancelled, and stops waiting.
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
                // Without the error's text, which may contain the hook's input.
                logger?.debug("a hook failed", metadata: ["hook": "\(name)", "error": "\(type(of: error))"])
            }
        }
    }
}
