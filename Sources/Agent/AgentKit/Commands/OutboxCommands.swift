import Ledger
import Platform
import PublishActions
import Rules

/// `steward outbox retry EVENT`: has an event sent as soon as can be, as if it had never been tried.
package struct RetryDelivery: Command {
    package static let name = "outbox-retry"
    /// Its id, or the beginning of its job's.
    private let event: String

    package init(_ event: String) { self.event = event }

    package func run(in agent: AgentContext) async throws -> OutboxLine {
        let found = try await agent.change(event, orSay: "there is nothing to try again") { fresh, transaction in
            try fresh.note("asked for again, to \(fresh.target)", in: transaction)
            fresh.state = .waiting
            fresh.attempts = 0
            fresh.triedFor = 0
            (fresh.firstAttempt, fresh.nextAttempt) = (nil, nil)
        }
        agent.core.outbox.wake(found.lane, isAskedFor: true)
        return OutboxLine(found)
    }

    package func lines(_ answer: OutboxLine) -> [String] {
        ["\(DeliveryRecord.short(answer.id))  \(answer.event) to \(answer.target): to be tried again"]
    }
}

/// `steward outbox retry --all`: has all events sent that wait or have been given up.
package struct RetryDeliveries: Command {
    /// How many events are to be sent again.
    package struct Answer: Codable, Sendable {
        var events = 0
        /// By the name of the target.
        var targets: [String: Int] = [:]
    }

    package static let name = "outbox-retry-all"

    /// So many events are one transaction: others have to come in between.
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
                if count > 0 { try transaction.note("delivery", "\(count) events asked for again") }
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
        if answer.targets.isEmpty { return ["nothing waits or has been given up"] }
        return answer.targets.sorted { $0.key < $1.key }.map { "\($0.value) events to \($0.key): to be tried again" }
    }
}

/// `steward outbox drop`: takes an event out that is not to be sent.
package struct DropDelivery: Command {
    package static let name = "outbox-drop"
    /// Its id, or the beginning of its job's.
    private let event: String

    package init(_ event: String) { self.event = event }

    package func run(in agent: AgentContext) async throws -> OutboxLine {
        let dropped = try await agent.change(event, orSay: "there is nothing to take out") { fresh, transaction in
            try fresh.note("taken out of the outbox, not sent to \(fresh.target)", in: transaction)
            fresh.state = .dropped
            fresh.nextAttempt = nil
        }
        agent.core.outbox.wake(dropped.lane)
        return OutboxLine(dropped)
    }

    package func lines(_ answer: OutboxLine) -> [String] {
        ["took \(answer.event) to \(answer.target) out of the outbox"]
    }
}

extension DeliveryRecord {
    fileprivate func note(_ message: String, in transaction: LedgerTransaction) throws {
        let job = try transaction.job(job)
        try transaction.note("delivery", message, job: self.job, place: job?.place, path: job?.path)
    }
}

extension AgentContext {
    /// Changes an event that waits or was given up.
    ///
    /// - Parameter excuse: what is said of one that has been dealt with.
    /// - Throws: `Fault(.usage)` where there is no such event.
    fileprivate func change(
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

    /// The event that `text` names: its id, that as `steward outbox` shows it, or the beginning of its job's.
    private func delivery(_ text: String) async throws -> DeliveryRecord {
        let job = String(text.prefix { $0 != "." })
        guard !job.isEmpty else { throw Fault(.usage, "say which event is meant; `steward outbox` shows them") }
        let step = text.drop { $0 != "." }
        let all = try await ledger.read { try $0.deliveries(jobPrefix: job) }
        return try all.filter { step.isEmpty || $0.id.drop { $0 != "." } == step }
            .only("event", beginning: text, shownBy: "steward outbox")
    }
}
