import Foundation
import GRDB
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

/// A file that was refused.
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
    /// Where it came from, below the place's root.
    package var path: BytePath
    package var root: BytePath
    /// Where it lies, absolute.
    package var stored: BytePath
    package var reason: String
    /// The reason in one word for programs, where there is one.
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
            sql: "INSERT INTO history (time, kind, job, place, path, message) VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [
                Timestamp.now().nanoseconds, kind, job, place,
                try path.map { path in try place.map { try names.stored($0, path) } ?? path }?.blob, message,
            ])
    }

    /// The newest lines, oldest of them first.
    ///
    /// - Parameter after: only lines with a greater id, for following.
    package func history(limit: Int, after: Int64 = 0, job: String? = nil) throws -> [HistoryRecord] {
        try Row.fetchAll(
            cached(
                """
                SELECT * FROM (SELECT * FROM history WHERE id > ? AND (? IS NULL OR job = ?) ORDER BY id DESC LIMIT ?)
                ORDER BY id
                """), arguments: [after, job, job, limit]
        ).map { row in
            HistoryRecord(
                id: row["id"], time: Timestamp(nanoseconds: row["time"]), kind: row["kind"], job: row["job"],
                place: row["place"], path: (row["path"] as Data?).map(BytePath.init(blob:)), message: row["message"])
        }
    }

    /// Why rules were passed over for a file as it is now, the newest reason first. Goes through the whole history.
    package func reasonsToSkip(_ place: String, _ path: BytePath) throws -> [String] {
        try names.forms(place, path).flatMap { form in
            try String.fetchAll(
                db,
                sql: """
                    SELECT message FROM history WHERE kind = 'skipped' AND place = ?1 AND path = ?2
                        AND time >= (SELECT contentSince FROM file WHERE place = ?1 AND path = ?2 AND present)
                        ORDER BY id DESC LIMIT 64
                    """, arguments: [place, form.blob])
        }
    }

    package func setQuarantine(_ record: QuarantineRecord) throws {
        try execute(
            sql: "INSERT OR REPLACE INTO quarantine VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                record.id, record.job, record.place, try names.stored(record.place, record.path).blob, record.root.blob,
                record.stored.blob,
                record.reason, record.state.rawValue, record.time.nanoseconds, record.code,
            ])
    }

    package func quarantine(in states: [QuarantineRecord.State] = [.held]) throws -> [QuarantineRecord] {
        try Row.fetchAll(cached("SELECT * FROM quarantine ORDER BY time, id")).map { row in
            var record = QuarantineRecord(row: row)
            record.path = names.shown(record.place, record.path)
            return record
        }
        .filter { states.contains($0.state) }
    }
}

extension QuarantineRecord {
    init(row: Row) {
        id = row["id"]
        job = row["job"]
        place = row["place"]
        path = BytePath(blob: row["path"])
        root = BytePath(blob: row["root"])
        stored = BytePath(blob: row["stored"])
        reason = row["reason"]
        code = row["code"]
        state = State(rawValue: row["state"]) ?? .held
        time = Timestamp(nanoseconds: row["time"])
    }
}
