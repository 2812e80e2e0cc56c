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

    static let stateName = "state"
    static let capturesName = "captures"
    static let configurationName = "configuration"
    private static let vaultPrefix = "vaults/"

    /// All that there is to be backed up, the ledger first.
    ///
    /// - Parameters:
    ///   - vaults: names and folders.
    ///   - takesSecrets: whether the keys of `tk`'s services come along.
    package static func all(
        _ directories: Directories, vaults: [(name: String, path: BytePath)], tk: BytePath?, takesSecrets: Bool
    ) -> [BackupStore] {
        [state(directories), captures(directories)] + vaults.map { vault($0.name, $0.path) }
            + (tk.map { [drafts($0, takesSecrets)] } ?? []) + [configuration(directories)]
    }

    /// `tk`'s folder; nil where there can be none.
    package static func drafts(_ environment: [String: String]) -> BytePath? {
        (try? TKHome(environment: environment))?.folder
    }

    /// What an agent leaves in its state directory that says nothing: who holds it, what is made anew each day or start.
    static let fleeting: Set<BytePath> = [
        "lock", "run", BytePath(StateLock.restoring), "ledger.backup.sqlite", "ledger.backup.sqlite.new",
    ]

    private static func state(_ directories: Directories) -> BackupStore {
        let inner = [DotContext.folder(directories), directories.runtime, directories.cache].compactMap {
            $0.relative(to: directories.state)
        }
        return BackupStore(name: stateName, root: directories.state, databases: ["ledger.sqlite", "comics.sqlite"]) {
            path in
            !fleeting.contains { path.isWithin($0) } && !inner.contains { path.isWithin($0) } && !isTemporary(path)
        }
    }

    private static func captures(_ directories: Directories) -> BackupStore {
        BackupStore(
            name: capturesName, root: DotContext.folder(directories), databases: ["captures.sqlite"],
            takes: { !isTemporary($0) })
    }

    private static func vault(_ name: String, _ path: BytePath) -> BackupStore {
        BackupStore(
            name: vaultPrefix + name, root: path, databases: [],
            // The folder has to be there; what lies in it is at work.
            takes: { ($0 == "tmp" || !$0.isWithin("tmp")) && !isTemporary($0) },
            lockedFile: "vault.pub")
    }

    private static func drafts(_ folder: BytePath, _ takesSecrets: Bool) -> BackupStore {
        BackupStore(
            name: "tk", root: folder, databases: ["usage.sqlite", "journeys.sqlite"],
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
            takes: { ($0 == file || $0.isWithin("rules.d")) && !isTemporary($0) }, followsLinks: true, isAlone: false)
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
