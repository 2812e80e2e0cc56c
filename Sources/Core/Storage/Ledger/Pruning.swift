import Platform

extension Ledger {
    /// Deletes ended jobs and history older than `before`. A job and its receipts stay while it waits for a person, its
    /// file is in quarantine, its events are undelivered, it may still prove that a rule ran in a lineage (of several
    /// such jobs, the last), its product is unjudged, or a schedule may still run on its product.
    ///
    /// Uses many small transactions without savepoints, so that other writers get in between, and because a savepoint
    /// keeps the old version of each changed page in memory until it ends.
    ///
    /// - Returns: how many jobs were deleted.
    /// - Throws: `Fault(.transient)` if the ledger cannot be written at the moment; earlier deletions remain.
    @discardableResult package func prune(before: Timestamp) async throws -> Int {
        try await BlockingPool("ledger.prune").run {
            var (pruned, part) = (0, 0)
            repeat {
                part = try writeBlocking { try $0.forgetJobs(before: before) }
                pruned += part
                try Task.checkCancellation()
            } while part == LedgerTransaction.mostForgotten
            while try writeBlocking({ try $0.forgetHistory(before: before) }) { try Task.checkCancellation() }
            while try writeBlocking({ try $0.forgetNoteWrites(before: before) }) { try Task.checkCancellation() }
            try writeBlocking { try $0.forgetFiles(before: before) }
            try writeBlocking { try $0.forgetBlocks(before: before) }
            try writeBlocking { try $0.forgetHeadings(before: before) }
            try writeBlocking { try $0.forgetUnnamed() }
            return pruned
        }
    }
}

extension LedgerTransaction {
    /// How many jobs one transaction deletes.
    static let mostForgotten = 500

    /// Deletes the oldest prunable jobs and everything attached to them.
    package func forgetJobs(before: Timestamp) throws -> Int {
        let jobs: [String] = try values(
            """
            DELETE FROM job WHERE sequence IN (
                SELECT sequence FROM job WHERE state IN ('done', 'superseded', 'undone', 'refused', 'declined', 'handled') AND updated < ?
                    AND id NOT IN (SELECT job FROM quarantine WHERE state IN ('moving', 'held'))
                    AND id NOT IN (
                        SELECT job FROM outbox WHERE state IN ('waiting', 'sending')
                        UNION ALL SELECT job FROM outbox WHERE state = 'dead')
                    AND (
                        firstJob NOT IN (
                            SELECT firstJob FROM product
                            UNION SELECT firstJob FROM job WHERE state IN ('ready', 'waiting', 'asking', 'parked', 'undoing'))
                        -- The last of its rule is proof enough: a schedule has one at each of its times.
                        OR firstJob <> id AND EXISTS (
                            SELECT 1 FROM job AS later WHERE later.firstJob = job.firstJob AND later.firstJob <> later.id
                                AND later.rule = job.rule AND later.depth = job.depth AND later.sequence > job.sequence
                                AND later.state IN ('done', 'undone', 'refused', 'declined')))
                LIMIT ?)
            RETURNING id
            """, [before, Self.mostForgotten])
        for job in jobs {
            for table in ["step", "question", "takenFile", "takenFolder"] {
                try execute("DELETE FROM \(table) WHERE job = ?", [job])
            }
        }
        return jobs.count
    }

    /// - Returns: whether there may be more.
    package func forgetHistory(before: Timestamp) throws -> Bool {
        // Everything up to the first line to keep. Lines are in order of their times unless the clock is set back, so
        // this needs no index.
        try execute(
            """
            DELETE FROM history WHERE id IN (
                SELECT id FROM history WHERE id < coalesce(
                    (SELECT id FROM history WHERE time >= ? ORDER BY id LIMIT 1), 9223372036854775807)
                ORDER BY id LIMIT ?)
            """, [before, 8 * Self.mostForgotten]) == 8 * Self.mostForgotten
    }

    /// - Returns: whether there may be more.
    package func forgetNoteWrites(before: Timestamp) throws -> Bool {
        try execute(
            "DELETE FROM noteWrite WHERE id IN (SELECT id FROM noteWrite WHERE done = 1 AND begun < ? LIMIT ?)",
            [before, 2 * Self.mostForgotten]) == 2 * Self.mostForgotten
    }

    package func forgetFiles(before: Timestamp) throws {
        // Keep the version while a job of that name exists: a version starting over would produce the same job id.
        for table in ["file", "folder"] {
            try execute(
                """
                DELETE FROM \(table) WHERE present = 0 AND seen < ?
                    AND NOT EXISTS (SELECT 1 FROM job WHERE job.place = \(table).place AND job.path = \(table).path)
                """, [before])
        }
        try execute(
            """
            DELETE FROM ruleSet WHERE seen < ? AND id NOT IN (SELECT ruleSet FROM file WHERE ruleSet IS NOT NULL)
                AND id NOT IN (SELECT ruleSet FROM folder WHERE ruleSet IS NOT NULL)
            """, [before])
        try execute("DELETE FROM quarantine WHERE state IN ('restored', 'dropped') AND time < ?", [before])
    }

    package func forgetBlocks(before: Timestamp) throws {
        try execute("DELETE FROM noteBlock WHERE noteWrite NOT IN (SELECT id FROM noteWrite)")
        // Without its block, the agent's lines would look like new ones of a person.
        try execute(
            """
            UPDATE noteState SET lines = NULL WHERE note IN (
                SELECT note FROM keptBlock WHERE changed < ? AND step NOT IN (SELECT step FROM noteBlock))
            """, [before])
        try execute(
            "DELETE FROM keptBlock WHERE changed < ? AND step NOT IN (SELECT step FROM noteBlock)", [before]
        )
        try execute("DELETE FROM noteState WHERE note NOT IN (SELECT note FROM keptBlock)")
    }

    /// Deletes rows whose job, step or rule no longer exists.
    package func forgetUnnamed() throws {
        try execute("DELETE FROM outbox WHERE state IN ('delivered', 'dropped') AND job NOT IN (SELECT id FROM job)")
        try execute("DELETE FROM due WHERE rule <> 0 AND rule NOT IN (SELECT id FROM timedRule)")
        try forgetStaged()
        try sweepTexts()
    }
}
