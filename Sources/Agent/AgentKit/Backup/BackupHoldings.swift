import OwnFiles
import Platform
import SQLiteFile

/// How much a backup holds. By this a rotation sees that an older backup may be the last one with something that was lost.
/// Everything here blocks.
struct BackupHoldings {
    /// Entries by database (`captures/captures.sqlite`), and files by store where a store has no database.
    private let counts: [String: Int]

    private static let ledger = "\(BackupStore.stateName)/ledger.sqlite"

    /// The tables that count. Only a person removes what is in them, but for the ledger's jobs.
    private static let counted: [String: [String: [String]]] = [
        BackupStore.stateName: [
            "ledger.sqlite": ["job"], "comics.sqlite": ["progress", "bookmark", "favourite", "seriesMember"],
        ],
        BackupStore.capturesName: ["captures.sqlite": ["experience"]],
        BackupStore.draftsName: ["usage.sqlite": ["call"], "journeys.sqlite": ["document", "message"]],
    ]

    /// - Parameter backup: is read where its manifest does not tell. What cannot be read there holds nothing.
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

    /// Counts the entries of a store's databases in a backup.
    ///
    /// - Returns: nil for a store without such.
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

    /// Which backups hold the most of something of which there is less now: of each the newest, with a sentence why.
    ///
    /// - Parameters:
    ///   - backups: oldest first.
    ///   - now: what is there now.
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

    /// The ledger forgets old jobs by itself, and a vault folds files into others: there only a large part counts.
    private static func isLess(_ now: Int, than before: Int, _ key: String) -> Bool {
        key.hasSuffix(".sqlite") && key != ledger ? now < before : now * 2 < before
    }
}
