import Ledger
import Platform
import Watching

/// What is on the disk compared with what the ledger knows. Of each known file eight bytes are in memory, however many
/// there are.
struct PlaceComparison {
    /// Files that the ledger does not know as they are.
    private(set) var news: [BytePath] = []
    /// Files that the ledger has and the disk has not.
    private(set) var gone: [BytePath] = []
    /// Of those that were asked for, the ones that are not there.
    private(set) var left: [BytePath] = []
    private(set) var report: ScanReport

    /// Blocks.
    ///
    /// - Parameter awaited: paths of which it is to be told whether they are there.
    /// - Throws: `Fault(.transient)` where the ledger cannot be read just now; `CancellationError` in a cancelled task.
    init(_ root: WatchRoot, from path: BytePath, ignoring: IgnoreList, awaited: [BytePath], ledger: Ledger) throws {
        let (name, names) = (root.name, ledger.names)
        var known: Set<Int> = []
        try ledger.readBlocking { transaction in
            try transaction.eachFile(name, within: path) { stored, fingerprint, _ in
                known.insert(Self.mark(stored, fingerprint))
            }
        }
        var absent = Set(awaited)
        var news: [BytePath] = []
        // Under both names: what the ledger knew of a hidden file before its name was met stands under its token.
        var changed: Set<BytePath> = []
        report = try Scanner.walk(root: root, from: path, ignoring: ignoring) { path, status in
            guard status.kind == .file else { return }
            if !absent.isEmpty { absent.remove(path) }
            if known.remove(Self.mark(path, status.fingerprint)) != nil { return }
            let token = try names.stored(name, path)
            if token != path {
                changed.insert(token)
                if known.remove(Self.mark(token, status.fingerprint)) != nil { return }
            }
            changed.insert(path)
            news.append(path)
        }
        self.news = news
        left = awaited.filter(absent.contains)
        // Only where something known was not found as it was is the ledger asked what that is.
        guard !known.isEmpty, !report.rootMissing else { return }
        let (rest, found) = (known, report)
        gone = try ledger.readBlocking { transaction in
            var gone: [BytePath] = []
            try transaction.eachFile(name, within: path) { stored, fingerprint, isKept in
                guard !isKept, rest.contains(Self.mark(stored, fingerprint)), !changed.contains(stored) else { return }
                let shown = names.shown(name, stored)
                if !changed.contains(shown), found.covers(shown) { gone.append(shown) }
            }
            return gone
        }
    }

    /// Sixty-four bits that another path or version has by chance once in some 10^19; with another key at each start.
    private static func mark(_ path: BytePath, _ fingerprint: Fingerprint) -> Int {
        var hasher = Hasher()
        hasher.combine(path)
        hasher.combine(fingerprint)
        return hasher.finalize()
    }
}
