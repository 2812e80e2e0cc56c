import DequeModule

/// A queue with a few ranks: lowest rank first, FIFO within a rank.
struct RankedQueue<Element> {
    private var ranks: [Deque<Element>]

    init(ranks: Int) { self.ranks = Array(repeating: [], count: ranks) }

    var isEmpty: Bool { ranks.allSatisfy(\.isEmpty) }

    /// The rank of the first element, or nil.
    var firstRank: Int? { ranks.firstIndex { !$0.isEmpty } }

    mutating func append(_ element: Element, rank: Int) { ranks[rank].append(element) }

    mutating func popFirst() -> Element? {
        for rank in ranks.indices where !ranks[rank].isEmpty { return ranks[rank].popFirst() }
        return nil
    }
}
