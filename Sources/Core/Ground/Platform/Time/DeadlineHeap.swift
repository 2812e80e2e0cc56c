import HeapModule

/// Keys by the time at which each is due, the earliest first. A key that was entered again counts at its newest time
/// only; older entries are skipped when they come up.
///
/// Public and inlinable, for the waiting of files and of jobs goes through it at every turn, and the compiler makes no
/// version of its own for a caller's types of what is only the package's: each look would cost thousands of instructions.
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

    /// With no keys.
    @inlinable public init() {}

    /// Whether there are no keys.
    @inlinable public var isEmpty: Bool { current.isEmpty }
    /// How many keys there are.
    @inlinable public var count: Int { current.count }

    /// Entries that are kept, older ones included: never many more than twice as many as there are keys.
    @inlinable public var size: Int { heap.count }

    /// Whether a key has been entered.
    @inlinable public func contains(_ key: Key) -> Bool { current[key] != nil }

    /// Enters a key, or puts it off.
    @inlinable public mutating func set(_ key: Key, due: Due) {
        current[key] = due
        if heap.count > 2 * current.count + 64 {
            // A key that is entered again and again would else leave one entry for each time.
            heap = Heap(current.map { Entry(due: $0.value, key: $0.key) })
        } else {
            heap.insert(Entry(due: due, key: key))
        }
    }

    /// Takes a key out.
    ///
    /// - Returns: whether it was there.
    @discardableResult
    @inlinable public mutating func remove(_ key: Key) -> Bool {
        let isFound = current.removeValue(forKey: key) != nil
        // What a burst has taken is given back.
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
