import Dispatch
import Foundation
import Synchronization

/// Runs work on a thread with a large stack. Yams recurses once per nesting level, up to 1,000, and a hostile
/// document must not overflow the stack of the caller.
enum DeepStack {
    /// Bytes; a thousand levels take about 2 MiB in a debug build.
    private static let size = 32 << 20

    /// Runs `work` and waits for it. Blocks.
    static func run<R: Sendable>(_ work: @escaping @Sendable () -> R) -> R {
        let result = Box<R>()
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            result.value.withLock { $0 = work() }
            done.signal()
        }
        thread.stackSize = size
        thread.start()
        done.wait()
        guard let value = result.value.withLock({ $0 }) else {
            preconditionFailure("the thread stores its result first")
        }
        return value
    }

    private final class Box<R: Sendable>: Sendable {
        let value = Mutex<R?>(nil)
    }
}
