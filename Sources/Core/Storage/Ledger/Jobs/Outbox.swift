import Platform

/// An event in the outbox, put there by a step (`docs/design/publish.md`).
package struct DeliveryRecord: Sendable, Equatable {
    /// The progress of a delivery.
    package enum State: String, Sendable, Codable, CaseIterable {
        /// To be sent in its turn, not before ``DeliveryRecord/nextAttempt``.
        case waiting
        /// A request is in flight, or was when the agent was killed.
        case sending
        /// The receiver has confirmed it.
        case delivered
        /// Given up; waits for a person: `steward outbox`.
        case dead
        /// Removed by a person, with `steward outbox drop` or `steward undo`.
        case dropped
    }

    /// Its position in its ``lane``; set by the ledger.
    package var sequence: Int64
    /// The step's id; the same after every crash.
    package var id: String
    package var job: String
    /// The target's name in the configuration.
    package var target: String
    /// The path at the target, as it appears in the URL; may be empty.
    package var path: String
    /// The name of the kind of event.
    package var event: String
    /// Events with the same key reach a target in order.
    package var key: String
    /// The body's hash.
    package var hash: ContentHash
    /// The body's size in bytes.
    package var size: Int
    package var state: State
    /// How often it was sent, including attempts interrupted by a crash.
    package var attempts: Int
    package var firstAttempt: Timestamp?
    /// Seconds from its first attempt to its last, counting only time in which the agent ran and the machine was awake.
    package var triedFor: Double
    /// nil if it may be sent at once.
    package var nextAttempt: Timestamp?
    /// The HTTP status of the last response; nil if there was none.
    package var status: Int?
    /// Why it is undelivered, as text for a person.
    package var problem: String?
    package var created: Timestamp
    package var updated: Timestamp

    /// Its id as commands print and accept it: a unique prefix of the job's id, and the step's number.
    package var shortID: String { Self.short(id) }

    /// - Parameter id: the full id of an event.
    /// - Returns: the id as commands print and accept it.
    package static func short(_ id: String) -> String { "\(id.prefix(12))\(id.drop { $0 != "." })" }

    /// The lane that it belongs to.
    package var lane: DeliveryLane { DeliveryLane(target: target, key: key) }

    /// An event that was never sent.
    ///
    /// - Parameters:
    ///   - id: the step's id.
    ///   - job: the step's job.
    ///   - target: the target's name in the configuration.
    ///   - path: the path at the target.
    ///   - event: the name of the kind of event.
    ///   - key: events with the same key reach the target in order.
    ///   - hash: the body's hash.
    ///   - size: the body's size in bytes.
    package init(
        id: String, job: String, target: String, path: String, event: String, key: String, hash: ContentHash, size: Int
    ) {
        sequence = 0
        self.id = id
        self.job = job
        self.target = target
        self.path = path
        self.event = event
        self.key = key
        self.hash = hash
        self.size = size
        state = .waiting
        attempts = 0
        triedFor = 0
        created = .now()
        updated = created
    }
}

/// Events sent one at a time, in the order in which they entered the outbox.
package struct DeliveryLane: Hashable, Sendable {
    package let target: String
    package let key: String

    /// - Parameters:
    ///   - target: the target's name in the configuration.
    ///   - key: the order key.
    package init(target: String, key: String) {
        self.target = target
        self.key = key
    }
}

/// The outbox counts in `steward status`.
package struct OutboxCounts: Sendable, Codable, Equatable {
    /// Waiting or being sent.
    package var waiting: Int
    /// Waiting events in lanes whose first event's time has come, without held lanes.
    package var due: Int
    package var dead: Int
    /// Waiting events blocked by a dead one.
    package var held: Int
    /// When the oldest waiting event entered the outbox.
    package var oldest: Timestamp?

    /// - Parameters:
    ///   - waiting: waiting or being sent.
    ///   - due: waiting events in lanes whose first event's time has come.
    ///   - dead: given up.
    ///   - held: waiting events blocked by a dead one.
    ///   - oldest: when the oldest waiting event entered the outbox.
    package init(waiting: Int = 0, due: Int = 0, dead: Int = 0, held: Int = 0, oldest: Timestamp? = nil) {
        self.waiting = waiting
        self.due = due
        self.dead = dead
        self.held = held
        self.oldest = oldest
    }
}

/// Bodies are stored once each, among the texts of intents, until the event is delivered or removed.
extension LedgerTransaction {
    /// Appends an event to its lane; an existing one stays as it is.
    ///
    /// - Parameters:
    ///   - delivery: its sequence is ignored.
    ///   - body: its hash must be the delivery's.
    /// - Returns: whether it is new.
    package func addDelivery(_ delivery: DeliveryRecord, body: String) throws -> Bool {
        let added = try execute(
            """
            INSERT INTO outbox (id, job, target, path, event, orderKey, hash, size, state, attempts, created, updated)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
            """,
            [
                delivery.id, delivery.job, delivery.target, delivery.path, delivery.event, delivery.key,
                delivery.hash, delivery.size, delivery.state.rawValue, delivery.attempts,
                delivery.created, delivery.updated,
            ])
        guard added > 0 else { return false }
        try keep(KeptText(hash: delivery.hash, text: body, use: .delivery), for: delivery.id)
        return true
    }

    /// - Parameter id: the step's full id.
    package func delivery(_ id: String) throws -> DeliveryRecord? {
        try first("SELECT * FROM outbox WHERE id = ?", [id], DeliveryRecord.init(row:))
    }

    /// The events of a job's steps, in the order of the steps.
    ///
    /// - Parameter prefix: the job's id or a prefix of it.
    package func deliveries(jobPrefix prefix: String) throws -> [DeliveryRecord] {
        try all(
            "SELECT * FROM outbox WHERE id >= ? AND id < ? ORDER BY id", [prefix, prefix + "\u{10FFFF}"],
            DeliveryRecord.init(row:))
    }

    /// Events that are neither delivered nor removed, oldest first.
    ///
    /// - Parameters:
    ///   - states: any of ``DeliveryRecord/State/waiting``, ``DeliveryRecord/State/sending`` and
    ///     ``DeliveryRecord/State/dead``.
    ///   - sequence: only events after this sequence number.
    ///   - limit: the most events to return; all by default.
    package func openDeliveries(
        in states: [DeliveryRecord.State] = [.sending, .waiting, .dead], after sequence: Int64 = 0, limit: Int = .max
    ) throws -> [DeliveryRecord] {
        // `+`: use the index of the few open events, not the sequence of all events ever.
        try all(
            """
            SELECT * FROM (
                SELECT * FROM outbox WHERE state IN ('waiting', 'sending')
                UNION ALL SELECT * FROM outbox WHERE state = 'dead') AS undelivered
            WHERE state IN (\(Self.marks(states.count))) AND +sequence > ? ORDER BY sequence LIMIT ?
            """, states.map { $0.rawValue as any SQLConvertible } + [sequence, limit], DeliveryRecord.init(row:))
    }

    /// The lanes with waiting events.
    package func waitingLanes() throws -> [DeliveryLane] {
        try all(
            """
            SELECT target, orderKey FROM outbox WHERE state IN ('waiting', 'sending')
            GROUP BY target, orderKey
            """, []
        ) { DeliveryLane(target: try $0["target"], key: try $0["orderKey"]) }
    }

    /// The next event of a lane.
    ///
    /// - Parameters:
    ///   - lane: the lane.
    ///   - isHeldByDead: whether a dead event blocks those behind it.
    /// - Returns: nil if nothing is waiting, or it is blocked.
    package func nextDelivery(in lane: DeliveryLane, isHeldByDead: Bool) throws -> DeliveryRecord? {
        let found = try first(
            """
            SELECT * FROM outbox
            WHERE target = ? AND orderKey = ? AND state IN ('waiting', 'sending') ORDER BY sequence LIMIT 1
            """, [lane.target, lane.key], DeliveryRecord.init(row:))
        guard let found, isHeldByDead else { return found }
        let isHeld = try exists(
            "SELECT 1 FROM outbox WHERE target = ? AND orderKey = ? AND state = 'dead' AND sequence < ?",
            [lane.target, lane.key, found.sequence])
        return isHeld ? nil : found
    }

    /// Marks an event as being sent, before the request.
    ///
    /// - Parameter id: the step's id.
    /// - Returns: the updated event and its body, which is nil if the ledger has lost it; nil if the event is no longer
    ///   waiting.
    package func beginDelivery(_ id: String) throws -> (delivery: DeliveryRecord, body: String?)? {
        let now = Timestamp.now()
        let begun = try execute(
            """
            UPDATE outbox SET state = 'sending', attempts = attempts + 1, nextAttempt = NULL,
                firstAttempt = coalesce(firstAttempt, ?), updated = ?
            WHERE id = ? AND state = 'waiting'
            """, [now, now, id])
        guard begun > 0, let delivery = try delivery(id) else { return nil }
        let body: [UInt8]? = try value(
            "SELECT bytes FROM textUse JOIN text USING (hash) WHERE step = ? AND use = 'delivery'", [id])
        return (delivery, body.map { String(decoding: $0, as: UTF8.self) })
    }

    /// Stores the changeable fields of an event: state, attempts, times, status and problem. Once it is delivered or
    /// removed, its body is deleted, and so is everything it says about a file with a hidden name.
    ///
    /// - Parameters:
    ///   - delivery: an event that the ledger has.
    ///   - before: the event on which the change is based; nil if it was read in this transaction.
    /// - Returns: false, without storing anything, if its state or number of attempts differs from `before`.
    @discardableResult
    package func update(_ delivery: DeliveryRecord, from before: DeliveryRecord? = nil) throws -> Bool {
        let isOver = delivery.state == .delivered || delivery.state == .dropped
        let isHidden = try isOver && job(delivery.job).map { names.hides($0.place, $0.path) } ?? false
        let updated = try execute(
            """
            UPDATE outbox SET state = ?, attempts = ?, firstAttempt = ?, triedFor = ?, nextAttempt = ?, status = ?,
                problem = ?, path = ?, orderKey = ?, updated = ?
            WHERE id = ? AND state = coalesce(?, state) AND attempts = coalesce(?, attempts)
            """,
            [
                delivery.state.rawValue, delivery.attempts, delivery.firstAttempt,
                Int64(delivery.triedFor * 1e9), delivery.nextAttempt, delivery.status, delivery.problem,
                isHidden ? "" : delivery.path, isHidden ? "" : delivery.key, Timestamp.now(), delivery.id,
                before?.state.rawValue, before?.attempts,
            ])
        guard updated > 0 else { return false }
        if isOver { try releaseTexts(of: delivery.id, [.delivery]) }
        if isHidden { names.noteForgotten() }
        return true
    }

    /// After a crash: queues events that were in flight again, under the same key.
    ///
    /// - Returns: how many there were.
    @discardableResult
    package func resumeDeliveries() throws -> Int {
        try execute(
            "UPDATE outbox SET state = 'waiting' WHERE state IN ('waiting', 'sending') AND state = 'sending'")
    }

    /// - Parameter now: events with an attempt scheduled by then are due.
    /// - Returns: the counts, as if no lane were held; ``OutboxCounts/hold(_:)`` corrects that.
    package func outboxCounts(now: Timestamp = .now()) throws -> OutboxCounts {
        try first(
            """
            SELECT count(*) AS waiting, sum(CASE WHEN state = 'waiting' AND firstTime <= ? THEN 1 ELSE 0 END) AS due,
                min(created) AS oldest,
                (SELECT count(*) FROM outbox WHERE state = 'dead') AS dead
            FROM (
                SELECT state, created, first_value(coalesce(nextAttempt, 0))
                    OVER (PARTITION BY target, orderKey ORDER BY sequence) AS firstTime
                FROM outbox WHERE state IN ('waiting', 'sending')) AS open
            """, [now]
        ) { row in
            OutboxCounts(
                waiting: try row["waiting"], due: try row["due"] ?? 0, dead: try row["dead"], oldest: try row["oldest"])
        } ?? OutboxCounts()
    }
}

extension DeliveryRecord {
    init(row: any SQLRow) throws {
        sequence = try row["sequence"]
        id = try row["id"]
        job = try row["job"]
        target = try row["target"]
        path = try row["path"]
        event = try row["event"]
        key = try row["orderKey"]
        hash = try row["hash"]
        size = try row["size"]
        state = try State(rawValue: row["state"]) ?? .dead
        attempts = try row["attempts"]
        firstAttempt = try row["firstAttempt"]
        triedFor = Double(try row["triedFor"] as Int64) / 1e9
        nextAttempt = try row["nextAttempt"]
        status = try row["status"]
        problem = try row["problem"]
        created = try row["created"]
        updated = try row["updated"]
    }
}
