import Dispatch
import Platform
import Synchronization

/// A limited number of tickets for processes that look into files for rules; each process needs one. Requests queue per
/// place and file owner. A queue is served until it has used ``quantum`` of processor time, then goes to the back: slow
/// files delay only their own place and owner.
package final class ContentPool: Sendable {
    /// The place and owner of a file.
    package struct Client: Hashable, Sendable {
        package let place: String
        package let user: UInt32

        package init(place: String, user: UInt32) { (self.place, self.user) = (place, user) }
    }

    /// Permission for one process to look into a file. Returned by ``leave()``.
    package final class Ticket: Sendable {
        fileprivate let pool: ContentPool
        fileprivate let client: Client
        fileprivate let id: Int
        private let used = Mutex(0.0)

        fileprivate init(_ pool: ContentPool, _ client: Client, _ id: Int) {
            (self.pool, self.client, self.id) = (pool, client, id)
        }

        /// Charges processor time, in seconds, to the ticket's client.
        package func spent(_ seconds: Double) { used.withLock { $0 += seconds } }

        /// - Throws: `CancellationError` once the agent stops.
        package func check() throws { try pool.check() }

        /// Returns the ticket; call this once.
        package func leave() { pool.leave(self, used.withLock { $0 }) }
    }

    /// A file being looked into.
    package struct Look: Sendable {
        package let place: String
        /// nil if only its place is known.
        package let path: BytePath?
        package let since: ContinuousClock.Instant
    }

    private struct Waiter {
        let path: BytePath?
        let go: @Sendable (Ticket?) -> Void
    }

    private struct State {
        var isStopped = false
        var atWork: [Int: Look] = [:]
        var next = 0
        var queues: [Client: [Waiter]] = [:]
        /// Clients with a queue, in serving order.
        var turns: [Client] = []
        /// Processor seconds used in the current turn, by clients that are waiting or running.
        var used: [Client: Double] = [:]
    }

    /// Processor seconds after which the next place or owner is served.
    package static let quantum = 10.0

    private let width: Int
    private let state = Mutex(State())

    /// - Parameter width: maximum number of simultaneous processes.
    package init(width: Int) { self.width = max(1, width) }

    /// Calls `go` with a ticket, now or later; with nil if the agent stops first. `go` must not block.
    package func enter(_ client: Client, for path: BytePath?, go: @escaping @Sendable (Ticket?) -> Void) {
        let isStopped = state.withLock { state in
            guard !state.isStopped else { return true }
            if state.queues[client] == nil { state.turns.append(client) }
            state.queues[client, default: []].append(Waiter(path: path, go: go))
            return false
        }
        if isStopped { go(nil) } else { serve() }
    }

    /// Waits for a ticket. Blocks.
    ///
    /// - Throws: `CancellationError` once the agent stops.
    package func ticket(_ client: Client) throws -> Ticket {
        let found = Mutex<Ticket?>(nil)
        let hasCome = DispatchSemaphore(value: 0)
        enter(client, for: nil) { ticket in
            found.withLock { $0 = ticket }
            hasCome.signal()
        }
        hasCome.wait()
        guard let ticket = found.withLock({ $0 }) else { throw CancellationError() }
        return ticket
    }

    /// The files being looked into, oldest first.
    package var looks: [Look] { state.withLock { $0.atWork.values.sorted { $0.since < $1.since } } }

    /// The number of waiting requests.
    package var waiting: Int { state.withLock { $0.queues.values.reduce(0) { $0 + $1.count } } }

    /// Issues no more tickets, and invalidates those in use.
    package func stop() {
        let left = state.withLock { state in
            state.isStopped = true
            defer { (state.queues, state.turns) = ([:], []) }
            return state.queues.values.flatMap(\.self)
        }
        for waiter in left { waiter.go(nil) }
    }

    fileprivate func check() throws {
        if state.withLock({ $0.isStopped }) { throw CancellationError() }
    }

    private func serve() {
        while let (waiter, ticket) = state.withLock({ next(&$0) }) { waiter.go(ticket) }
    }

    private func next(_ state: inout State) -> (Waiter, Ticket)? {
        guard state.atWork.count < width, let client = state.turns.first,
            let waiter = state.queues[client]?.first
        else { return nil }
        state.queues[client]?.removeFirst()
        if state.queues[client]?.isEmpty == true {
            state.queues[client] = nil
            state.turns.removeFirst()
        }
        state.next += 1
        state.atWork[state.next] = Look(place: client.place, path: waiter.path, since: .now)
        return (waiter, Ticket(self, client, state.next))
    }

    private func leave(_ ticket: Ticket, _ seconds: Double) {
        let client = ticket.client
        state.withLock { state in
            guard let look = state.atWork.removeValue(forKey: ticket.id) else { return }
            let used = state.used[client, default: 0] + seconds
            if used >= Self.quantum {
                state.used[client] = nil
                if let turn = state.turns.firstIndex(of: client) {
                    state.turns.remove(at: turn)
                    state.turns.append(client)
                }
            } else {
                // A client with nothing queued, and whose place has nothing running, starts afresh.
                let isHere = state.queues[client] != nil || state.atWork.values.contains { $0.place == look.place }
                state.used[client] = isHere ? used : nil
            }
        }
        serve()
    }
}

/// Whether the current judgement may start a process to look into a file.
package enum ContentTurn: Sendable {
    /// Not yet: the judgement is repeated once there is a ticket.
    case later
    case now(ContentPool.Ticket)

    /// nil for callers that block until they get a ticket.
    @TaskLocal package static var current: ContentTurn?
}
