import Ledger
import OwnFiles
import Platform
import TKCore

/// A folder that is backed up.
package struct BackupStore: Sendable {
    /// Its folder in the backup.
    package let name: String
    package let root: BytePath
    /// Its SQLite databases, in snapshot order.
    let databases: [String]
    /// Whether a path below `root` belongs to the store; called for databases too.
    let takes: @Sendable (BytePath) -> Bool
    /// Locked shared while files are copied: operations that would replace all of them wait or are refused.
    var lockedFile: BytePath?
    /// Whether its files belong to a person, who may keep them elsewhere behind a symlink.
    var followsLinks = false
    /// Whether a restore must move everything else in the folder aside, or only files with the same names.
    var isAlone = true
    /// The parts of the folder that belong to the store; nil for all of it.
    private var parts: [BytePath]?
    /// Paths in its folder that do not belong to it: a service's home is its state folder, which may contain other
    /// stores, the trash and places.
    private(set) var foreign: [BytePath] = []
    /// If this is a vault: where the host keeps its own data about it.
    private(set) var vaultHost: BytePath?

    static let stateName = "state"
    static let capturesName = "captures"
    static let configurationName = "configuration"
    static let draftsName = "tk"
    private static let vaultPrefix = "vaults/"

    /// All stores to back up, the ledger first.
    ///
    /// - Parameters:
    ///   - vaults: names and folders.
    ///   - places: folders with a person's own files, which are not backed up.
    ///   - takesSecrets: whether to include the API keys of `tk`.
    package static func all(
        _ directories: Directories, vaults: [(name: String, path: BytePath)], places: [BytePath], tk: BytePath?,
        takesSecrets: Bool
    ) -> [BackupStore] {
        let others =
            [captures(directories)] + vaults.map { vault($0.name, $0.path, directories) }
            + (tk.map { [drafts($0, takesSecrets)] } ?? []) + [configuration(directories)]
        return [state(directories, not: others.flatMap(\.own) + places + [directories.trash])] + others
    }

    /// Paths exclusive to this store: its whole folder, unless it shares that.
    private var own: [BytePath] { parts?.map { root.appending($0) } ?? [root] }

    /// The path with symlinks resolved, even if it does not exist yet. Blocks.
    static func resolved(_ path: BytePath) -> BytePath {
        if let real = path.real { return real }
        return path.parent.isEmpty || path.parent == path ? path : resolved(path.parent).appending(name: path.name)
    }

    /// `tk`'s folder; nil if it cannot be determined.
    package static func drafts(_ environment: [String: String]) -> BytePath? {
        (try? TKHome(environment: environment))?.folder
    }

    /// Files in the state directory that are not worth keeping: locks, and files recreated daily or at each start. Also
    /// left out are the record of the last backup, which a restore must not change, and the key that identifies our own
    /// backups, which nobody may get from a backup.
    static let fleeting: Set<BytePath> = [
        "lock", "run", BytePath(StateLock.restoring), "ledger.backup.sqlite", "ledger.backup.sqlite.new",
        LastBackup.name, BackupKey.name,
    ]

    private static func state(_ directories: Directories, not others: [BytePath]) -> BackupStore {
        let root = resolved(directories.state)
        let foreign = (others + [directories.runtime, directories.cache]).map(resolved).filter {
            $0 != root && $0.isWithin(root)
        }
        let inner = foreign.compactMap { $0.relative(to: root) }
        return BackupStore(
            name: stateName, root: directories.state, databases: ["ledger.sqlite", "comics.sqlite"],
            takes: { path in
                !fleeting.contains { path.isWithin($0) } && !inner.contains { path.isWithin($0) } && !isTemporary(path)
            }, foreign: foreign)
    }

    private static func captures(_ directories: Directories) -> BackupStore {
        BackupStore(
            name: capturesName, root: DotContext.folder(directories), databases: ["captures.sqlite"],
            takes: { !isTemporary($0) })
    }

    private static func vault(_ name: String, _ path: BytePath, _ directories: Directories) -> BackupStore {
        BackupStore(
            name: vaultPrefix + name, root: path, databases: [],
            // The folder itself must exist; its contents are temporary.
            takes: { ($0 == "tmp" || !$0.isWithin("tmp")) && !isTemporary($0) },
            lockedFile: "vault.pub", vaultHost: directories.vaultHost(name))
    }

    private static func drafts(_ folder: BytePath, _ takesSecrets: Bool) -> BackupStore {
        BackupStore(
            name: draftsName, root: folder, databases: ["usage.sqlite", "journeys.sqlite"],
            takes: { path in
                // The search index can be rebuilt from the drafts.
                path != ".lock" && !path.text.hasPrefix("search.sqlite") && !isTemporary(path)
                    && (takesSecrets || path != "secrets")
            }, followsLinks: true, isAlone: false)
    }

    private static func configuration(_ directories: Directories) -> BackupStore {
        let file = BytePath(bytes: directories.configuration.name)
        return BackupStore(
            name: configurationName, root: directories.configuration.parent, databases: [],
            takes: { ($0 == file || $0.isWithin("rules.d")) && !isTemporary($0) }, followsLinks: true, isAlone: false,
            parts: [file, "rules.d"])
    }

    /// Between the store's folder name and the time, in the name of a folder that a restore moved aside.
    static let asideMark = ".before-restore-"

    /// Temporary files, and those moved aside by a restore.
    static func isTemporary(_ path: BytePath) -> Bool {
        path.components.contains {
            $0.starts(with: Array(".steward-".utf8)) || String(decoding: $0, as: UTF8.self).contains(asideMark)
        }
    }

    /// Whether SQLite created it beside one of the databases; the copy of the database includes its contents.
    func isCompanion(_ path: BytePath) -> Bool {
        PrivateDatabase.companions.contains { ending in databases.contains { path == BytePath($0 + ending) } }
    }

    func isDatabase(_ path: BytePath) -> Bool { databases.contains { path == BytePath($0) } }
}
