import Platform
import Synchronization

/// The paths to look at. A set, so that a thousand events on one file become one mark; bounded, so that no storm of
/// events fills the memory. A mark stays until it is drained. Beyond the limit, a root's marks collapse into one mark
/// of the whole root.
package final class DirtySet: Sendable {
    private struct State {
        var isHandedOut = false
        var states = MarkQueue()
        var renames = MarkQueue()
        var rest = MarkQueue()
        var perRoot: [String: Int] = [:]
        /// When the latest mark was inserted.
        var entered: Int64 = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0

        var isEmpty: Bool { states.isEmpty && renames.isEmpty && rest.isEmpty }
    }

    /// Marks that were drained together.
    package struct Batch: Sendable {
        package let marks: [DirtyMark]
        /// When the last of them was inserted, on the clock of ``Settler``.
        package let entered: Int64
    }

    private let state = Mutex(State())
    private let limit: Int
    private let batch: Int

    /// - Parameters:
    ///   - limit: marks kept for one root before they collapse.
    ///   - batch: marks handed out at a time.
    package init(limit: Int = 20_000, batch: Int = 1_000) {
        self.limit = max(1, limit)
        self.batch = max(1, batch)
    }

    package func insert(_ mark: DirtyMark) { insert([mark]) }

    /// Adds marks that belong together; a concurrent ``next()`` never splits them.
    package func insert(_ marks: [DirtyMark]) {
        let wake = state.withLock { state in
            for mark in marks { add(mark, to: &state) }
            state.entered = WatchLoop.now()
            guard !state.isEmpty else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for waiter in wake { waiter.resume() }
    }

    /// Drains a batch, suspending (without polling) while there is nothing; empty only if the task is cancelled. Root
    /// states come first, then renames and move-ins in their order, then the rest, oldest first.
    package func next() async -> Batch {
        while !Task.isCancelled {
            let batch = drain()
            if !batch.marks.isEmpty { return batch }
            let ticket = state.withLock { state in
                state.nextWaiter += 1
                return state.nextWaiter
            }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let resumeNow = state.withLock { state in
                        if !state.isEmpty || Task.isCancelled { return true }
                        state.waiting[ticket] = continuation
                        return false
                    }
                    if resumeNow { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.waiting.removeValue(forKey: ticket) }?.resume()
            }
        }
        return Batch(marks: [], entered: 0)
    }

    /// Drains a batch without waiting; empty if there is nothing.
    package func drain() -> Batch {
        state.withLock { state in
            var marks = state.states.dequeue(batch)
            marks += state.renames.dequeue(batch - marks.count)
            if marks.count < batch {
                let more = state.rest.dequeue(batch - marks.count)
                for mark in more { state.perRoot[mark.root, default: 1] -= 1 }
                marks += more
            }
            if !marks.isEmpty { state.isHandedOut = true }
            return Batch(marks: marks, entered: state.entered)
        }
    }

    /// Marks the drained batch as handled.
    package func acknowledge() { state.withLock { $0.isHandedOut = false } }

    /// Whether nothing is pending and the drained batch has been acknowledged.
    package var isIdle: Bool { state.withLock { $0.isEmpty && !$0.isHandedOut } }

    /// Pending marks.
    package var count: Int { state.withLock { $0.states.count + $0.renames.count + $0.rest.count } }

    private func add(_ mark: DirtyMark, to state: inout State) {
        switch mark {
        case .rootState:
            state.states.append(mark)
        case .renamed(let root, _, let toRoot, _):
            if state.renames.count < limit {
                state.renames.append(mark)
            } else {
                add(.subtree(root: root, path: ""), to: &state)
                add(.subtree(root: toRoot, path: ""), to: &state)
            }
        case .movedIn:
            // Queued with the renames, which may move it further. Beyond the limit, inodes must do.
            if state.renames.count < limit { state.renames.append(mark) }
        case .file(let root, let path), .subtree(let root, let path):
            if covered(root, path, state.rest) || !state.rest.append(mark) { return }
            state.perRoot[root, default: 0] += 1
            if state.perRoot[root, default: 0] > limit {
                state.rest.removeAll { $0.root == root }
                state.rest.append(.subtree(root: root, path: ""))
                state.perRoot[root] = 1
            }
        }
    }

    /// Whether a pending subtree mark already covers `path`: its scan has not run yet and will see this change.
    private func covered(_ root: String, _ path: BytePath, _ queue: MarkQueue) -> Bool {
        guard queue.hasSubtrees else { return false }
        var above = path
        while true {
            if queue.contains(.subtree(root: root, path: above)) { return true }
            if above.isEmpty { return false }
            above = above.parent
        }
    }
}

/// First in, first out, each mark at most once.
private struct MarkQueue {
    private var members: Set<DirtyMark> = []
    private var order: [DirtyMark] = []
    private var head = 0
    private var subtrees = 0

    var isEmpty: Bool { members.isEmpty }
    var count: Int { members.count }
    var hasSubtrees: Bool { subtrees > 0 }

    func contains(_ mark: DirtyMark) -> Bool { members.contains(mark) }

    @discardableResult
    mutating func append(_ mark: DirtyMark) -> Bool {
        guard members.insert(mark).inserted else { return false }
        order.append(mark)
        if case .subtree = mark { subtrees += 1 }
        return true
    }

    mutating func dequeue(_ limit: Int) -> [DirtyMark] {
        let marks = Array(order[head...].prefix(max(0, limit)))
        head += marks.count
        for mark in marks {
            members.remove(mark)
            if case .subtree = mark { subtrees -= 1 }
        }
        if head == order.count {
            order.removeAll(keepingCapacity: order.capacity < 4_096)
            // Give back the memory of a burst.
            if members.capacity > 4_096 { members = [] }
            head = 0
        } else if head > 4_096, head * 2 > order.count {
            order.removeSubrange(..<head)
            head = 0
        }
        return marks
    }

    mutating func removeAll(where unwanted: (DirtyMark) -> Bool) {
        order = order[head...].filter { !unwanted($0) }
        head = 0
        members = Set(order)
        subtrees = order.count { if case .subtree = $0 { true } else { false } }
    }
}

extension DirtyMark {
    /// The root of the mark; for a rename, the root it left.
    package var root: String {
        switch self {
        case .file(let root, _), .subtree(let root, _), .renamed(let root, _, _, _), .rootState(let root),
            .movedIn(let root, _, _):
            root
        }
    }
}
