import Ledger
import Logging
import Platform
import RuleActions
import Synchronization
import TestSupport
import Testing

@Suite("Waits of the courier") struct CourierWaitTests: CourierScene {
    let folder: TemporaryFolder
    let outbox: Outbox

    init() throws {
        folder = try TemporaryFolder("courier")
        outbox = Outbox(ledger: try Ledger.open(directory: folder.path).ledger)
    }

    @Test("Time while the agent was off, or skipped by a clock change, does not count towards giving up")
    func away() async throws {
        let sender = ScriptedSender { _ in .retry(after: nil, status: nil, reason: "nothing answers there") }
        try await add("a.0")
        try await ledger.write { transaction in
            var event = try #require(try transaction.delivery("a.0"))
            event.firstAttempt = Timestamp.now().adding(seconds: -7200)
            event.attempts = 4
            try transaction.update(event)
        }
        let courier = courier(sender, try target { $0.giveUpAfter = 3600 })
        try await courier.start()
        try await waitUntil("it has been tried often") { sender.sent.count > 4 }
        #expect(try await state("a.0") != .dead)
        #expect((try await ledger.read { try $0.delivery("a.0")?.triedFor } ?? 0) > 0)
        await courier.stop()
    }

    @Test("An event that lacks a credential waits, whatever `attempts` and `give-up-after` say")
    func notSent() async throws {
        let isThere = Atomic<Bool>(false)
        let sender = ScriptedSender { _ in
            isThere.load(ordering: .relaxed) ? .delivered(status: 200) : .notSent(reason: "there is no credential")
        }
        try await add("a.0")
        let courier = courier(
            sender,
            try target {
                $0.attempts = 1
                $0.giveUpAfter = 0
            })
        try await courier.start()
        try await waitUntil("it has been tried") { sender.sent.count > 5 }
        #expect(sender.sent.allSatisfy { $0.attempt == 1 })
        isThere.store(true, ordering: .relaxed)
        try await until("a.0", .delivered)
        await courier.stop()
    }

    @Test("Waking a lane while the courier starts, and starts again, sends nothing twice")
    func startsOnce() async throws {
        let sender = ScriptedSender { _ in
            do { try await Task.sleep(for: .milliseconds(2)) } catch { return .cancelled }
            return .delivered(status: 200)
        }
        let ids = (0..<40).map { "e\($0).0" }
        for id in ids { try await add(id, key: id) }
        let courier = courier(sender, try target(), limit: 40)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    do { try await courier.start() } catch { Issue.record("\(error)") }
                }
            }
            for id in ids {
                group.addTask { await courier.wake(DeliveryLane(target: "hub", key: id)) }
            }
        }
        for id in ids { try await until(id, .delivered) }
        #expect(sender.sent.map(\.id).sorted() == ids.sorted())
        #expect(sender.sent.allSatisfy { $0.attempt == 1 })
        await courier.stop()
    }

    @Test("A target that does not respond delays no other, and is tried by one lane at a time")
    func fair() async throws {
        let silent = ScriptedSender { _ in
            do { try await Task.sleep(for: .seconds(3600)) } catch { return .cancelled }
            return .delivered(status: 200)
        }
        let busy = ScriptedSender { _ in .retry(after: nil, status: 503, reason: "busy") }
        let well = ScriptedSender()
        for number in 0..<20 {
            try await add("s\(number).0", key: "\(number)", to: "silent")
            try await add("b\(number).0", key: "\(number)", to: "busy")
        }
        for number in 0..<20 { try await add("w\(number).0", key: "\(number)", to: "well") }
        let courier = Courier(
            outbox: outbox, targets: try ["silent", "busy", "well"].map { try ActionWorld.hub($0) },
            senders: ["silent": silent, "busy": busy, "well": well], limit: 6, backoff: Self.backoff,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await courier.start()
        for number in 0..<20 { try await until("w\(number).0", .delivered) }
        #expect(silent.sent.count == 2, "its share")
        let before = busy.sent.count
        try await waitUntil("it is asked on and on") { busy.sent.count > before + 20 }
        #expect(Set(busy.sent.map(\.id)).count > 2, "each lane has its turn")
        await courier.stop(timeout: 0.05)
    }

    @Test("A wait requested by a receiver applies to all its lanes, and beyond an event given up or dropped")
    func asked() async throws {
        let sender = ScriptedSender { _ in .retry(after: 3600, status: 429, reason: "HTTP 429") }
        try await add("a.0")
        let courier = courier(sender, try target { $0.attempts = 1 })
        try await courier.start()
        try await until("a.0", .dead)
        try await add("b.0")
        try await add("c.0", key: "other")
        try await waitUntil("nothing is left to do") { await courier.isIdle }
        #expect(sender.sent.map(\.id) == ["a.0"])
        // A person need not wait.
        outbox.wake(DeliveryLane(target: "hub", key: "other"), isAskedFor: true)
        try await until("c.0", .dead)
        #expect(sender.sent.map(\.id) == ["a.0", "c.0"])
        await courier.stop()
    }

    @Test("A clock that was set back delays an event no longer than its wait")
    func setBack() async throws {
        try await add("a.0")
        // A calendar that jumped years ahead, and a time to wait for by it.
        let time = Timestamp.now().adding(seconds: 1e8)
        try await ledger.write { transaction in
            var event = try #require(try transaction.delivery("a.0"))
            event.attempts = 1
            event.nextAttempt = time
            try transaction.update(event)
        }
        try await writeUpdated("a.0", time.adding(seconds: -0.05))
        let sender = ScriptedSender()
        let courier = courier(sender, try target())
        try await courier.start()
        try await until("a.0", .delivered)
        await courier.stop()
    }

    @Test("An event dropped while it is being sent stays dropped")
    func takenOut() async throws {
        let isTakenOut = Atomic<Bool>(false)
        let sender = ScriptedSender { _ in
            while !isTakenOut.load(ordering: .relaxed) {
                do { try await Task.sleep(for: .milliseconds(2)) } catch { return .cancelled }
            }
            return .retry(after: nil, status: 500, reason: "HTTP 500")
        }
        try await add("a.0")
        let courier = courier(sender, try target())
        try await courier.start()
        try await waitUntil("it is under way") { sender.sent.count == 1 }
        try await ledger.write { transaction in
            var event = try #require(try transaction.delivery("a.0"))
            event.state = .dropped
            try transaction.update(event)
        }
        isTakenOut.store(true, ordering: .relaxed)
        try await waitUntil("nothing is left to do") { await courier.isIdle }
        #expect(try await state("a.0") == .dropped && sender.sent.count == 1)
        await courier.stop()
    }
}
