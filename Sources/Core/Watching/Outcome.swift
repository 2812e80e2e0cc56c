import Dispatch
import Platform
import Synchronization

/// Hands one result from the owner thread to a waiting thread.
final class Outcome: Sendable {
    private let fault = Mutex<Fault?>(nil)
    private let known = DispatchSemaphore(value: 0)

    func set(_ answer: Fault?) {
        fault.withLock { $0 = answer }
        known.signal()
    }

    /// Blocks until there is a result.
    func wait() -> Fault? {
        known.wait()
        return fault.withLock { $0 }
    }
}
