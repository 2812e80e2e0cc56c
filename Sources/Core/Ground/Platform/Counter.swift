import Synchronization

/// A thread-safe counter.
package final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    package init() {}

    /// The number before the increment, starting from 0.
    @discardableResult
    package func next() -> Int {
        value.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max
    }
}
