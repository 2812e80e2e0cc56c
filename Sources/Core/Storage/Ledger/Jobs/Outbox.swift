import Platform

/// An event that a step has put into the outbox (`docs/design/publish.md`).
package struct DeliveryRecord: Sendable, Equatable {
    /// How far it has come.
    package enum State: String, Sendable, Codable, CaseIterable {
        /// To be sent when its turn comes, and not before ``DeliveryRecord/nextAttempt``.
        case waiting
        /// A request is under way, or was when the agent was killed.
        case sending
        /// The receiver has said that it has it.
        case delivered
        /// Given up, for a person to look at: `steward outbox`.
        case dead
        /// Taken out by a person, with `steward outbox drop` or `steward undo`.
        case dropped
    }

    /// The place in the order of its ``lane``; set by the ledger.
    package var sequence: Int64
    /// The step's: the same after every crash.
    package var id: String
    package var job: String
    /// The name of the target in the configuration.
    package var target: String
    /// Where at the target, as it stands in the URL; may be empty.
    package var path: String
    /// What kind of event it is, by name.
    package var event: String
    /// Events of one key reach a target one after the other.
    package var key: String
    /// Of the body.
    package var hash: ContentHash
    /// Bytes of the body.
    package var size: Int
    package var state: State
    /// How often it has been sent, tries that a crash cut off included.
    package var attempts: Int
    package var firstAttempt: Timestamp?
    /// Seconds since its first try, as far as the agent ran and the machine was awake; up to its last try.
    package var triedFor: Double
    /// Nil where it may be sent at once.
    package var nextAttempt: Timestamp?
    /// The HTTP status of the last answer; nil where none came.
    package var status: Int?
    /// Why it has not been delivered, for people.
    package var problem: String?
    package var created: Timestamp
    package var updated: Timestamp

    /// As commands show it and take it: as much of the job's id as tells jobs apart, and the number of the step.
    package var shortID: String { Self.short(id) }

    /// - Parameter id: an event's, whole.
    /// - Returns: it as commands show it and take it.
    package static func short(_ id: String) -> String { "\(id.prefix(12))\(id.drop { $0 != "." })" }

    /// The order that it stands in.
    package var lane: DeliveryLane { DeliveryLane(target: target, key: key) }

    /// An event that has never been sent.
    ///
    /// - Parameters:
    ///   - id: the step's.
    ///   - job: the step's job.
    ///   - target: the name of the target in the configuration.
    ///   - path: where at the target.
    ///   - event: what kind of event it is, by name.
    ///   - key: events of one key reach the target one after the other.
    ///   - hash: of the body.
    ///   - size: bytes of the body.
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

/// Events that go one at a time, in the order in which they were put into the outbox.
package struct DeliveryLane: Hashable, Sendable {
    package let target: String
    package let key: String

    /// - Parameters:
    ///   - target: the name of the target in the configuration.
    ///   - key: the order key.
    package init(target: String, key: String) {
        self.target = target
        self.key = key
    }
}

/// What `steward status` says of the outbox.
package struct OutboxCounts: Sendable, Codable, Equatable {
    /// To be sent, those included that are being sent.
    package var waiting: Int
    /// Of those that wait, the ones in whose lanes the first one's time has come; none that are held.
    package var due: Int
    package var dead: Int
    /// Of those that wait, the ones that a dead event holds up.
    package var held: Int
    /// When the oldest of those that wait was put there.
    package var oldest: Timestamp?

    /// - Parameters:
    ///   - waiting: to be sent, or being sent.
    ///   - due: of those that wait, the ones in whose lanes the first one's time has come.
    ///   - dead: given up.
    ///   - held: of those that wait, the ones that a dead event holds up.
    ///   - oldest: when the oldest of those that wait was put there.
    package init(waiting: Int = 0, due: Int = 0, dead: Int = 0, held: Int = 0, oldest: Timestamp? = nil) {
        self.waiting = waiting
        self.due = due
        self.dead = dead
        self.held = held
        self.oldest = oldest
    }
}

/// The bodies lie among the texts that intents name, each once, until the event is delivered or taken out.
extension LedgerTransaction {
    /// Puts an event behind all others of its lane; one that is there already stays as it is.
    ///
    /// - Parameters:
    ///   - delivery: its sequence counts for nothing.
    ///   - body: has the delivery's hash.
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

    /// - Parameter id: the step's, whole.
    package func delivery(_ id: String) throws -> DeliveryRecord? {
        try first("SELECT * FROM outbox WHERE id = ?", [id], DeliveryRecord.init(row:))
    }

    /// The events of a job's steps, in the order of the steps.
    ///
    /// - Parameter prefix: the job's id or its beginning.
    package func deliveries(jobPrefix prefix: String) throws -> [DeliveryRecord] {
        try all(
            "SELECT * FROM outbox WHERE id >= ? AND id < ? ORDER BY id", [prefix, prefix + "\u{10FFFF}"],
            DeliveryRecord.init(row:))
    }

    /// Events that have been neither delivered nor taken out, oldest first.
    ///
    /// - Parameters:
    ///   - states: of ``DeliveryRecord/State/waiting``, ``DeliveryRecord/State/sending`` and
    ///     ``DeliveryRecord/State/dead`` those that are wanted.
    ///   - sequence: only what was put there after the event of this sequence.
    ///   - limit: how many at most; all by default.
    package func openDeliveries(
        in states: [DeliveryRecord.State] = [.sending, .waiting, .dead], after sequence: Int64 = 0, limit: Int = .max
    ) throws -> [DeliveryRecord] {
        // `+`: by the few that are open, not by the sequence of all there ever were.
        try all(
            """
            SELECT * FROM (
                SELECT * FROM outbox WHERE state IN ('waiting', 'sending')
                UNION ALL SELECT * FROM outbox WHERE state = 'dead') AS undelivered
            WHERE state IN (\(Self.marks(states.count))) AND +sequence > ? ORDER BY sequence LIMIT ?
            """, states.map { $0.rawValue as any SQLConvertible } + [sequence, limit], DeliveryRecord.init(row:))
    }

    /// The lanes in which something waits.
    package func waitingLanes() throws -> [DeliveryLane] {
        try all(
            """
            SELECT target, orderKey FROM outbox WHERE state IN ('waiting', 'sending')
            GROUP BY target, orderKey
            """, []
        ) { DeliveryLane(target: try $0["target"], key: try $0["orderKey"]) }
    }

    /// What comes next in a lane.
    ///
    /// - Parameters:
    ///   - lane: whose events go one at a time.
    ///   - isHeldByDead: whether a dead event holds up those behind it.
    /// - Returns: nil where nothing waits, or what waits is held up.
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

    /// Notes that an event is being sent, before it is.
    ///
    /// - Parameter id: the step's.
    /// - Returns: the event as it is then, and its body, which is nil where the ledger has lost it; nil where the event does
    ///   not wait any more.
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

    /// Stores what changes in the life of an event: state, attempts, times, status and problem. With its delivery, or
    /// when it is taken out, its body goes; and so does what it says of a file whose name is hidden.
    ///
    /// - Parameters:
    ///   - delivery: one that the ledger holds.
    ///   - before: as it was when this was decided; nil where that was in this transaction.
    /// - Returns: false where it has another state or another number of tries by now than `before`; nothing is stored then.
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

    /// After a crash: what was being sent is to be sent again, under the same key.
    ///
    /// - Returns: how many there were.
    @discardableResult
    package func resumeDeliveries() throws -> Int {
        try execute(
            "UPDATE outbox SET state = 'waiting' WHERE state IN ('waiting', 'sending') AND state = 'sending'")
    }

    /// - Parameter now: what is to be sent by then is due.
    /// - Returns: the counts; as if nothing were held up, which ``OutboxCounts/hold(_:)`` tells them.
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
