import DotLifeDomain
import GRDB

extension CaptureStore {
    /// Captures whose id begins so, in either case of its letters; two of them tell that it names none alone.
    package func records(idBeginning text: String) async throws -> [ExperienceRecord] {
        let start = text.uppercased()
        // Behind every digit and the hyphen.
        let end = start + "~"
        return try await read { db in
            try ExperienceRow.all(
                "WHERE experience.id >= ? AND experience.id < ? ORDER BY experience.id LIMIT 2", [start, end], db)
        }
    }
}
