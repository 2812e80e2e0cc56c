import Foundation
import GRDB
import Platform

/// Sending again what waits or was given up, all of it: so many at a time that others can write in between.
extension LedgerTransaction {
    /// - Returns: the places in the order of all events that wait or were given up, eight bytes each; those that are being
    ///   sent are not among them.
    package func retriableDeliveries() throws -> [Int64] {
        try all(
            """
            SELECT sequence FROM outbox INDEXED BY outboxWaiting
                WHERE state IN ('waiting', 'sending') AND state = 'waiting'
            UNION ALL SELECT sequence FROM outbox INDEXED BY outboxDead WHERE state = 'dead'
            ORDER BY sequence
            """, []
        ) { $0["sequence"] }
    }

    /// Makes events as if they had never been tried; of those that have not been, only the lane is told.
    ///
    /// - Parameter sequences: of ``retriableDeliveries()``; what has been sent or taken out since is left alone.
    /// - Returns: how many there are in each lane.
    package func renewDeliveries(_ sequences: some Sequence<Int64>) throws -> [DeliveryLane: Int] {
        let wanted = "[\(sequences.map(String.init).joined(separator: ","))]"
        let found = try all(
            """
            SELECT target, orderKey, count(*) AS events FROM outbox
            WHERE sequence IN (SELECT value FROM json_each(?)) AND state IN ('waiting', 'dead')
            GROUP BY target, orderKey
            """, [wanted]
        ) { (DeliveryLane(target: $0["target"], key: $0["orderKey"]), $0["events"] as Int) }
        try execute(
            sql: """
                UPDATE outbox SET state = 'waiting', attempts = 0, triedFor = 0, firstAttempt = NULL, nextAttempt = NULL,
                    updated = ?
                WHERE sequence IN (SELECT value FROM json_each(?))
                    AND (state = 'dead' OR state = 'waiting' AND (attempts > 0 OR nextAttempt IS NOT NULL))
                """, arguments: [Timestamp.now().nanoseconds, wanted])
        return Dictionary(found) { $0 + $1 }
    }
}
