import DotLifeDomain
import GRDB

extension CaptureStore {
    /// Up to two captures with this id prefix, in either case; two mean that it is ambiguous.
    package func records(idBeginning text: String) async throws -> [ExperienceRecord] {
        let start = text.uppercased()
        // Sorts after every digit and the hyphen.
        let end = start + "~"
        return try await read { db in
            try ExperienceRow.all(
                "WHERE experience.id >= ? AND experience.id < ? ORDER BY experience.id LIMIT 2", [start, end], db)
        }
    }
}
