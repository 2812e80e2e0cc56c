import GRDB
import Ledger
import Logging
import Platform
import RuleActions
import Synchronization
import TestSupport
import Testing

/// Answers by script, and records what it was asked to send.
final class ScriptedSender: EventSender {
    private let script: @Sendable (OutgoingEvent) async -> SendOutcome
    private let state = Mutex<(sent: [OutgoingEvent], under: Int, most: Int)>(([], 0, 0))

    init(_ script: @escaping @Sendable (OutgoingEvent) async -> SendOutcome = { _ in .delivered(status: 200) }) {
        self.script = script
    }

    var sent: [OutgoingEvent] { state.withLock { $0.sent } }
    /// The maximum number in flight at the same time.
    var most: Int { state.withLock { $0.most } }

    func send(_ event: OutgoingEvent) async -> SendOutcome {
        state.withLock { state in
            state.sent.append(event)
            state.under += 1
            state.most = max(state.most, state.under)
        }
        let outcome = await script(event)
        state.withLock { $0.under -= 1 }
        return outcome
    }

    func unreachable() async -> String? { nil }
}

/// An outbox in a ledger on disk, and couriers for it.
protocol CourierScene {
    var folder: TemporaryFolder { get }
    var outbox: Outbox { get }
}

extension CourierScene {
    var ledger: Ledger { outbox.ledger }
    /// Without jitter, so that waits can be told.
    static var backoff: Backoff { Backoff(first: .milliseconds(5), longest: .milliseconds(5)) }

    func target(_ set: (inout PublishTarget) -> Void = { _ in }) throws -> PublishTarget {
        var target = try ActionWorld.hub()
        set(&target)
        return target
    }

    func courier(
        _ sender: ScriptedSender, _ target: PublishTarget, limit: Int = 4, outbox: Outbox? = nil,
        changed: @escaping @Sendable () -> Void = {}
    ) -> Courier {
        Courier(
            outbox: outbox ?? self.outbox, targets: [target], senders: [target.name: sender], limit: limit,
            backoff: Self.backoff, changed: changed, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    func add(_ id: String, key: String = "k", to target: String = "hub") async throws {
        let body = "{\"id\":\"\(id)\"}"
        let event = DeliveryRecord(
            id: id, job: String(id.prefix { $0 != "." }), target: target, path: "/p", event: "e", key: key,
            hash: ContentHash(of: Array(body.utf8)), size: body.utf8.count)
        #expect(try await ledger.write { try $0.addDelivery(event, body: body) })
        outbox.wake(event.lane)
    }

    /// As left by a courier whose calendar showed this time.
    func writeUpdated(_ id: String, _ time: Timestamp) async throws {
        let database = try DatabaseQueue(path: folder.path.appending("ledger.sqlite").text)
        try await database.write {
            try $0.execute(sql: "UPDATE outbox SET updated = ? WHERE id = ?", arguments: [time.nanoseconds, id])
        }
    }

    func state(_ id: String) async throws -> DeliveryRecord.State? {
        try await ledger.read { try $0.delivery(id)?.state }
    }

    func until(_ id: String, _ wanted: DeliveryRecord.State) async throws {
        try await waitUntil("\(id) is \(wanted)") { try await state(id) == wanted }
    }
}
