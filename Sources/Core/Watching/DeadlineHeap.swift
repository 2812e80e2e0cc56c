/// Keys by the time at which each is due, the earliest first. A key that was entered again counts at its newest time
/// only; older entries are skipped when they come up.
struct DeadlineHeap<Key: Hashable> {
    private var heap: [(due: Int64, key: Key)] = []
    private var current: [Key: Int64] = [:]

    var isEmpty: Bool { current.isEmpty }

    mutating func set(_ key: Key, due: Int64) {
        current[key] = due
        heap.append((due, key))
        var at = heap.count - 1
        while at > 0, heap[at].due < heap[(at - 1) / 2].due {
            heap.swapAt(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }

    mutating func remove(_ key: Key) { current[key] = nil }

    /// When the earliest key is due.
    mutating func earliest() -> Int64? {
        while let top = heap.first, current[top.key] != top.due { pop() }
        return heap.first?.due
    }

    /// Takes up to `limit` keys that are due at `now`.
    mutating func take(upTo now: Int64, limit: Int) -> [Key] {
        var taken: [Key] = []
        while taken.count < limit, let due = earliest(), due <= now, let top = heap.first {
            taken.append(top.key)
            current[top.key] = nil
            pop()
        }
        return taken
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
