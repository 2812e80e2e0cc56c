import Dispatch
import Foundation
import Synchronization

/// Work on a thread of its own with room for deep recursion: Yams recurses for each level that a document nests, up to
/// 1,000, and a hostile one must not end the process on whatever stack it happens to be read on.
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
