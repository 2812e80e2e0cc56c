import Platform

/// Retries all waiting and dead events, in batches so that other writers get in between.
extension LedgerTransaction {
    /// - Returns: the sequence numbers of all waiting and dead events, eight bytes each; not of those being sent.
    package func retriableDeliveries() throws -> [Int64] {
        try values(
            """
            SELECT sequence FROM outbox WHERE state IN ('waiting', 'sending') AND state = 'waiting'
            UNION ALL SELECT sequence FROM outbox WHERE state = 'dead'
            ORDER BY sequence
            """)
    }

    /// Resets events to untried; those that were never tried are only counted.
    ///
    /// - Parameter sequences: at most some thousands of ``retriableDeliveries()``; events sent or removed since are
    ///   left alone.
    /// - Returns: the number of events in each lane.
    package func renewDeliveries(_ sequences: some Sequence<Int64>) throws -> [DeliveryLane: Int] {
        let wanted = Array(sequences)
        if wanted.isEmpty { return [:] }
        let marks = Self.marks(wanted.count)
        let found = try all(
            """
            SELECT target, orderKey, count(*) AS events FROM outbox
            WHERE sequence IN (\(marks)) AND state IN ('waiting', 'dead')
            GROUP BY target, orderKey
            """, wanted
        ) { try (DeliveryLane(target: $0["target"], key: $0["orderKey"]), $0["events"] as Int) }
        try execute(
            """
            UPDATE outbox SET state = 'waiting', attempts = 0, triedFor = 0, firstAttempt = NULL, nextAttempt = NULL,
                updated = ?
            WHERE sequence IN (\(marks))
                AND (state = 'dead' OR state = 'waiting' AND (attempts > 0 OR nextAttempt IS NOT NULL))
            """, [Timestamp.now()] + wanted.map { $0 as any SQLConvertible })
        return Dictionary(found) { $0 + $1 }
    }
}
