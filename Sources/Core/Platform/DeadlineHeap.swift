/// Keys by the time at which each is due, the earliest first. A key that was entered again counts at its newest time
/// only; older entries are skipped when they come up.
package struct DeadlineHeap<Key: Hashable & Sendable, Due: Comparable & Sendable>: Sendable {
    private var heap: [(due: Due, key: Key)] = []
    private var current: [Key: Due] = [:]

    package init() {}

    package var isEmpty: Bool { current.isEmpty }
    package var count: Int { current.count }

    /// Entries that are kept, older ones included: never many more than twice as many as there are keys.
    package var size: Int { heap.count }

    package func contains(_ key: Key) -> Bool { current[key] != nil }

    package mutating func set(_ key: Key, due: Due) {
        current[key] = due
        if heap.count > 2 * current.count + 64 { dropOld() }
        heap.append((due, key))
        var at = heap.count - 1
        while at > 0, heap[at].due < heap[(at - 1) / 2].due {
            heap.swapAt(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }

    /// - Returns: whether it was there.
    @discardableResult
    package mutating func remove(_ key: Key) -> Bool {
        let isFound = current.removeValue(forKey: key) != nil
        // What a burst has taken is given back.
        if current.isEmpty { (heap, current) = ([], [:]) }
        return isFound
    }

    /// When the earliest key is due.
    package mutating func earliest() -> Due? {
        while let top = heap.first, current[top.key] != top.due { pop() }
        return heap.first?.due
    }

    /// Removes and returns up to `limit` keys that are due at `now`.
    package mutating func dequeue(upTo now: Due, limit: Int = .max) -> [Key] {
        var keys: [Key] = []
        while keys.count < limit, let due = earliest(), due <= now, let top = heap.first {
            keys.append(top.key)
            current[top.key] = nil
            pop()
        }
        return keys
    }

    /// A key that is entered again and again would else leave one entry for each time.
    private mutating func dropOld() {
        // In order, it is a heap.
        heap = current.map { (due: $0.value, key: $0.key) }.sorted { $0.due < $1.due }
    }

    private mutating func pop() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var at = 0
        while true {
            var least = at
            for child in [2 * at + 1, 2 * at + 2] where child < heap.count && heap[child].due < heap[least].due {
                least = child
            }
            if least == at { return }
            heap.swapAt(at, least)
            at = least
        }
    }
}
