import Dispatch
import Platform
import Synchronization

/// The pool of tickets for processes that look into files for rules: each of them is started with a ticket, and there are
/// few. Whoever wants one waits in a queue of the place and the owner whose file it is. One of these queues is served until
/// it has used ``quantum`` of processor time, and then goes behind the others: files that take long hold up their own place
/// and owner, and nobody else.
package final class ContentPool: Sendable {
    /// Whose file it is.
    package struct Client: Hashable, Sendable {
        package let place: String
        package let user: UInt32

        package init(place: String, user: UInt32) { (self.place, self.user) = (place, user) }
    }

    /// The right to have one process look into a file. Given back by ``leave()``.
    package final class Ticket: Sendable {
        fileprivate let pool: ContentPool
        fileprivate let client: Client
        fileprivate let id: Int
        private let used = Mutex(0.0)

        fileprivate init(_ pool: ContentPool, _ client: Client, _ id: Int) {
            (self.pool, self.client, self.id) = (pool, client, id)
        }

        /// Counts processor time, in seconds, against whoever has the ticket.
        package func spent(_ seconds: Double) { used.withLock { $0 += seconds } }

        /// - Throws: `CancellationError` once the agent stops.
        package func check() throws { try pool.check() }

        /// To be called once.
        package func leave() { pool.leave(self, used.withLock { $0 }) }
    }

    /// A file that is being looked into.
    package struct Look: Sendable {
        package let place: String
        /// Nil where only its place is known.
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
        /// Those with a queue, in the order in which they are served.
        var turns: [Client] = []
        /// Processor seconds since their turn began, of those that have a queue or are at work.
        var used: [Client: Double] = [:]
    }

    /// Seconds of the processor after which the next place or owner is served.
    package static let quantum = 10.0

    private let width: Int
    private let state = Mutex(State())

    /// - Parameter width: how many processes may run at the same time.
    package init(width: Int) { self.width = max(1, width) }

    /// Has `go` called with a ticket, at once or later; with nil where the agent stops before there is one. It must not block.
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

    /// What is being looked into, the oldest first.
    package var looks: [Look] { state.withLock { $0.atWork.values.sorted { $0.since < $1.since } } }

    /// How many wait for a ticket.
    package var waiting: Int { state.withLock { $0.queues.values.reduce(0) { $0 + $1.count } } }

    /// No ticket is given any more, and those that are out are good for nothing.
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
                // Who waits for nothing begins anew.
                let isHere = state.queues[client] != nil || state.atWork.values.contains { $0.place == look.place }
                state.used[client] = isHere ? used : nil
            }
        }
        serve()
    }
}

/// Whether what is being done may have a file looked into by a process.
package enum ContentTurn: Sendable {
    /// Not yet: it is done again when there is a ticket.
    case later
    case now(ContentPool.Ticket)

    /// Nil for whoever waits for a ticket where it stands.
    @TaskLocal package static var current: ContentTurn?
}
