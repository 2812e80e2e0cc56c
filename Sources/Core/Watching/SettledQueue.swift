/// Files that have settled, until they have been fetched and acknowledged. Those that a scan of the whole place found
/// come last.
struct SettledQueue {
    /// Fetched and not yet acknowledged.
    private var handedOut: [Settled] = []
    private var ready: [Settled] = []
    private var backlog: [Settled] = []
    /// How often each key occurs in those three arrays.
    private var counts: [Settler.Key: Int] = [:]

    private static let batch = 512
    /// Kept small so that the caller soon returns for newer files.
    private static let backlogBatch = 64

    /// How many wait to be fetched.
    var waiting: Int { ready.count + backlog.count }

    /// The files waiting to be fetched or acknowledged.
    var keys: Dictionary<Settler.Key, Int>.Keys { counts.keys }

    mutating func append(_ result: Settled) {
        if case .whole(_, _, _, isBacklog: true) = result { backlog.append(result) } else { ready.append(result) }
        counts[Settler.Key(result), default: 0] += 1
    }

    /// The next ones; empty if none waits. Those before must have been acknowledged.
    mutating func take() -> [Settled] {
        handedOut = ready.isEmpty ? Self.take(Self.backlogBatch, from: &backlog) : Self.take(Self.batch, from: &ready)
        return handedOut
    }

    private static func take(_ most: Int, from queue: inout [Settled]) -> [Settled] {
        let batch = Array(queue.prefix(most))
        queue.removeFirst(batch.count)
        if queue.isEmpty { queue = [] }
        return batch
    }

    /// Forgets those fetched last.
    ///
    /// - Returns: of these, the ones that do not occur again.
    mutating func acknowledge() -> [Settled] {
        var last: [Settled] = []
        for file in handedOut {
            let key = Settler.Key(file)
            let count = counts[key] ?? 0
            counts[key] = count > 1 ? count - 1 : nil
            if count <= 1 { last.append(file) }
        }
        handedOut = []
        if counts.isEmpty { counts = [:] }
        return last
    }
}
