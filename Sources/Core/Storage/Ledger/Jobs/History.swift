import Platform

/// One line of `steward log`.
package struct HistoryRecord: Sendable, Equatable, Codable {
    package var id: Int64
    package var time: Timestamp
    /// `planned`, `step`, `done`, `retry`, `parked`, `refused`, `undone`, `agent` …
    package var kind: String
    package var job: String?
    package var place: String?
    package var path: BytePath?
    package var message: String
}

/// A refused file.
package struct QuarantineRecord: Sendable, Equatable, Codable {
    package enum State: String, Sendable, Codable {
        /// The move into quarantine has begun.
        case moving
        case held
        case restored
        case dropped
    }

    package var id: String
    package var job: String
    package var place: String
    /// Its original path, relative to the place's root.
    package var path: BytePath
    package var root: BytePath
    /// Its current path, absolute.
    package var stored: BytePath
    package var reason: String
    /// The reason as one word for programs, if there is one.
    package var code: String?
    package var state: State
    package var time: Timestamp

    package init(
        id: String, job: String, place: String, path: BytePath, root: BytePath, stored: BytePath, reason: String,
        code: String? = nil
    ) {
        self.id = id
        self.job = job
        self.place = place
        self.path = path
        self.root = root
        self.stored = stored
        self.reason = reason
        self.code = code
        state = .moving
        time = .now()
    }
}

extension LedgerTransaction {
    package func note(
        _ kind: String, _ message: String, job: String? = nil, place: String? = nil, path: BytePath? = nil
    ) throws {
        try execute(
            "INSERT INTO history (time, kind, job, place, path, message) VALUES (?, ?, ?, ?, ?, ?)",
            [
                Timestamp.now(), kind, job, place,
                try path.map { path in try place.map { try names.stored($0, path) } ?? path }, message,
            ])
    }

    /// The newest lines, in ascending order.
    ///
    /// - Parameter after: only lines with a greater id, for following.
    package func history(limit: Int, after: Int64 = 0, job: String? = nil) throws -> [HistoryRecord] {
        try all(
            """
            SELECT * FROM (
                SELECT * FROM history WHERE id > ? \(job == nil ? "" : "AND job = ?") ORDER BY id DESC LIMIT ?) AS newest
            ORDER BY id
            """, job == nil ? [after, limit] : [after, job, limit]
        ) { row in
            try HistoryRecord(
                id: row["id"], time: row["time"], kind: row["kind"], job: row["job"],
                place: row["place"], path: row["path"], message: row["message"])
        }
    }

    /// Why rules skipped the file in its present state, newest reason first. Scans the whole history.
    package func reasonsToSkip(_ place: String, _ path: BytePath) throws -> [String] {
        try names.forms(place, path).flatMap { form in
            try values(
                """
                SELECT message FROM history WHERE kind = 'skipped' AND place = ?1 AND path = ?2
                    AND time >= (SELECT contentSince FROM file WHERE place = ?1 AND path = ?2 AND present = 1)
                    ORDER BY id DESC LIMIT 64
                """, [place, form])
        }
    }

    private static let quarantineUpsert = upsert(
        "quarantine", key: ["id"], ["job", "place", "path", "root", "stored", "reason", "code", "state", "time"])

    package func setQuarantine(_ record: QuarantineRecord) throws {
        try execute(
            Self.quarantineUpsert,
            [
                record.id, record.job, record.place, try names.stored(record.place, record.path), record.root,
                record.stored, record.reason, record.code, record.state.rawValue, record.time,
            ])
    }

    package func quarantine(in states: [QuarantineRecord.State] = [.held]) throws -> [QuarantineRecord] {
        try all("SELECT * FROM quarantine ORDER BY time, id") { row in
            var record = try QuarantineRecord(row: row)
            record.path = names.shown(record.place, record.path)
            return record
        }
        .filter { states.contains($0.state) }
    }
}

extension QuarantineRecord {
    init(row: any SQLRow) throws {
        id = try row["id"]
        job = try row["job"]
        place = try row["place"]
        path = try row["path"]
        root = try row["root"]
        stored = try row["stored"]
        reason = try row["reason"]
        code = try row["code"]
        state = try State(rawValue: row["state"]) ?? .held
        time = try row["time"]
    }
}
