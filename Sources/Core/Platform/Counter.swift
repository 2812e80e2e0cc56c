import Synchronization

/// A number that goes up by one each time somebody takes it, from any thread.
package final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    package init() {}

    /// The number before the increment; from 0.
    @discardableResult
    package func take() -> Int {
        value.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max
    }
}
