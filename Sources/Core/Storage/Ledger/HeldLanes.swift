import Platform

/// Events blocked behind a dead one, at a target whose events then wait for a person (`on-dead: hold`).
package struct HeldLane: Sendable, Codable, Equatable {
    /// The target's name in the configuration.
    package var target: String
    package var key: String
    /// The id of the dead event that blocks the others; of several, the first.
    package var event: String
    /// When it was given up.
    package var since: Timestamp
    /// How many wait behind it.
    package var waiting: Int
    /// Whether the first of them would be sent now if it were not blocked.
    package var isDue: Bool

    /// The event's id as commands print and accept it.
    package var shortEvent: String { DeliveryRecord.short(event) }

    /// - Parameters:
    ///   - target: the target's name in the configuration.
    ///   - key: the blocked order key.
    ///   - event: the id of the dead event.
    ///   - since: when it was given up.
    ///   - waiting: how many events wait behind it.
    ///   - isDue: whether the first of those would be sent now.
    package init(target: String, key: String, event: String, since: Timestamp, waiting: Int, isDue: Bool) {
        self.target = target
        self.key = key
        self.event = event
        self.since = since
        self.waiting = waiting
        self.isDue = isDue
    }
}

extension OutboxCounts {
    /// Counts the events waiting in these lanes as held rather than due.
    ///
    /// - Parameter lanes: all held lanes.
    package mutating func hold(_ lanes: [HeldLane]) {
        held = lanes.reduce(0) { $0 + $1.waiting }
        due -= lanes.reduce(0) { $0 + ($1.isDue ? $1.waiting : 0) }
    }
}

extension LedgerTransaction {
    /// Lanes that send nothing because a dead event precedes everything waiting in them.
    ///
    /// - Parameters:
    ///   - targets: the names of targets at which a dead event blocks those behind it.
    ///   - now: events with an attempt scheduled by then are due.
    ///   - limit: the most lanes to return; all by default.
    /// - Returns: the lanes, longest-held first.
    package func heldLanes(
        of targets: some Collection<String>, now: Timestamp = .now(), limit: Int = .max
    ) throws -> [HeldLane] {
        if targets.isEmpty { return [] }
        // Dead events are few; waiting events are counted for their lanes only.
        return try all(
            """
            SELECT held.*, event.id, event.updated, coalesce(next.nextAttempt, 0) <= ? AS isDue
            FROM (
                SELECT dead.target, dead.orderKey, dead.sequence, count(*) AS waiting, min(behind.sequence) AS first
                FROM (SELECT target, orderKey, min(sequence) AS sequence FROM outbox
                    WHERE state = 'dead' AND target IN (\(Self.marks(targets.count))) GROUP BY target, orderKey) AS dead
                JOIN outbox AS behind
                    ON behind.target = dead.target AND behind.orderKey = dead.orderKey
                    AND behind.state IN ('waiting', 'sending')
                GROUP BY dead.target, dead.orderKey, dead.sequence
                HAVING min(behind.sequence) > dead.sequence) AS held
            JOIN outbox AS event ON event.sequence = held.sequence
            JOIN outbox AS next ON next.sequence = held.first
            ORDER BY event.updated, held.sequence LIMIT ?
            """, [now] + targets.map { $0 as any SQLConvertible } + [limit]
        ) { row in
            try HeldLane(
                target: row["target"], key: row["orderKey"], event: row["id"],
                since: row["updated"], waiting: row["waiting"], isDue: row["isDue"])
        }
    }
}
