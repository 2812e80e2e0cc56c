/// At most `limit` at a time; the others wait in the order in which they came.
package actor Gate {
    private let limit: Int
    private var inside = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init(limit: Int) { self.limit = max(1, limit) }

    package func enter() async {
        if inside < limit {
            inside += 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    package func leave() {
        if waiting.isEmpty {
            inside -= 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
