import Ledger
import Platform
import RuleActions
import Rules

/// An outbox event as commands show it.
package struct OutboxLine: Codable, Sendable {
    package let id: String
    package let job: String
    package let target: String
    package let path: String
    package let event: String
    package let key: String
    package let state: DeliveryRecord.State
    package let attempts: Int
    /// In bytes.
    package let size: Int
    package let created: Timestamp
    /// nil if it is sent as soon as possible.
    package let nextAttempt: Timestamp?
    /// The HTTP status of the last response.
    package let status: Int?
    package let problem: String?
    /// The id of the event that must be sent first; nil if there is none.
    package let behind: String?
    /// The id of the given-up event that blocks it; nil if there is none.
    package let heldBy: String?
    /// What it blocks itself, and how to proceed; nil for nothing.
    package let holds: String?
    /// Its state, for people.
    package let fate: String

    init(_ delivery: DeliveryRecord, behind: String? = nil, heldBy: String? = nil, holds: String? = nil) {
        (self.behind, self.heldBy, self.holds) = (behind, heldBy, holds)
        (id, job, target, path) = (delivery.id, delivery.job, delivery.target, delivery.path)
        (event, key, state, attempts) = (delivery.event, delivery.key, delivery.state, delivery.attempts)
        (size, created, nextAttempt) = (delivery.size, delivery.created, delivery.nextAttempt)
        (status, problem, fate) = (delivery.status, delivery.problem, delivery.fate)
    }

    /// For the terminal.
    fileprivate var lines: [String] {
        [
            "\(DeliveryRecord.short(id))  \(created)  \(event) to \(target)\(path), \(size) bytes, in the order of \"\(key)\"",
            "    \(fate)\(behind.map { ", behind \(DeliveryRecord.short($0))" } ?? "")"
                + (heldBy.map { ", held by \(DeliveryRecord.short($0))" } ?? ""),
        ] + (holds.map { ["    \($0)"] } ?? [])
    }
}

extension DeliveryRecord {
    /// Its state, for the terminal.
    var fate: String {
        let tries = attempts == 0 ? "" : attempts == 1 ? ", one try" : ", \(attempts) tries"
        switch state {
        case .waiting:
            let when = nextAttempt.map { $0 > .now() ? " until \($0)" : "" } ?? ""
            return "waiting\(when)\(tries)\(problem.map { ": \($0)" } ?? "")"
        case .sending: return "being sent\(tries)"
        case .delivered: return "delivered \(updated)\(tries)"
        case .dead: return "given up\(tries)\(problem.map { ": \($0)" } ?? "")"
        case .dropped: return "dropped from the outbox"
        }
    }
}

extension HeldLane {
    /// What it blocks, since when, and how to proceed; for the terminal.
    var advice: String {
        "holds up \(waiting == 1 ? "one event" : "\(waiting) events") behind it since \(since): "
            + "`steward outbox retry \(shortEvent)` sends it again, `steward outbox drop \(shortEvent)` removes it; "
            + "then they continue"
    }

    /// The same, if the event itself is not shown.
    var line: String { "\(shortEvent) to \(target), given up, in the order of \"\(key)\": \(advice)" }
}

/// `steward outbox`: events not yet published, oldest first (`docs/publish.md`).
package struct ListDeliveries: Query {
    package static let name = "outbox"

    package init() {}

    package func read(_ records: Records) async throws -> [OutboxLine] {
        // Waiting events are shown even if the configuration is broken; then it is unknown which targets hold.
        let holding = (records.configuration?.publish ?? []).filter { $0.onDead == .hold }.map(\.name)
        let (found, lanes) =
            try await records.ledger?.read { (try $0.openDeliveries(), try $0.heldLanes(of: holding)) } ?? ([], [])
        let held = Dictionary(lanes.map { (DeliveryLane(target: $0.target, key: $0.key), $0) }) { first, _ in first }
        // The first event not given up comes before all others of its sequence.
        var heads: [DeliveryLane: DeliveryRecord] = [:]
        return found.map { delivery in
            let head = delivery.state == .dead ? nil : heads[delivery.lane]
            if delivery.state != .dead, head == nil { heads[delivery.lane] = delivery }
            let hold = held[delivery.lane]
            return OutboxLine(
                delivery, behind: head?.id, heldBy: delivery.state == .dead ? nil : hold?.event,
                holds: hold?.event == delivery.id ? hold?.advice : nil)
        }
    }

    package func lines(_ answer: [OutboxLine]) -> [String] {
        answer.isEmpty ? ["the outbox is empty"] : answer.flatMap(\.lines)
    }
}
