import Ledger
import OwnFiles
import Platform
import TKCore

/// A folder that a backup holds a copy of.
package struct BackupStore: Sendable {
    /// Its folder in the backup.
    package let name: String
    package let root: BytePath
    /// SQLite databases in it, in the order in which they are looked at.
    let databases: [String]
    /// Whether something of that path below `root` belongs to it; the databases are asked for like the rest.
    let takes: @Sendable (BytePath) -> Bool
    /// Held shared while its files are copied: what would exchange all of them waits, or is refused.
    var lockedFile: BytePath?
    /// Whether the files in it are a person's, who may keep them elsewhere and have a link here.
    var followsLinks = false
    /// Whether nothing else may lie where it is restored; else what has the same names.
    var isAlone = true
    /// What it is of its folder; nil for all of it.
    private var parts: [BytePath]?
    /// What lies in its folder and is not its: the service's home is its state folder, so other stores, the trash and places
    /// may be there.
    private(set) var foreign: [BytePath] = []
    /// Where this host keeps what it knows of the vault that this is.
    private(set) var vaultHost: BytePath?

    static let stateName = "state"
    static let capturesName = "captures"
    static let configurationName = "configuration"
    static let draftsName = "tk"
    private static let vaultPrefix = "vaults/"

    /// All that there is to be backed up, the ledger first.
    ///
    /// - Parameters:
    ///   - vaults: names and folders.
    ///   - places: folders whose files are a person's, which no backup holds.
    ///   - takesSecrets: whether the keys of `tk`'s services come along.
    package static func all(
        _ directories: Directories, vaults: [(name: String, path: BytePath)], places: [BytePath], tk: BytePath?,
        takesSecrets: Bool
    ) -> [BackupStore] {
        let others =
            [captures(directories)] + vaults.map { vault($0.name, $0.path, directories) }
            + (tk.map { [drafts($0, takesSecrets)] } ?? []) + [configuration(directories)]
        return [state(directories, not: others.flatMap(\.own) + places + [directories.trash])] + others
    }

    /// What is nobody's but this store's: all of its folder, where it shares that with nothing.
    private var own: [BytePath] { parts?.map { root.appending($0) } ?? [root] }

    /// A path with the links on the way to it resolved, also where nothing stands there yet. Blocks.
    static func resolved(_ path: BytePath) -> BytePath {
        if let real = path.real { return real }
        return path.parent.isEmpty || path.parent == path ? path : resolved(path.parent).appending(name: path.name)
    }

    /// `tk`'s folder; nil where there can be none.
    package static func drafts(_ environment: [String: String]) -> BytePath? {
        (try? TKHome(environment: environment))?.folder
    }

    /// What an agent leaves in its state directory that says nothing: who holds it, what is made anew each day or start. And
    /// when it was backed up last, which is so whatever is restored; and the key that tells which backups are its own, which
    /// whoever holds a backup must not have.
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
            // The folder has to be there; what lies in it is at work.
            takes: { ($0 == "tmp" || !$0.isWithin("tmp")) && !isTemporary($0) },
            lockedFile: "vault.pub", vaultHost: directories.vaultHost(name))
    }

    private static func drafts(_ folder: BytePath, _ takesSecrets: Bool) -> BackupStore {
        BackupStore(
            name: draftsName, root: folder, databases: ["usage.sqlite", "journeys.sqlite"],
            takes: { path in
                // What is searched is made from the drafts.
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

    /// Between the name of a store's folder and the time, where a restore has moved something aside.
    static let asideMark = ".before-restore-"

    /// What is at work, or was moved aside by a restore.
    static func isTemporary(_ path: BytePath) -> Bool {
        path.components.contains {
            $0.starts(with: Array(".steward-".utf8)) || String(decoding: $0, as: UTF8.self).contains(asideMark)
        }
    }

    /// Whether SQLite has put it beside one of the databases; what it says is in the copy of that.
    func isCompanion(_ path: BytePath) -> Bool {
        PrivateDatabase.companions.contains { ending in databases.contains { path == BytePath($0 + ending) } }
    }

    func isDatabase(_ path: BytePath) -> Bool { databases.contains { path == BytePath($0) } }
}
