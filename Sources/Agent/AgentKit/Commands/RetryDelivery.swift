import Ledger
import Platform
import RuleActions
import Rules

/// `steward outbox retry EVENT`: resends an event as soon as possible, as if it had never been tried.
package struct RetryDelivery: Command {
    package static let name = "outbox-retry"
    /// Its id, or the beginning of its job's.
    private let event: String

    package init(_ event: String) { self.event = event }

    package func run(in agent: AgentContext) async throws -> OutboxLine {
        let found = try await agent.change(event, orSay: "there is nothing to retry") { fresh, transaction in
            try fresh.note("queued again, to \(fresh.target)", in: transaction)
            fresh.state = .waiting
            fresh.attempts = 0
            fresh.triedFor = 0
            (fresh.firstAttempt, fresh.nextAttempt) = (nil, nil)
        }
        agent.core.outbox.wake(found.lane, isAskedFor: true)
        return OutboxLine(found)
    }

    package func lines(_ answer: OutboxLine) -> [String] {
        ["\(DeliveryRecord.short(answer.id))  \(answer.event) to \(answer.target): queued again"]
    }
}
