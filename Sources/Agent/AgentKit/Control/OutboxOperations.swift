import Ledger
import Platform
import PublishActions
import Rules

/// An event of the outbox as commands show it.
package struct OutboxLine: Codable, Sendable {
    package let id: String
    package let job: String
    package let target: String
    package let path: String
    package let event: String
    package let key: String
    package let state: DeliveryRecord.State
    package let attempts: Int
    /// Bytes.
    package let size: Int
    package let created: Timestamp
    /// Nil where it goes as soon as it can.
    package let nextAttempt: Timestamp?
    /// The HTTP status of the last answer.
    package let status: Int?
    package let problem: String?
    /// The id of the event that has to go before it; nil where none has to.
    package let behind: String?
    /// The id of the event that was given up and holds it up; nil for none.
    package let heldBy: String?

    init(_ delivery: DeliveryRecord, behind: String? = nil, heldBy: String? = nil) {
        self.behind = behind
        self.heldBy = heldBy
        id = delivery.id
        job = delivery.job
        target = delivery.target
        path = delivery.path
        event = delivery.event
        key = delivery.key
        state = delivery.state
        attempts = delivery.attempts
        size = delivery.size
        created = delivery.created
        nextAttempt = delivery.nextAttempt
        status = delivery.status
        problem = delivery.problem
    }
}

/// How many events are to be sent again.
package struct OutboxRetried: Codable, Sendable {
    package var events = 0
    /// By the name of the target.
    package var targets: [String: Int] = [:]
}

extension DeliveryRecord {
    /// What has become of it, for a terminal.
    var fate: String {
        let tries = attempts == 0 ? "" : attempts == 1 ? ", one try" : ", \(attempts) tries"
        switch state {
        case .waiting:
            let when = nextAttempt.map { $0 > .now() ? " until \($0)" : "" } ?? ""
            return "waiting\(when)\(tries)\(problem.map { ": \($0)" } ?? "")"
        case .sending: return "being sent\(tries)"
        case .delivered: return "delivered \(updated)\(tries)"
        case .dead: return "given up\(tries)\(problem.map { ": \($0)" } ?? "")"
        case .dropped: return "taken out of the outbox"
        }
    }
}

extension HeldLane {
    /// What it holds up, since when, and how to go on, for a terminal.
    var advice: String {
        "holds up \(waiting == 1 ? "one event" : "\(waiting) events") behind it since \(since): "
            + "`steward outbox retry \(shortEvent)` sends it again, `steward outbox drop \(shortEvent)` takes it out; "
            + "then they go on"
    }

    /// The same where the event itself is not shown.
    var line: String { "\(shortEvent) to \(target), given up, in the order of \"\(key)\": \(advice)" }
}

/// `steward outbox`: what is to be published and has not been (`docs/publish.md`).
extension Operations {
    /// What the outbox holds, from the ledger alone; the configuration says whether a dead event holds up what is behind it.
    ///
    /// - Parameter directories: where ledger and configuration are.
    /// - Returns: the events that have not been delivered, oldest first.
    /// - Throws: what the ledger does.
    package static func outbox(_ directories: Directories) async throws -> ControlReply {
        let ledger = try Ledger.openForReading(directory: directories.state)
        // What waits is shown beside a broken configuration too; what holds it is not known then.
        let targets = Configuration.load(directories).0?.publish ?? []
        let holding = targets.filter { $0.onDead == .hold }.map(\.name)
        let (found, lanes) =
            try await ledger?.read { (try $0.openDeliveries(), try $0.heldLanes(of: holding)) } ?? ([], [])
        let held = Dictionary(lanes.map { (DeliveryLane(target: $0.target, key: $0.key), $0) }) { first, _ in first }
        // The first that is not given up goes before all others of its lane.
        var heads: [DeliveryLane: DeliveryRecord] = [:]
        var shown: [OutboxLine] = []
        var lines: [String] = []
        for delivery in found {
            let head = delivery.state == .dead ? nil : heads[delivery.lane]
            if delivery.state != .dead, head == nil { heads[delivery.lane] = delivery }
            let hold = held[delivery.lane]
            let heldBy = delivery.state == .dead ? nil : hold?.event
            shown.append(OutboxLine(delivery, behind: head?.id, heldBy: heldBy))
            lines += [
                "\(delivery.shortID)  \(delivery.created)  \(delivery.event) to \(delivery.target)\(delivery.path), "
                    + "\(delivery.size) bytes, in the order of \"\(delivery.key)\"",
                "    \(delivery.fate)\(head.map { ", behind \($0.shortID)" } ?? "")"
                    + (heldBy.map { ", held by \(DeliveryRecord.short($0))" } ?? ""),
            ]
            if let hold, hold.event == delivery.id { lines.append("    \(hold.advice)") }
        }
        return try ControlReply(shown, lines: lines.isEmpty ? ["the outbox is empty"] : lines)
    }

    /// Has events sent as soon as can be, as if they had never been tried.
    ///
    /// - Parameter id: an event's, or the beginning of its job's; nil for all that wait or have been given up.
    /// - Returns: the event, or how many there are.
    /// - Throws: `Fault(.usage)` where no such event can be sent.
    package func retryDelivery(_ id: String?) async throws -> ControlReply {
        guard let id else { return try await retryAll() }
        let asked = try await delivery(id)
        let found = try await core.ledger.write { transaction -> DeliveryRecord in
            guard let fresh = try transaction.delivery(asked.id), fresh.state == .waiting || fresh.state == .dead else {
                throw Fault(
                    .usage, "the event \(asked.shortID) is \(asked.state.rawValue); there is nothing to try again")
            }
            try Self.note("delivery", "asked for again, to \(fresh.target)", fresh, in: transaction)
            return try Self.renew(fresh, in: transaction)
        }
        core.outbox.wake(found.lane, isAskedFor: true)
        return try ControlReply(
            OutboxLine(found), lines: ["\(found.shortID)  \(found.event) to \(found.target): to be tried again"])
    }

    /// So many events are one transaction: others have to come in between.
    private static let batch = 1_000

    private func retryAll() async throws -> ControlReply {
        var all = OutboxRetried()
        var rest = try await core.ledger.read { try $0.retriableDeliveries() }[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.batch)
            rest = rest.dropFirst(Self.batch)
            let lanes = try await core.ledger.write { transaction -> [DeliveryLane: Int] in
                let lanes = try transaction.renewDeliveries(part)
                let count = lanes.values.reduce(0, +)
                if count > 0 { try transaction.note("delivery", "\(count) events asked for again") }
                return lanes
            }
            for (lane, count) in lanes {
                all.events += count
                all.targets[lane.target, default: 0] += count
                core.outbox.wake(lane, isAskedFor: true)
            }
        }
        let lines = all.targets.sorted { $0.key < $1.key }.map { "\($0.value) events to \($0.key): to be tried again" }
        return try ControlReply(all, lines: lines.isEmpty ? ["nothing waits or has been given up"] : lines)
    }

    /// Makes an event as if it had never been tried.
    private static func renew(
        _ delivery: DeliveryRecord, in transaction: LedgerTransaction
    ) throws -> DeliveryRecord {
        var fresh = delivery
        fresh.state = .waiting
        fresh.attempts = 0
        fresh.triedFor = 0
        (fresh.firstAttempt, fresh.nextAttempt) = (nil, nil)
        try transaction.update(fresh)
        return fresh
    }

    /// Takes an event out that is not to be sent.
    ///
    /// - Parameter id: an event's, or the beginning of its job's.
    /// - Returns: the event.
    /// - Throws: `Fault(.usage)` where there is no such event, or it is gone already.
    package func dropDelivery(_ id: String) async throws -> ControlReply {
        let asked = try await delivery(id)
        let dropped = try await core.ledger.write { transaction -> DeliveryRecord in
            guard var fresh = try transaction.delivery(asked.id), fresh.state == .waiting || fresh.state == .dead else {
                throw Fault(
                    .usage, "the event \(asked.shortID) is \(asked.state.rawValue), so there is nothing to take out")
            }
            fresh.state = .dropped
            fresh.nextAttempt = nil
            try transaction.update(fresh)
            try Self.note("delivery", "taken out of the outbox, not sent to \(fresh.target)", fresh, in: transaction)
            return fresh
        }
        core.outbox.wake(dropped.lane)
        return try ControlReply(
            OutboxLine(dropped), lines: ["took \(dropped.event) to \(dropped.target) out of the outbox"])
    }

    private static func note(
        _ kind: String, _ message: String, _ delivery: DeliveryRecord, in transaction: LedgerTransaction
    ) throws {
        let job = try transaction.job(delivery.job)
        try transaction.note(kind, message, job: delivery.job, place: job?.place, path: job?.path)
    }

    /// The event that `text` names: its id, that as `steward outbox` shows it, or the beginning of its job's.
    private func delivery(_ text: String) async throws -> DeliveryRecord {
        let job = String(text.prefix { $0 != "." })
        let step = text.drop { $0 != "." }
        let all = try await core.ledger.read { try $0.deliveries(jobPrefix: job) }
        let found = all.filter { step.isEmpty || $0.id.drop { $0 != "." } == step }
        guard let only = found.first, found.count == 1, !job.isEmpty else {
            throw Fault(
                .usage,
                found.isEmpty || job.isEmpty
                    ? "no event has an id that begins with \(text); `steward outbox` shows them"
                    : "\(found.count) events have an id that begins with \(text); give more of it")
        }
        return only
    }
}
