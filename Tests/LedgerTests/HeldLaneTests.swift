import Ledger
import Platform
import Testing

@Suite("Sequences held by a failed event")
struct HeldLaneTests {
    private let ledger: Ledger

    init() throws { ledger = try Ledger.inMemory() }

    private func add(_ id: String, _ state: DeliveryRecord.State = .waiting, key: String = "k", target: String = "hub")
        async throws
    {
        let event = DeliveryRecord(
            id: id, job: "j", target: target, path: "", event: "e", key: key, hash: Sample.hash("{}"), size: 2)
        try await ledger.write { transaction in
            #expect(try transaction.addDelivery(event, body: "{}"))
            var placed = event
            placed.state = state
            try transaction.update(placed)
        }
    }

    private func held(_ targets: [String] = ["hub"]) async throws -> [HeldLane] {
        try await ledger.read { try $0.heldLanes(of: targets) }
    }

    @Test("The first event given up is named, with those waiting behind it, if its target holds them")
    func named() async throws {
        try await add("a.0", .dead)
        try await add("b.0")
        try await add("c.0", .dead)
        try await add("d.0")
        try await add("e.0", .dead, target: "hook")
        try await add("f.0", target: "hook")
        #expect(try await held([]).isEmpty)
        let lane = try #require(try await held().first)
        let since = try #require(try await ledger.read { try $0.delivery("a.0")?.updated })
        #expect(try await held().count == 1)
        #expect(lane == HeldLane(target: "hub", key: "k", event: "a.0", since: since, waiting: 2, isDue: true))
        #expect(try await held(["hub", "hook"]).map(\.event) == ["a.0", "e.0"])
    }

    @Test("Events before it are not held, nor is a sequence without waiting events")
    func notHeld() async throws {
        try await add("a.0")
        try await add("b.0", .dead)
        try await add("c.0")
        try await add("d.0", .dead, key: "other")
        #expect(try await held().isEmpty)
        try await ledger.write { transaction in
            var sent = try #require(try transaction.delivery("a.0"))
            sent.state = .delivered
            try transaction.update(sent)
        }
        #expect(try await held().map(\.event) == ["b.0"])
        #expect(
            try await ledger.read { try $0.nextDelivery(in: DeliveryLane(target: "hub", key: "k"), isHeldByDead: true) }
                == nil, "what is said to be held is what is held")
    }

    @Test("Held events do not count as due")
    func counts() async throws {
        try await add("a.0", .dead)
        try await add("b.0")
        try await add("c.0")
        try await add("d.0", key: "other")
        let lanes = try await held()
        var counts = try await ledger.read { try $0.outboxCounts() }
        let oldest = counts.oldest
        #expect(counts == OutboxCounts(waiting: 3, due: 3, dead: 1, oldest: oldest))
        counts.hold(lanes)
        #expect(counts == OutboxCounts(waiting: 3, due: 1, dead: 1, held: 2, oldest: oldest))
    }
}
