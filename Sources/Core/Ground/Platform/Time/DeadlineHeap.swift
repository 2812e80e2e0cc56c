import HeapModule

/// Keys ordered by due time, earliest first. Setting a key again replaces its time; outdated entries are skipped when
/// they come up.
///
/// Public and inlinable because waiting files and jobs use it constantly, and the compiler does not specialize
/// `package` code for a caller's types: each access would cost thousands of instructions.
public struct DeadlineHeap<Key: Hashable & Sendable, Due: Comparable & Sendable>: Sendable {
    @usableFromInline struct Entry: Comparable, Sendable {
        @usableFromInline let due: Due
        @usableFromInline let key: Key

        @inlinable init(due: Due, key: Key) { (self.due, self.key) = (due, key) }

        @inlinable static func < (left: Entry, right: Entry) -> Bool { left.due < right.due }
        @inlinable static func == (left: Entry, right: Entry) -> Bool { left.due == right.due }
    }

    @usableFromInline var heap = Heap<Entry>()
    @usableFromInline var current: [Key: Due] = [:]

    /// Creates an empty heap.
    @inlinable public init() {}

    /// Whether there are no keys.
    @inlinable public var isEmpty: Bool { current.isEmpty }
    /// The number of keys.
    @inlinable public var count: Int { current.count }

    /// Stored entries, including outdated ones: never many more than twice the number of keys.
    @inlinable public var size: Int { heap.count }

    /// Whether a key is present.
    @inlinable public func contains(_ key: Key) -> Bool { current[key] != nil }

    /// Adds a key, or changes its time.
    @inlinable public mutating func set(_ key: Key, due: Due) {
        current[key] = due
        if heap.count > 2 * current.count + 64 {
            // Otherwise, a key that is set repeatedly would leave one entry each time.
            heap = Heap(current.map { Entry(due: $0.value, key: $0.key) })
        } else {
            heap.insert(Entry(due: due, key: key))
        }
    }

    /// Removes a key.
    ///
    /// - Returns: whether it was present.
    @discardableResult
    @inlinable public mutating func remove(_ key: Key) -> Bool {
        let isFound = current.removeValue(forKey: key) != nil
        // Give back the memory of a burst.
        if current.isEmpty { (heap, current) = (Heap(), [:]) }
        return isFound
    }

    /// The earliest key, and when it is due.
    @inlinable public mutating func first() -> (key: Key, due: Due)? {
        while let top = heap.min, current[top.key] != top.due { heap.removeMin() }
        return heap.min.map { ($0.key, $0.due) }
    }

    /// When the earliest key is due.
    @inlinable public mutating func earliest() -> Due? { first()?.due }

    /// Removes and returns up to `limit` keys that are due at `now`.
    @inlinable public mutating func dequeue(upTo now: Due, limit: Int = .max) -> [Key] {
        var keys: [Key] = []
        while keys.count < limit, let due = earliest(), due <= now, let key = heap.popMin()?.key {
            keys.append(key)
            current[key] = nil
        }
        return keys
    }
}
