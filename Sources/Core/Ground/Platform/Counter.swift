import Synchronization

/// A number that goes up by one each time somebody asks for it, from any thread.
package final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    package init() {}

    /// The number before the increment; from 0.
    @discardableResult
    package func next() -> Int {
        value.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max
    }
}
