import Ledger
import Platform
import RuleActions
import Rules

/// `steward outbox drop`: removes an event without sending it.
package struct DropDelivery: Command {
    package static let name = "outbox-drop"
    /// Its id, or the beginning of its job's.
    private let event: String

    package init(_ event: String) { self.event = event }

    package func run(in agent: AgentContext) async throws -> OutboxLine {
        let dropped = try await agent.change(event, orSay: "there is nothing to drop") { fresh, transaction in
            try fresh.note("dropped from the outbox, not sent to \(fresh.target)", in: transaction)
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
    func note(_ message: String, in transaction: LedgerTransaction) throws {
        let job = try transaction.job(job)
        try transaction.note("delivery", message, job: self.job, place: job?.place, path: job?.path)
    }
}
