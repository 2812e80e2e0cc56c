import Platform

/// Where jobs' files are now. A job keeps the name under which its file was judged, as part of its id and for display;
/// its file is found at the location it has been moved to since, by the job's own steps or by another job.
extension JobRecord {
    package struct FileLocation: Sendable, Equatable {
        /// Empty for a file that is in no place, as in the trash.
        package var place: String
        package var path: BytePath

        package init(place: String, path: BytePath) { (self.place, self.path) = (place, path) }
    }

    /// Where its file is, as far as the agent knows.
    package var whereabouts: FileLocation { moved ?? FileLocation(place: place, path: path) }
}

extension LedgerTransaction {
    /// Stores where a job's file is now; ``update(_:)`` leaves that alone, since others may have written it.
    package func setFile(of job: JobRecord) throws {
        let moved = job.whereabouts == JobRecord.FileLocation(place: job.place, path: job.path) ? nil : job.moved
        try execute(
            "UPDATE job SET file = ?, nowPlace = ?, nowPath = ? WHERE id = ?",
            [job.file, moved?.place, try moved.map { try names.stored($0.place, $0.path) }, job.id])
    }

    /// The jobs whose file is there now, newest first.
    package func jobs(at entry: JobRecord.FileLocation) throws -> [JobRecord] {
        var found: [JobRecord] = []
        for form in try names.forms(entry.place, entry.path) {
            found += try all(
                "SELECT * FROM job WHERE place = ? AND path = ? AND nowPath IS NULL", [entry.place, form], job)
            found += try all("SELECT * FROM job WHERE nowPlace = ? AND nowPath = ?", [entry.place, form], job)
        }
        return found.sorted { $0.sequence > $1.sequence }
    }

    /// The jobs in `states` whose file or folder is at or below `entry` now, in planning order.
    package func jobs(
        in states: Set<JobRecord.State>, within entry: JobRecord.FileLocation
    ) throws -> [JobRecord] {
        let (low, high) = Self.below(entry.path)
        let arguments: [any SQLConvertible] = [entry.place, entry.path, low, high]
        func wanted(_ row: any SQLRow) throws -> String? {
            try JobRecord.State(rawValue: row["state"]).map(states.contains) == true ? row["id"] : nil
        }
        let judged = try all(
            """
            SELECT id, state FROM job WHERE place = ? AND (path = ? OR path >= ? AND path < ?) AND nowPath IS NULL
            """, arguments, wanted)
        let moved = try all(
            "SELECT id, state FROM job WHERE nowPlace = ? AND (nowPath = ? OR nowPath >= ? AND nowPath < ?)", arguments,
            wanted)
        return try (judged + moved).compactMap { id in try id.flatMap { try job($0) } }.sorted {
            $0.sequence < $1.sequence
        }
    }
}
