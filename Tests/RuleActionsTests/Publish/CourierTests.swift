import Logging
import Platform
import RuleActions
import Synchronization
import TestSupport
import Testing

@testable import Ledger

@Suite("The courier") struct CourierTests: CourierScene {
    let folder: TemporaryFolder
    let outbox: Outbox

    init() throws {
        folder = try TemporaryFolder("courier")
        outbox = Outbox(ledger: try Ledger.open(directory: folder.path).ledger)
    }

    @Test("Events of an earlier run and later ones are sent, and their bodies are then removed")
    func sends() async throws {
        let sender = ScriptedSender()
        let courier = courier(sender, try target { $0.path = "/base" })
        try await add("a.0")
        try await courier.start()
        try await until("a.0", .delivered)
        try await add("b.0")
        try await until("b.0", .delivered)
        #expect(
            sender.sent == [
                OutgoingEvent(id: "a.0", event: "e", path: "/base/p", body: "{\"id\":\"a.0\"}", attempt: 1),
                OutgoingEvent(id: "b.0", event: "e", path: "/base/p", body: "{\"id\":\"b.0\"}", attempt: 1),
            ])
        let bodies: Int? = try await ledger.read { try $0.value("SELECT COUNT(*) FROM text") }
        #expect(bodies == 0)
        await courier.stop()
    }

    @Test("Events with one key are sent one at a time, in order, whatever fails; keys run in parallel up to the limit")
    func order() async throws {
        var random = SeededGenerator(for: "the courier's order")
        let failing = Set((0..<60).filter { _ in Bool.random(using: &random) }.map { "e\($0).0" })
        let sender = ScriptedSender { event in
            do { try await Task.sleep(for: .milliseconds(1)) } catch { return .cancelled }
            return failing.contains(event.id) && event.attempt < 3
                ? .retry(after: nil, status: 503, reason: "busy") : .delivered(status: 200)
        }
        for number in 0..<60 { try await add("e\(number).0", key: "k\(number % 6)") }
        let courier = courier(sender, try target(), limit: 3)
        try await courier.start()
        for number in 0..<60 { try await until("e\(number).0", .delivered) }
        #expect(sender.most > 1 && sender.most <= 3)
        for key in 0..<6 {
            let arrived = sender.sent.filter { event in
                Int(event.id.dropFirst().dropLast(2)).map { $0 % 6 == key } ?? false
            }.map(\.id)
            let wanted = stride(from: key, to: 60, by: 6).flatMap { number in
                Array(repeating: "e\(number).0", count: failing.contains("e\(number).0") ? 3 : 1)
            }
            #expect(arrived == wanted)
        }
        await courier.stop()
    }

    @Test(
        "A rejection gives the event up at once and is reported, attempts and time later; those behind continue")
    func dead() async throws {
        let sender = ScriptedSender { event in
            switch event.id {
            case "a.0": .refused(status: 422, reason: "HTTP 422")
            case "b.0": .retry(after: nil, status: 500, reason: "HTTP 500")
            default: .delivered(status: 204)
            }
        }
        for id in ["a.0", "b.0", "c.0"] { try await add(id) }
        let told = Mutex(0)
        let courier = courier(sender, try target { $0.attempts = 3 }, changed: { told.withLock { $0 += 1 } })
        try await courier.start()
        try await until("c.0", .delivered)
        #expect(told.withLock { $0 } == 2)
        let dead = try await ledger.read { try $0.openDeliveries() }
        #expect(dead.map(\.id) == ["a.0", "b.0"] && dead.allSatisfy { $0.state == .dead })
        #expect(dead.map(\.attempts) == [1, 3] && dead.map(\.status) == [422, 500])
        #expect(dead[0].problem == "HTTP 422")
        let lines = try await ledger.read { try $0.history(limit: 10, after: 0, job: nil).map(\.kind) }
        #expect(lines.filter { $0 == "dead" }.count == 2 && lines.contains("delivered"))
        await courier.stop()
    }

    @Test(
        "After trying for `give-up-after`, an event is given up, however few the attempts")
    func age() async throws {
        let sender = ScriptedSender { _ in .retry(after: 3600, status: nil, reason: "nothing answers there") }
        try await add("a.0")
        try await add("b.0", key: "other")
        try await ledger.write { transaction in
            var event = try #require(try transaction.delivery("a.0"))
            event.triedFor = 7200
            try transaction.update(event)
        }
        let courier = courier(sender, try target { $0.giveUpAfter = 3600 })
        try await courier.start()
        try await until("a.0", .dead)
        try await waitUntil("both have been tried") { sender.sent.count == 2 }
        try await until("b.0", .waiting)
        await courier.stop()
    }

    @Test("With `on-dead: hold`, later events wait until somebody retries or drops the one given up")
    func hold() async throws {
        let isMended = Atomic<Bool>(false)
        let sender = ScriptedSender { event in
            event.id == "a.0" && !isMended.load(ordering: .relaxed)
                ? .refused(status: 400, reason: "HTTP 400") : .delivered(status: 200)
        }
        for id in ["a.0", "b.0"] { try await add(id) }
        try await add("other.0", key: "other")
        let courier = courier(sender, try target { $0.onDead = .hold })
        try await courier.start()
        try await until("a.0", .dead)
        try await until("other.0", .delivered)
        try await waitUntil("nothing is left to do") { await courier.isIdle }
        #expect(try await state("b.0") == .waiting)
        isMended.store(true, ordering: .relaxed)
        try await ledger.write { transaction in
            var event = try #require(try transaction.delivery("a.0"))
            event.state = .waiting
            try transaction.update(event)
        }
        outbox.wake(DeliveryLane(target: "hub", key: "k"))
        try await until("b.0", .delivered)
        #expect(sender.sent.filter { $0.id != "other.0" }.map(\.id) == ["a.0", "a.0", "b.0"])
        await courier.stop()
    }

    @Test("A wait requested by the receiver is honoured, at most a day, and survives a restart")
    func waits() async throws {
        let sender = ScriptedSender { event in
            .retry(after: event.id == "a.0" ? 3600 : 1e12, status: 429, reason: "HTTP 429")
        }
        try await add("a.0")
        try await add("b.0", key: "other")
        let courier = courier(sender, try target())
        let before = Timestamp.now()
        try await courier.start()
        try await waitUntil("both have been tried") { sender.sent.count == 2 }
        try await waitUntil("nothing is left to do") { await courier.isIdle }
        let events = try await ledger.read { try $0.openDeliveries() }
        #expect(events.map(\.state) == [.waiting, .waiting])
        let waits = events.map { ($0.nextAttempt?.seconds ?? 0) - before.seconds }
        #expect(waits[0] >= 3600 && waits[0] < 4000 && waits[1] >= 86_400 && waits[1] < 86_800, "\(waits)")
        await courier.stop()
        let next = ScriptedSender()
        let second = self.courier(next, try target())
        try await second.start()
        try await waitUntil("it has looked") { await second.isIdle }
        #expect(next.sent.isEmpty)
        await second.stop()
    }

    @Test("An event behind a waiting one neither overtakes it nor hastens it")
    func behind() async throws {
        let sender = ScriptedSender { _ in .retry(after: 3600, status: 503, reason: "HTTP 503") }
        let courier = courier(sender, try target())
        try await courier.start()
        try await add("a.0")
        try await waitUntil("it has been tried") { sender.sent.count == 1 }
        try await add("b.0")
        try await waitUntil("nothing is left to do") { await courier.isIdle }
        #expect(sender.sent.map(\.id) == ["a.0"])
        await courier.stop()
    }

    @Test("An event whose target is no longer configured waits, and says why")
    func noTarget() async throws {
        try await add("a.0")
        let courier = courier(ScriptedSender(), try ActionWorld.hub("another"))
        try await courier.start()
        try await waitUntil("it says why") { try await ledger.read { try $0.delivery("a.0")?.problem != nil } }
        #expect(try await state("a.0") == .waiting)
        #expect(try await ledger.read { try $0.delivery("a.0")?.attempts } == 0)
        await courier.stop()
    }

    @Test("While paused nothing is begun")
    func paused() async throws {
        let sender = ScriptedSender()
        let courier = courier(sender, try target())
        try await add("a.0")
        try await courier.start(isPaused: true)
        try await add("b.0")
        #expect(await courier.isIdle)
        #expect(sender.sent.isEmpty)
        await courier.setPaused(false)
        try await until("b.0", .delivered)
        await courier.stop()
    }

    @Test("Stopping lets requests complete, and aborts long ones, which are sent again under their key")
    func stops() async throws {
        let sender = ScriptedSender { event in
            if event.attempt > 1 || event.id == "b.0" { return .delivered(status: 200) }
            do { try await Task.sleep(for: .seconds(3600)) } catch { return .cancelled }
            return .delivered(status: 200)
        }
        try await add("a.0")
        let courier = courier(sender, try target())
        try await courier.start()
        try await waitUntil("it is under way") { sender.sent.count == 1 }
        #expect(try await state("a.0") == .sending)
        await courier.stop(timeout: 0.05)
        // On a slow disk, the shutdown lets it finish before the ledger is informed.
        try await until("a.0", .waiting)
        try await add("b.0")
        #expect(sender.sent.count == 1, "nothing is begun any more")
        let second = self.courier(sender, try target())
        try await second.start()
        try await until("b.0", .delivered)
        #expect(sender.sent.map(\.id) == ["a.0", "a.0", "b.0"])
        await second.stop()
    }

    @Test("A request in progress when the agent was killed is sent again, under the same id")
    func resent() async throws {
        try await add("a.0")
        #expect(try await ledger.write { try $0.beginDelivery("a.0") != nil })
        let sender = ScriptedSender()
        let courier = courier(sender, try target())
        try await courier.start()
        try await until("a.0", .delivered)
        #expect(sender.sent.map(\.attempt) == [2])
        // And one whose start was not reported to the agent.
        let event = DeliveryRecord(
            id: "b.0", job: "b", target: "hub", path: "", event: "e", key: "k", hash: ContentHash(of: Array("{}".utf8)),
            size: 2)
        try await ledger.write { transaction in
            _ = try transaction.addDelivery(event, body: "{}")
            _ = try transaction.beginDelivery(event.id)
        }
        outbox.wake(event.lane)
        try await until("b.0", .delivered)
        await courier.stop()
    }
}
