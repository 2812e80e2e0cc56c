import Platform
import Testing

@testable import Ledger

@Suite("The outbox")
struct OutboxRowTests {
    private let ledger: Ledger

    init() throws { ledger = try Ledger.inMemory() }

    private static func event(_ id: String, key: String = "k", target: String = "hub", body: String = "{}")
        -> DeliveryRecord
    {
        DeliveryRecord(
            id: id, job: String(id.prefix { $0 != "." }), target: target, path: "/in", event: "file.arrived", key: key,
            hash: Sample.hash(body), size: body.utf8.count)
    }

    private func add(_ id: String, key: String = "k", target: String = "hub", body: String = "{}") async throws {
        let event = Self.event(id, key: key, target: target, body: body)
        #expect(try await ledger.write { try $0.addDelivery(event, body: body) })
    }

    private func next(_ key: String = "k", holds: Bool = false) async throws -> String? {
        try await ledger.read {
            try $0.nextDelivery(in: DeliveryLane(target: "hub", key: key), isHeldByDead: holds)?.id
        }
    }

    private func set(_ id: String, _ state: DeliveryRecord.State) async throws {
        try await ledger.write { transaction in
            var event = try #require(try transaction.delivery(id))
            event.state = state
            try transaction.update(event)
        }
    }

    private func bodies() async throws -> Int? { try await ledger.read { try $0.value("SELECT COUNT(*) FROM text") } }

    @Test("An event added twice is there once, as first added")
    func once() async throws {
        try await add("j.0", body: "{\"a\":1}")
        let again = Self.event("j.0", key: "other", body: "{\"a\":2}")
        #expect(try await ledger.write { try !$0.addDelivery(again, body: "{\"a\":2}") })
        let kept = try #require(try await ledger.read { try $0.delivery("j.0") })
        #expect(kept.key == "k" && kept.hash == Sample.hash("{\"a\":1}") && kept.state == .waiting)
        #expect(try await ledger.write { try $0.beginDelivery("j.0")?.body } == "{\"a\":1}")
        #expect(try await bodies() == 1)
    }

    @Test("Events with one key are sent in sequence, those of another target or key in parallel")
    func order() async throws {
        try await add("b.0")
        try await add("a.0")
        try await add("c.0", key: "other")
        try await add("d.0", target: "hook")
        #expect(try await next() == "b.0")
        #expect(try await next("other") == "c.0")
        #expect(try await ledger.write { try $0.beginDelivery("b.0")?.delivery.attempts } == 1)
        #expect(try await next() == "b.0", "what is being sent is not overtaken")
        try await set("b.0", .delivered)
        #expect(try await next() == "a.0")
        let lanes = try await ledger.read { try $0.waitingLanes() }
        #expect(
            Set(lanes)
                == [
                    DeliveryLane(target: "hub", key: "k"), DeliveryLane(target: "hub", key: "other"),
                    DeliveryLane(target: "hook", key: "k"),
                ])
    }

    @Test("One that was given up lets the events behind it pass, or holds them, as configured")
    func dead() async throws {
        try await add("a.0")
        try await add("b.0")
        try await set("a.0", .dead)
        #expect(try await next() == "b.0")
        #expect(try await next(holds: true) == nil)
        try await set("a.0", .dropped)
        #expect(try await next(holds: true) == "b.0")
    }

    @Test("Only waiting events are begun, and those begun before a crash are begun again, counting their attempts")
    func crash() async throws {
        try await add("a.0")
        let first = try #require(try await ledger.write { try $0.beginDelivery("a.0") })
        #expect(first.delivery.state == .sending && first.delivery.firstAttempt != nil)
        #expect(try await ledger.write { try $0.beginDelivery("a.0") == nil })
        #expect(try await ledger.write { try $0.resumeDeliveries() } == 1)
        let second = try #require(try await ledger.write { try $0.beginDelivery("a.0") })
        #expect(second.delivery.attempts == 2)
        #expect(second.delivery.firstAttempt == first.delivery.firstAttempt)
    }

    @Test(
        "A body is removed on delivery or withdrawal, unless another event or a step uses it",
        arguments: [
            DeliveryRecord.State.delivered, .dropped,
        ])
    func bodyGoes(_ end: DeliveryRecord.State) async throws {
        try await add("a.0", body: "{\"same\":true}")
        try await add("b.0", body: "{\"same\":true}")
        #expect(try await bodies() == 1)
        try await set("a.0", .dead)
        try await set("b.0", end)
        #expect(try await bodies() == 1, "a person may have the dead one sent again")
        try await set("a.0", end)
        #expect(try await bodies() == 0)
    }

    @Test("A delivered event is pruned with its job; a job whose event waits or was given up is kept")
    func pruned() async throws {
        for id in ["a", "b", "c"] {
            try await ledger.write { transaction in
                var job = Sample.job(id)
                _ = try transaction.addJob(job, steps: [])
                job.state = .done
                try transaction.update(job)
            }
            try await add("\(id).0", body: "{\"of\":\"\(id)\"}")
        }
        try await set("a.0", .delivered)
        try await set("b.0", .dead)
        let future = Timestamp.now().adding(seconds: 3600)
        #expect(try await ledger.prune(before: future) == 1)
        #expect(try await ledger.read { try $0.delivery("a.0") } == nil)
        #expect(try await ledger.read { try $0.openDeliveries().map(\.id) } == ["b.0", "c.0"])
        #expect(try await bodies() == 2)
        try await set("b.0", .dropped)
        #expect(try await ledger.prune(before: future) == 1)
        #expect(try await ledger.read { try $0.delivery("b.0") } == nil)
    }

    @Test("The counts report waiting events, due ones, those given up, and since when")
    func counts() async throws {
        #expect(try await ledger.read { try $0.outboxCounts() } == OutboxCounts())
        for id in ["a.0", "b.0", "c.0", "d.0"] { try await add(id) }
        try await add("e.0", key: "other")
        try await add("f.0", key: "other")
        try await set("a.0", .dead)
        try await set("d.0", .delivered)
        try await ledger.write { transaction in
            var later = try #require(try transaction.delivery("b.0"))
            later.nextAttempt = Timestamp.now().adding(seconds: 600)
            try transaction.update(later)
        }
        let counts = try await ledger.read { try $0.outboxCounts() }
        let oldest = try await ledger.read { try $0.delivery("b.0")?.created }
        #expect(counts == OutboxCounts(waiting: 4, due: 2, dead: 1, oldest: oldest), "c.0 waits behind b.0")
    }

    @Test("A decision about an event is void once somebody has withdrawn it or begun it again")
    func decidedTooLate() async throws {
        for id in ["a.0", "b.0"] { try await add(id) }
        let waiting = try #require(try await ledger.read { try $0.delivery("a.0") })
        try await set("a.0", .dropped)
        #expect(try await ledger.write { try !$0.update(waiting, from: waiting) })
        #expect(try await ledger.read { try $0.delivery("a.0")?.state } == .dropped)
        let sent = try #require(try await ledger.write { try $0.beginDelivery("b.0")?.delivery })
        try await ledger.write { transaction in
            _ = try transaction.resumeDeliveries()
            _ = try transaction.beginDelivery("b.0")
        }
        var failed = sent
        failed.state = .dead
        let dead = failed
        #expect(try await ledger.write { try !$0.update(dead, from: sent) })
        let again = try #require(try await ledger.read { try $0.delivery("b.0") })
        #expect(again.state == .sending && again.attempts == 2)
    }

    @Test("Events given up are listed by page, among waiting ones, in the order they were added")
    func pages() async throws {
        for id in ["a.0", "b.0", "c.0", "d.0"] { try await add(id) }
        try await set("b.0", .dead)
        try await set("c.0", .dropped)
        let first = try await ledger.read { try $0.openDeliveries(limit: 2) }
        #expect(first.map(\.id) == ["a.0", "b.0"])
        let last = try #require(first.last)
        #expect(try await ledger.read { try $0.openDeliveries(after: last.sequence, limit: 2).map(\.id) } == ["d.0"])
        #expect(try await ledger.read { try $0.openDeliveries(in: [.dead]).map(\.id) } == ["b.0"])
    }

    @Test("Waiting events and those given up are reset as if never tried, in their lanes; nothing else is touched")
    func renewed() async throws {
        for id in ["a.0", "b.0", "c.0", "d.0", "e.0"] { try await add(id) }
        try await add("f.0", target: "hook")
        try await set("a.0", .dead)
        try await set("b.0", .delivered)
        try await set("c.0", .dropped)
        _ = try await ledger.write { try $0.beginDelivery("d.0") }
        try await ledger.write { transaction in
            var tried = try #require(try transaction.delivery("f.0"))
            (tried.attempts, tried.triedFor, tried.firstAttempt) = (7, 60, .now())
            tried.nextAttempt = Timestamp.now().adding(seconds: 600)
            try transaction.update(tried)
        }
        let untouched = try await ledger.read { transaction in
            try ["b.0", "c.0", "d.0", "e.0"].map { try transaction.delivery($0) }
        }
        let all = try await ledger.read { try $0.retriableDeliveries() }
        #expect(all.count == 3)
        try await set("e.0", .waiting)
        let lanes = try await ledger.write { try $0.renewDeliveries(all) }
        #expect(lanes == [DeliveryLane(target: "hub", key: "k"): 2, DeliveryLane(target: "hook", key: "k"): 1])
        for id in ["a.0", "f.0"] {
            let fresh = try #require(try await ledger.read { try $0.delivery(id) })
            #expect(fresh.state == .waiting && fresh.attempts == 0 && fresh.triedFor == 0)
            #expect(fresh.firstAttempt == nil && fresh.nextAttempt == nil)
        }
        let after = try await ledger.read { transaction in
            try ["b.0", "c.0", "d.0", "e.0"].map { try transaction.delivery($0) }
        }
        #expect(after.map { $0?.state } == untouched.map { $0?.state })
        #expect(after.map { $0?.attempts } == untouched.map { $0?.attempts })
        #expect(try await ledger.write { try $0.renewDeliveries([Int64.max]) }.isEmpty)
    }

    @Test("After delivery nothing reveals the name of an event's hidden file")
    func hidden() async throws {
        ledger.names.hide { place, _ in place == "inbox" }
        try await ledger.write { _ = try $0.addJob(Sample.job("a"), steps: []) }
        try await add("a.0", key: "secret name")
        try await set("a.0", .delivered)
        let event = try #require(try await ledger.read { try $0.delivery("a.0") })
        #expect(event.path == "" && event.key == "")
    }
}
