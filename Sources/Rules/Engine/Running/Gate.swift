import Synchronization

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

/// The place that a step has among those of its kind of work.
package final class WorkPlace: Sendable {
    /// That of the step which is being carried out; nil outside of one.
    @TaskLocal package static var current: WorkPlace?

    private let gate: Gate
    private let isHeld = Mutex(true)

    /// Waits until there is one.
    static func taken(in gate: Gate) async -> WorkPlace {
        await gate.enter()
        return WorkPlace(gate)
    }

    private init(_ gate: Gate) { self.gate = gate }

    /// Leaves the place to others though the step goes on: it has found out that it takes long, and waits for what else
    /// is limited.
    package func giveUp() { Task { await leave() } }

    func leave() async {
        let held = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        if held { await gate.leave() }
    }
}
