import GRDB
import OwnFiles
import Platform
import SQLiteFile

extension CaptureStore {
    /// Stores that were set aside and stood in this folder before, as far as nobody has acknowledged it.
    package func losses() async throws -> [StoreLoss] {
        try await lane.run { [folder] in
            try LossRegistry([folder]).standing(of: folder.appending(Self.databaseName))
        }
    }

    static let databaseName: BytePath = "captures.sqlite"

    /// Whether an agent's rules have put captures into the store of a folder. What people add has no key. Blocks.
    ///
    /// - Returns: true also where there is a store that cannot be read: then it is not known that there are none.
    package static func holdsAgentsCaptures(in folder: BytePath) throws -> Bool {
        let path = folder.appending(databaseName)
        guard try FileStatus.of(path) != nil else { return false }
        do {
            let pool = try SQLiteFile(
                path, of: "the captures", migrator: CaptureSchema.migrator, whenCorrupt: .refused(remedy: "")
            ).openForReading()
            defer { try? pool.close() }
            return try pool.read {
                try Bool.fetchOne($0, sql: "SELECT EXISTS (SELECT 1 FROM experience WHERE capture_key IS NOT NULL)")
            } ?? false
        } catch {
            return true
        }
    }
}
