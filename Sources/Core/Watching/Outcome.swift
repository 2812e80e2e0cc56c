import Dispatch
import Platform
import Synchronization

/// Hands one answer from the owner thread to a thread that waits for it.
final class Outcome: Sendable {
    private let fault = Mutex<Fault?>(nil)
    private let known = DispatchSemaphore(value: 0)

    func set(_ answer: Fault?) {
        fault.withLock { $0 = answer }
        known.signal()
    }

    /// Blocks until there is an answer.
    func wait() -> Fault? {
        known.wait()
        return fault.withLock { $0 }
    }
}
