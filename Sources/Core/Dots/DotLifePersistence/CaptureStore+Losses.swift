import GRDB
import OwnFiles
import Platform
import SQLiteFile

extension CaptureStore {
    /// Former stores of this folder that were set aside, until acknowledged.
    package func losses() async throws -> [StoreLoss] {
        try await threads.run { [folder] in
            try LossRegistry([folder]).standing(of: folder.appending(Self.databaseName))
        }
    }

    static let databaseName: BytePath = "captures.sqlite"

    /// Whether an agent's rules have put captures into the store of a folder. Captures that people add have no key.
    /// Blocks.
    ///
    /// - Returns: true also if the store cannot be read: it may contain some.
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
