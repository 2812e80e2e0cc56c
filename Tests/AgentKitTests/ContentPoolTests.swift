import AgentKit
import Platform
import Synchronization
import TestSupport
import Testing

@Suite("Tickets for content workers")
struct ContentPoolTests {
    /// Tickets in the order in which they were given.
    private final class Given: Sendable {
        private let all = Mutex<[(name: String, ticket: ContentPool.Ticket?)]>([])

        func add(_ name: String, _ ticket: ContentPool.Ticket?) { all.withLock { $0.append((name, ticket)) } }

        var names: [String] { all.withLock { $0 }.map(\.name) }

        /// Returns the last ticket, after this many seconds of CPU time.
        func leave(after seconds: Double = 0) {
            guard let ticket = all.withLock({ $0 }).last?.ticket else { return }
            ticket.spent(seconds)
            ticket.leave()
        }

        var last: ContentPool.Ticket? { all.withLock { $0 }.last?.ticket }
    }

    private let given = Given()

    private func enter(_ pool: ContentPool, _ place: String, _ user: UInt32, _ name: String) {
        let given = given
        pool.enter(ContentPool.Client(place: place, user: user), for: BytePath(name)) { given.add(name, $0) }
    }

    @Test("No more are issued than exist, and one place is served in the order its files arrived")
    func order() {
        let pool = ContentPool(width: 1)
        for name in ["a", "b", "c"] { enter(pool, "one", 1_000, name) }
        #expect(given.names == ["a"])
        #expect(pool.waiting == 2)
        #expect(pool.looks.map(\.path) == ["a"])
        given.leave()
        given.leave()
        #expect(given.names == ["a", "b", "c"])
        given.leave()
        #expect(pool.looks.isEmpty && pool.waiting == 0)
    }

    @Test("A place, or an owner in it, that has used up its time queues behind the others", arguments: [false, true])
    func fairness(byOwner: Bool) {
        let pool = ContentPool(width: 1)
        let (second, other): (String, UInt32) = byOwner ? ("one", 1_001) : ("two", 1_000)
        for name in ["slow 1", "slow 2", "slow 3", "slow 4"] { enter(pool, "one", 1_000, name) }
        for name in ["quick 1", "quick 2"] { enter(pool, second, other, name) }
        // Half of it is used twice.
        given.leave(after: ContentPool.quantum / 2)
        given.leave(after: ContentPool.quantum / 2)
        #expect(given.names == ["slow 1", "slow 2", "quick 1"])
        given.leave(after: 0.1)
        given.leave(after: 0.1)
        #expect(given.names == ["slow 1", "slow 2", "quick 1", "quick 2", "slow 3"])
        enter(pool, second, other, "quick 3")
        given.leave(after: ContentPool.quantum)
        #expect(given.names.suffix(2) == ["slow 3", "quick 3"])
        given.leave()
        #expect(given.names.last == "slow 4")
    }

    @Test("When the agent stops, no more are issued, and issued ones become invalid")
    func stopping() async throws {
        let pool = ContentPool(width: 1)
        for name in ["a", "b"] { enter(pool, "one", 1_000, name) }
        let first = try #require(given.last)
        try first.check()
        let blocked = Task { try await BlockingPool("test").run { _ = try pool.ticket(.init(place: "two", user: 1)) } }
        try await waitUntil("it waits") { pool.waiting == 2 }
        pool.stop()
        #expect(given.names == ["a", "b"] && given.last == nil)
        await #expect(throws: CancellationError.self) { try await blocked.value }
        #expect(throws: CancellationError.self) { try first.check() }
        enter(pool, "one", 1_000, "c")
        #expect(given.names.last == "c" && given.last == nil)
        first.leave()
        #expect(pool.looks.isEmpty)
    }
}
