import OwnFiles
import Platform
import SQLiteFile

/// How much a backup holds. Rotation uses this to see that an older backup may be the last one with lost data.
/// Everything here blocks.
struct BackupHoldings {
    /// Row counts by database (`captures/captures.sqlite`), and file counts for stores without a database.
    private let counts: [String: Int]

    private static let ledger = "\(BackupStore.stateName)/ledger.sqlite"

    /// The tables counted. Except for the ledger's jobs, only a person removes their rows.
    private static let counted: [String: [String: [String]]] = [
        BackupStore.stateName: [
            "ledger.sqlite": ["job"], "comics.sqlite": ["progress", "bookmark", "favourite", "seriesMember"],
        ],
        BackupStore.capturesName: ["captures.sqlite": ["experience"]],
        BackupStore.draftsName: ["usage.sqlite": ["call"], "journeys.sqlite": ["message"]],
    ]

    /// - Parameter backup: read if the manifest has no counts. An unreadable store counts as empty.
    init(_ manifest: BackupManifest, in backup: BytePath) {
        var counts: [String: Int] = [:]
        for store in manifest.stores {
            guard Self.counted[store.name] != nil else {
                counts[store.name] = store.files
                continue
            }
            let rows = store.rows ?? (try? Self.rows(of: store.name, in: backup)) ?? [:]
            for (name, count) in rows { counts["\(store.name)/\(name)"] = count }
        }
        self.counts = counts
    }

    /// Counts the rows of a store's databases in a backup.
    ///
    /// - Returns: nil for a store without databases.
    static func rows(of store: String, in backup: BytePath) throws -> [String: Int]? {
        guard let databases = counted[store] else { return nil }
        var rows: [String: Int] = [:]
        for (name, tables) in databases {
            let path = backup.appending(store).appending(name)
            guard try FileStatus.of(path) != nil else { continue }
            rows[name] = try DatabaseInstant.rows(in: path, of: tables)
        }
        return rows
    }

    /// The backups that hold the most of something that has since shrunk; for each such thing the newest backup, with
    /// the reason.
    ///
    /// - Parameters:
    ///   - backups: oldest first.
    ///   - now: the current holdings.
    static func fullest(
        of backups: [(path: BytePath, holdings: BackupHoldings)], now: BackupHoldings
    ) -> [BackupReport.Spared] {
        Set(backups.flatMap(\.holdings.counts.keys)).sorted().compactMap { key in
            guard
                let best = backups.max(by: { ($0.holdings.counts[key] ?? 0) <= ($1.holdings.counts[key] ?? 0) }),
                let most = best.holdings.counts[key], isLess(now.counts[key] ?? 0, than: most, key)
            else { return nil }
            return .init(path: best.path, reason: "\(key) has \(most) entries in it, and \(now.counts[key] ?? 0) now")
        }
    }

    /// The ledger expires old jobs and a vault merges files, so for these only a large drop counts.
    private static func isLess(_ now: Int, than before: Int, _ key: String) -> Bool {
        key.hasSuffix(".sqlite") && key != ledger ? now < before : now * 2 < before
    }
}
