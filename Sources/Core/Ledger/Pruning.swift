import GRDB
import Platform

extension LedgerTransaction {
    /// How many jobs are forgotten at a time.
    package static let mostPruned = 5_000

    /// Forgets ended jobs and history older than `before`; jobs that wait for a human, those whose events have not been
    /// delivered, and those that can still be the proof that a rule ran in a lineage, stay with their receipts for as long
    /// as that is so, or their product is unjudged.
    ///
    /// It forgets ``mostPruned`` jobs at a time: what a write might have to take back is kept in memory until its end.
    ///
    /// - Returns: how many jobs were forgotten; as many as that may mean that there are more.
    package func prune(before: Timestamp) throws -> Int {
        try execute(
            sql: """
                DELETE FROM job WHERE sequence IN (
                    SELECT sequence FROM job WHERE state IN ('done', 'superseded', 'undone', 'refused', 'declined') AND updated < ?
                        AND id NOT IN (SELECT job FROM quarantine WHERE state IN ('moving', 'held'))
                        AND id NOT IN (
                            SELECT job FROM outbox INDEXED BY outboxWaiting WHERE state IN ('waiting', 'sending')
                            UNION ALL SELECT job FROM outbox INDEXED BY outboxDead WHERE state = 'dead')
                        AND lineage NOT IN (SELECT lineage FROM product)
                        AND lineage NOT IN (SELECT lineage FROM job WHERE state IN ('ready', 'waiting', 'asking', 'parked'))
                    LIMIT ?)
                """, arguments: [before.nanoseconds, Self.mostPruned])
        let pruned = db.changesCount
        // The version goes on counting while a job of that name is there, whose id another's would be else.
        try execute(
            sql: """
                DELETE FROM file WHERE present = 0 AND seen < ?
                    AND NOT EXISTS (SELECT 1 FROM job WHERE job.place = file.place AND job.path = file.path)
                """, arguments: [before.nanoseconds])
        try execute(
            sql: """
                DELETE FROM folder WHERE present = 0 AND seen < ?
                    AND NOT EXISTS (SELECT 1 FROM job WHERE job.place = folder.place AND job.path = folder.path)
                """, arguments: [before.nanoseconds])
        try execute(
            sql: """
                DELETE FROM era WHERE seen < ? AND id NOT IN (SELECT era FROM file WHERE era IS NOT NULL)
                    AND id NOT IN (SELECT era FROM folder WHERE era IS NOT NULL)
                """, arguments: [before.nanoseconds])
        try execute(
            sql: "DELETE FROM quarantine WHERE state IN ('restored', 'dropped') AND time < ?",
            arguments: [before.nanoseconds])
        try execute(sql: "DELETE FROM step WHERE job NOT IN (SELECT id FROM job)")
        try execute(sql: "DELETE FROM question WHERE job NOT IN (SELECT id FROM job)")
        try execute(
            sql: "DELETE FROM outbox WHERE state IN ('delivered', 'dropped') AND job NOT IN (SELECT id FROM job)")
        // Up to the first line that is to stay: the order of the lines is that of their times, as long as nobody sets the clock
        // back, and needs no index.
        try execute(
            sql: """
                DELETE FROM history WHERE id IN (
                    SELECT id FROM history WHERE id < coalesce(
                        (SELECT id FROM history WHERE time >= ? ORDER BY id LIMIT 1), 9223372036854775807)
                    ORDER BY id LIMIT ?)
                """, arguments: [before.nanoseconds, 8 * Self.mostPruned])
        try execute(
            sql: "DELETE FROM noteWrite WHERE id IN (SELECT id FROM noteWrite WHERE done AND begun < ? LIMIT ?)",
            arguments: [before.nanoseconds, 2 * Self.mostPruned])
        try execute(sql: "DELETE FROM noteBlock WHERE noteWrite NOT IN (SELECT id FROM noteWrite)")
        // The lines of a block that is forgotten would look like somebody's new ones.
        try execute(
            sql: """
                UPDATE noteState SET lines = NULL WHERE note IN (
                    SELECT note FROM keptBlock WHERE changed < ? AND step NOT IN (SELECT step FROM noteBlock))
                """, arguments: [before.nanoseconds])
        try execute(
            sql: "DELETE FROM keptBlock WHERE changed < ? AND step NOT IN (SELECT step FROM noteBlock)",
            arguments: [before.nanoseconds])
        try execute(sql: "DELETE FROM noteState WHERE note NOT IN (SELECT note FROM keptBlock)")
        try execute(sql: "DELETE FROM due WHERE rule <> 0 AND rule NOT IN (SELECT id FROM timedRule)")
        try sweepTaken()
        try sweepTexts()
        return pruned
    }
}
