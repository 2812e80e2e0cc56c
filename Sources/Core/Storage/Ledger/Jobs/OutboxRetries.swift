import Platform

/// Sending again what waits or was given up, all of it: so many at a time that others can write in between.
extension LedgerTransaction {
    /// - Returns: the places in the order of all events that wait or were given up, eight bytes each; those that are being
    ///   sent are not among them.
    package func retriableDeliveries() throws -> [Int64] {
        try values(
            """
            SELECT sequence FROM outbox WHERE state IN ('waiting', 'sending') AND state = 'waiting'
            UNION ALL SELECT sequence FROM outbox WHERE state = 'dead'
            ORDER BY sequence
            """)
    }

    /// Makes events as if they had never been tried; of those that have not been, only the lane is told.
    ///
    /// - Parameter sequences: some thousands at most of ``retriableDeliveries()``; what has been sent or taken out since is left alone.
    /// - Returns: how many there are in each lane.
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
