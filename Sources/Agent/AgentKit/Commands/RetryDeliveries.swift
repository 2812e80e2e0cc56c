import Ledger
import Platform
import RuleActions
import Rules

/// `steward outbox retry --all`: resends all events that are waiting or were given up.
package struct RetryDeliveries: Command {
    /// The number of events to resend.
    package struct Answer: Codable, Sendable {
        var events = 0
        /// By target name.
        var targets: [String: Int] = [:]
    }

    package static let name = "outbox-retry-all"

    /// Events per transaction, so that other transactions get their turn.
    private static let batch = 1_000

    package init() {}

    package func run(in agent: AgentContext) async throws -> Answer {
        var all = Answer()
        var rest = try await agent.ledger.read { try $0.retriableDeliveries() }[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.batch)
            rest = rest.dropFirst(Self.batch)
            let lanes = try await agent.ledger.write { transaction -> [DeliveryLane: Int] in
                let lanes = try transaction.renewDeliveries(part)
                let count = lanes.values.reduce(0, +)
                if count > 0 { try transaction.note("delivery", "\(count) events queued again") }
                return lanes
            }
            for (lane, count) in lanes {
                all.events += count
                all.targets[lane.target, default: 0] += count
                agent.core.outbox.wake(lane, isAskedFor: true)
            }
        }
        return all
    }

    package func lines(_ answer: Answer) -> [String] {
        if answer.targets.isEmpty { return ["no event is waiting or was given up"] }
        return answer.targets.sorted { $0.key < $1.key }.map { "\($0.value) events to \($0.key): queued again" }
    }
}

extension AgentContext {
    /// Changes an event that is waiting or was given up.
    ///
    /// - Parameter excuse: the message for an event that is already settled.
    /// - Throws: `Fault(.usage)` if there is no such event.
    func change(
        _ event: String, orSay excuse: String,
        _ change: @escaping @Sendable (inout DeliveryRecord, LedgerTransaction) throws -> Void
    ) async throws -> DeliveryRecord {
        let asked = try await delivery(event)
        return try await ledger.write { transaction in
            guard var fresh = try transaction.delivery(asked.id), fresh.state == .waiting || fresh.state == .dead else {
                throw Fault(.usage, "the event \(asked.shortID) is \(asked.state.rawValue); \(excuse)")
            }
            try change(&fresh, transaction)
            try transaction.update(fresh)
            return fresh
        }
    }

    /// The event that `text` names: by its id, by its abbreviated id from `steward outbox`, or by the beginning of its
    /// job's id.
    private func delivery(_ text: String) async throws -> DeliveryRecord {
        let job = String(text.prefix { $0 != "." })
        guard !job.isEmpty else { throw Fault(.usage, "name an event; `steward outbox` lists them") }
        let step = text.drop { $0 != "." }
        let all = try await ledger.read { try $0.deliveries(jobPrefix: job) }
        return try all.filter { step.isEmpty || $0.id.drop { $0 != "." } == step }
            .only("event", beginning: text, shownBy: "steward outbox")
    }
}
