import Platform

/// Events that wait behind one that was given up, at a target that has them wait for a person (`on-dead: hold`).
package struct HeldLane: Sendable, Codable, Equatable {
    /// The name of the target in the configuration.
    package var target: String
    package var key: String
    /// The id of the event that was given up and holds the others; the first of several.
    package var event: String
    /// When it was given up.
    package var since: Timestamp
    /// How many wait behind it.
    package var waiting: Int
    /// Whether the first of those that wait would be sent now, if it were not held.
    package var isDue: Bool

    /// As commands show the event and take it.
    package var shortEvent: String { DeliveryRecord.short(event) }

    /// - Parameters:
    ///   - target: the name of the target in the configuration.
    ///   - key: of the order that is held.
    ///   - event: the id of the event that was given up.
    ///   - since: when that was.
    ///   - waiting: how many wait behind it.
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
    /// Counts what waits in these lanes as held, and no more as due.
    ///
    /// - Parameter lanes: all that are held.
    package mutating func hold(_ lanes: [HeldLane]) {
        held = lanes.reduce(0) { $0 + $1.waiting }
        due -= lanes.reduce(0) { $0 + ($1.isDue ? $1.waiting : 0) }
    }
}

extension LedgerTransaction {
    /// The lanes of which nothing is sent, because an event before all that waits in them was given up.
    ///
    /// - Parameters:
    ///   - targets: the names of those where a dead event holds up what is behind it.
    ///   - now: what is to be sent by then is due.
    ///   - limit: how many lanes at most; all by default.
    /// - Returns: the lanes, those that are held the longest first.
    package func heldLanes(
        of targets: some Collection<String>, now: Timestamp = .now(), limit: Int = .max
    ) throws -> [HeldLane] {
        if targets.isEmpty { return [] }
        // Few events are given up; what waits is counted for their lanes alone.
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
