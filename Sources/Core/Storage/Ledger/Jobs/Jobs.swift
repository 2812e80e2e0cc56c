import Platform

extension LedgerTransaction {
    /// Adds a job and its steps; an existing job of this id stays as it is.
    ///
    /// - Parameter time: recorded as the time of writing; see ``isAsAdded(_:)``.
    /// - Returns: whether it is new.
    package func addJob(_ job: JobRecord, steps: [StepRecord], at time: Timestamp = .now()) throws -> Bool {
        let added = try execute(
            """
            INSERT INTO job (id, rule, digest, event, place, path, file, hash, firstJob, depth, arrived, state,
                vals, refused, created, updated, nowPlace, nowPath, origin, backlog)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
            """,
            [
                job.id, job.rule, job.digest, job.event, job.place, try names.stored(job.place, job.path),
                job.file, job.hash, job.firstJob, job.depth, job.arrived, job.state.rawValue, job.values, job.refused,
                time, time, job.moved?.place, try job.moved.map { try names.stored($0.place, $0.path) }, job.origin,
                job.isBacklog,
            ])
        guard added > 0 else { return false }
        for step in steps {
            try execute(
                """
                INSERT INTO step (job, number, action, arguments, repeatSafe, item, state) VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    step.job, step.number, step.action, step.arguments, step.repeatSafe, step.item, step.state.rawValue,
                ])
        }
        return true
    }

    /// Whether an added job is unchanged and none of its steps has begun; if so, a copy in memory need not be read
    /// again.
    ///
    /// - Parameter job: with the time at which it was added.
    package func isAsAdded(_ job: JobRecord) throws -> Bool {
        try exists(
            """
            SELECT 1 FROM job WHERE id = ? AND state = 'ready' AND updated = ? AND file = ? AND nowPath IS NULL
                AND NOT EXISTS (SELECT 1 FROM step WHERE job = job.id AND step.state <> 'pending')
            """, [job.id, job.updated, job.file])
    }

    func job(_ row: any SQLRow) throws -> JobRecord {
        var job = try JobRecord(row: row)
        job.path = names.shown(job.place, job.path)
        if let moved = job.moved { job.moved?.path = names.shown(moved.place, moved.path) }
        return job
    }

    package func job(_ id: String) throws -> JobRecord? {
        try first("SELECT * FROM job WHERE id = ?", [id], job)
    }

    /// Where the job's file is now, as ``JobRecord/file``. Every step asks for it, and a full row costs thirty times as
    /// much.
    package func file(ofJob id: String) throws -> String? {
        try value("SELECT file FROM job WHERE id = ?", [id])
    }

    /// The jobs whose id begins with `prefix`, so that people can abbreviate ids as with git.
    package func jobs(idPrefix prefix: String) throws -> [JobRecord] {
        try all("SELECT * FROM job WHERE id >= ? AND id < ? ORDER BY sequence", [prefix, prefix + "\u{10FFFF}"], job)
    }

    /// Jobs in any of `states`, in planning order.
    package func jobs(in states: [JobRecord.State], limit: Int = .max) throws -> [JobRecord] {
        try all(
            "SELECT * FROM job WHERE state IN (\(Self.marks(states.count))) ORDER BY sequence LIMIT ?",
            states.map { $0.rawValue as any SQLConvertible } + [limit], job)
    }

    /// The first ready jobs in planning order, backlog last, with the locations of their files and their rules but
    /// nothing else.
    package func readyJobs(
        limit: Int
    ) throws -> [(id: String, rule: String, place: String, path: BytePath, isBacklog: Bool)] {
        try all(
            """
            SELECT id, rule, coalesce(nowPlace, place) AS place, coalesce(nowPath, path) AS path, backlog FROM job
            WHERE state = 'ready' ORDER BY backlog, sequence LIMIT ?
            """, [limit]
        ) { row in
            let place: String = try row["place"]
            return try (row["id"], row["rule"], place, names.shown(place, row["path"]), row["backlog"])
        }
    }

    /// Moves a file's ready jobs ahead of the backlog. Needed when a job outside the backlog is planned for the same
    /// file, since jobs of one file keep their order.
    ///
    /// - Returns: whether any of them was in the backlog.
    package func bringForward(jobsAt entry: JobRecord.FileLocation) throws -> Bool {
        guard try exists("SELECT 1 FROM job WHERE state = 'ready' AND backlog = 1 LIMIT 1") else { return false }
        let waiting = try jobs(at: entry).filter { $0.state == .ready && $0.isBacklog }
        for job in waiting { try execute("UPDATE job SET backlog = 0 WHERE id = ?", [job.id]) }
        return !waiting.isEmpty
    }

    /// The jobs waiting for a retry in planning order, without their other fields.
    ///
    /// - Parameter problem: a prefix of the problem they wait on; nil for any.
    package func waitingJobs(
        problem: String? = nil
    ) throws -> [(id: String, place: String, path: BytePath, nextAttempt: Timestamp?)] {
        let start = problem ?? ""
        return try all(
            """
            SELECT id, coalesce(nowPlace, place) AS place, coalesce(nowPath, path) AS path, nextAttempt FROM job
            WHERE state = 'waiting' AND substr(coalesce(problem, ''), 1, length(?)) = ? ORDER BY sequence
            """, [start, start]
        ) { row in
            let place: String = try row["place"]
            return try (row["id"], place, names.shown(place, row["path"]), row["nextAttempt"])
        }
    }

    /// Open jobs with a step that was begun and has no receipt.
    package func begunJobs() throws -> [JobRecord] {
        try all(
            """
            SELECT * FROM job WHERE state IN ('ready', 'waiting')
            AND EXISTS (SELECT 1 FROM step WHERE step.job = job.id AND step.state = 'intended') ORDER BY sequence
            """, [], job)
    }

    /// The jobs of a file judged under this name, newest first.
    package func jobs(of place: String, _ path: BytePath) throws -> [JobRecord] {
        try names.forms(place, path).flatMap { form in
            try all(
                "SELECT * FROM job WHERE place = ? AND path = ? ORDER BY sequence DESC", [place, form], job)
        }.sorted { $0.sequence > $1.sequence }
    }

    package func jobCounts() throws -> [String: Int] {
        let counts = try all("SELECT state, count(*) FROM job GROUP BY state") { try ($0[0] as String, $0[1] as Int) }
        return Dictionary(uniqueKeysWithValues: counts)
    }

    /// The planning time of the oldest job that is ready or waiting for a retry; nil if there is none.
    package func oldestOpenJob() throws -> Timestamp? {
        try value("SELECT min(created) FROM job WHERE state IN ('ready', 'waiting')")
    }

    package func steps(of job: String) throws -> [StepRecord] {
        try all("SELECT * FROM step WHERE job = ? ORDER BY number", [job], StepRecord.init(row:))
    }

    /// Stores the changeable fields of a job: state, attempts, problem and values. For its file, see ``setFile(of:)``.
    package func update(_ job: JobRecord) throws {
        try execute(
            """
            UPDATE job SET state = ?, attempts = ?, nextAttempt = ?, problem = ?, vals = ?, updated = ? WHERE id = ?
            """,
            [
                job.state.rawValue, job.attempts, job.nextAttempt, job.problem, job.values,
                Timestamp.now(), job.id,
            ])
    }

    /// Removes from an ended job everything that would reveal the content it was about.
    package func forgetContent(of job: JobRecord) throws {
        try execute("UPDATE job SET hash = NULL WHERE id = ?", [job.id])
        names.noteForgotten()
    }

    /// - Parameter texts: those that the intent refers to.
    package func setIntent(_ step: StepRecord, _ intent: String, texts: [KeptText] = []) throws {
        try execute(
            "UPDATE step SET state = 'intended', intent = ? WHERE job = ? AND number = ?",
            [intent, step.job, step.number])
        for text in texts { try keep(text, for: step.id) }
    }

    /// An action's note about an effect in progress; kept until the step has its receipt.
    package func effectNote(step id: String) throws -> String? { try meta("effect:\(id)") }

    package func setEffectNote(_ text: String?, step id: String) throws { try setMeta("effect:\(id)", text) }

    /// Drops an intent that recovery found was not carried out; the step will be decided again.
    package func clearIntent(_ step: StepRecord) throws {
        try execute(
            "UPDATE step SET state = 'pending', intent = NULL WHERE job = ? AND number = ?",
            [step.job, step.number])
        try releaseTexts(of: step.id, [.perform, .undo])
    }

    /// Marks a done step as being undone, or, if the undo did not happen, as done again.
    ///
    /// - Returns: false if the step is no longer in either state.
    package func setUndoing(_ step: StepRecord, _ isUndoing: Bool) throws -> Bool {
        let (before, after): (StepRecord.State, StepRecord.State) = isUndoing ? (.done, .undoing) : (.undoing, .done)
        return try execute(
            "UPDATE step SET state = ? WHERE job = ? AND number = ? AND state = ?",
            [after.rawValue, step.job, step.number, before.rawValue]) > 0
    }

    /// Puts a job into the state `undoing`, and remembers its previous state.
    package func beginUndo(of job: inout JobRecord) throws {
        if job.state != .undoing {
            try setMeta("undo:\(job.id)", job.state.rawValue)
            job.attempts = 0
        }
        (job.state, job.problem, job.nextAttempt) = (.undoing, nil, nil)
        try update(job)
    }

    /// Restores the previous state of a job of which nothing could be undone.
    package func giveUpUndo(of job: inout JobRecord) throws {
        guard job.state == .undoing, let before = try meta("undo:\(job.id)") else { return }
        (job.state, job.nextAttempt) = (JobRecord.State(rawValue: before) ?? .done, nil)
        if job.state == .done { job.problem = nil }
        try update(job)
        try forgetUndo(of: job.id)
    }

    /// Forgets the job's state from before its undo.
    package func forgetUndo(of id: String) throws { try setMeta("undo:\(id)", nil) }

    /// The jobs with an unfinished undo, except those that wait for a person.
    package func jobsBeingUndone() throws -> [String] {
        try values(
            """
            SELECT id FROM job WHERE state = 'undoing' AND (nextAttempt IS NOT NULL OR problem IS NULL)
            UNION SELECT job FROM step WHERE state = 'undoing' ORDER BY id
            """)
    }

    /// Stores what the step did. Texts that its intent refers to are kept only if a possible undo needs them.
    package func setReceipt(_ step: StepRecord, _ receipt: String, state: StepRecord.State = .done) throws {
        try execute(
            "UPDATE step SET state = ?, receipt = ?, finished = ?, item = NULL WHERE job = ? AND number = ?",
            [state.rawValue, receipt, Timestamp.now(), step.job, step.number])
        try releaseTexts(of: step.id, state == .undone ? [.perform, .undo] : [.perform])
    }

    /// Deletes the item data of an ended job's steps, including those never performed.
    package func forgetItems(of job: String) throws {
        try execute("UPDATE step SET item = NULL WHERE job = ? AND item IS NOT NULL", [job])
    }

    /// Records that the work of a superseded job must be planned again, or that it has been.
    package func setSuperseded(_ job: String, _ isToBePlanned: Bool) throws {
        try setMeta("superseded:\(job)", isToBePlanned ? "" : nil)
    }

    /// The superseded jobs still to be planned again, after a crash in between.
    package func supersededToBePlanned() throws -> [String] {
        try values("SELECT substr(key, 12) FROM meta WHERE key >= 'superseded:' AND key < 'superseded;' ORDER BY key")
    }

    /// Whether this rule has already run in a job's lineage, except on files of the same generation: one job may have
    /// made many files. Superseded jobs do not count.
    ///
    /// - Parameter depth: that generation; nil for none.
    package func hasRun(rule: String, from firstJob: String, besides depth: Int? = nil) throws -> Bool {
        try hasRun(rule, firstJob, "depth <> ?", depth ?? -1)
    }

    /// Whether this rule has run in a job's lineage on an ancestor of a file.
    ///
    /// - Parameter origin: the depth at which that file was made.
    package func hasRun(rule: String, from firstJob: String, before origin: Int) throws -> Bool {
        try hasRun(rule, firstJob, "depth < ?", origin)
    }

    /// - Parameters:
    ///   - generation: a condition on the depth of the jobs that count.
    ///   - depth: its argument.
    private func hasRun(_ rule: String, _ firstJob: String, _ generation: String, _ depth: Int) throws -> Bool {
        // The first job of a lineage is found by its id, the others by the index of jobs that are not the first.
        try exists(
            """
            SELECT 1 FROM job WHERE id = ? AND firstJob = id AND rule = ? AND \(generation) AND state <> 'superseded'
            UNION ALL
            SELECT 1 FROM job WHERE firstJob = ? AND firstJob <> id AND rule = ? AND \(generation)
                AND state <> 'superseded'
            """, [firstJob, rule, depth, firstJob, rule, depth])
    }
}
