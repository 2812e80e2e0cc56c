import Ledger
import Platform
import Synchronization
import Watching

/// Compares the disk with the ledger, part by part, so that each part can be judged before the rest is scanned. Memory:
/// eight bytes per known file, ten bytes plus the name per entry of the current folder, and one part's worth of news.
final class PlaceComparison: Sendable {
    /// Everything found since the previous part.
    struct Part: Sendable {
        /// Files that are not in the ledger in this version.
        var news: [BytePath] = []
        /// Files that are in the ledger but not on the disk. They come after all news, so that a renamed file is found
        /// under its new name first.
        var gone: [BytePath] = []
    }

    /// The final result.
    struct Summary: Sendable {
        let report: ScanReport
        /// The awaited paths that are not there.
        let left: [BytePath]
    }

    private struct State {
        var walk: RootWalk
        var isWalking = true
        /// Marks of files in the ledger at the start that have not been found unchanged.
        var known: Set<Int> = []
        var absent: Set<BytePath>
        /// Where to continue reading the ledger for them.
        var mark: FilePageMark? = FilePageMark()
        var bytes: [UInt8] = []
    }

    private let name: String
    private let path: BytePath
    private let awaited: [BytePath]
    private let ledger: Ledger
    private let state: Mutex<State>

    /// Blocks.
    ///
    /// - Parameters:
    ///   - awaited: paths to report on if they are missing.
    ///   - wantsFolder: which folders the report should list.
    /// - Throws: `Fault(.transient)` if the ledger cannot be read just now.
    init(
        _ root: WatchRoot, from path: BytePath, ignoring: IgnoreList, awaited: [BytePath], ledger: Ledger,
        wantsFolder: (@Sendable (BytePath, FileStatus) -> Bool)? = nil
    ) throws {
        (name, self.path, self.awaited, self.ledger) = (root.name, path, awaited, ledger)
        var known: Set<Int> = []
        var bytes: [UInt8] = []
        try ledger.readBlocking { transaction in
            if path.isEmpty { known.reserveCapacity(try transaction.countNames(root.name)) }
            try transaction.eachFile(root.name, within: path) { stored, fingerprint, _ in
                known.insert(Self.mark(stored, fingerprint, &bytes))
            }
        }
        var walk = RootWalk(root: root, from: path, ignoring: ignoring)
        walk.wantsFolder = wantsFolder
        state = Mutex(State(walk: walk, known: known, absent: Set(awaited)))
    }

    /// The next part, with about `most` files; nil after the last. Blocks.
    ///
    /// - Throws: as ``init(_:from:ignoring:awaited:ledger:)``; `CancellationError` in a cancelled task.
    func next(most: Int) throws -> Part? {
        try state.withLock { state in
            var part = Part()
            if state.isWalking { state.isWalking = try walk(&state, &part, most) }
            guard part.news.isEmpty, !state.isWalking else { return part }
            // The ledger is read only if some known file was not found unchanged.
            if state.known.isEmpty || state.walk.report.rootMissing { state.mark = nil }
            guard let mark = state.mark else { return nil }
            part.gone = try gone(&state, from: mark, most)
            return part
        }
    }

    var summary: Summary {
        state.withLock { Summary(report: $0.walk.report, left: awaited.filter($0.absent.contains)) }
    }

    private func walk(_ state: inout State, _ part: inout Part, _ most: Int) throws -> Bool {
        var (known, absent, bytes, news) = (Set<Int>(), Set<BytePath>(), [UInt8](), [BytePath]())
        // Swapped out to keep a single reference: mutating a shared set would copy it.
        swap(&known, &state.known)
        swap(&absent, &state.absent)
        swap(&bytes, &state.bytes)
        defer { (state.known, state.absent, state.bytes, part.news) = (known, absent, bytes, news) }
        return try state.walk.visit { file in
            if !absent.isEmpty { absent.remove(file.path) }
            if known.remove(Self.mark(file.folder, file.name, file.status.fingerprint, &bytes)) != nil { return true }
            let path = file.path
            let token = try ledger.names.stored(name, path)
            if token != path, known.remove(Self.mark(token, file.status.fingerprint, &bytes)) != nil { return true }
            news.append(path)
            return news.count < most
        }
    }

    /// Files that the ledger still holds as at the start but the disk does not.
    private func gone(_ state: inout State, from mark: FilePageMark, _ most: Int) throws -> [BytePath] {
        var missing: [BytePath] = []
        var (known, bytes) = (Set<Int>(), [UInt8]())
        swap(&known, &state.known)
        swap(&bytes, &state.bytes)
        defer { (state.known, state.bytes) = (known, bytes) }
        state.mark = try ledger.readBlocking { transaction in
            try transaction.eachFile(name, within: path, from: mark, most: most) { stored, fingerprint, isKept in
                guard !isKept, known.remove(Self.mark(stored, fingerprint, &bytes)) != nil else { return }
                missing.append(ledger.names.shown(name, stored))
            }
        }
        return try state.walk.gone(of: missing)
    }

    private static func mark(_ path: BytePath, _ fingerprint: Fingerprint, _ bytes: inout [UInt8]) -> Int {
        bytes.removeAll(keepingCapacity: true)
        bytes += path.bytes
        return mark(bytes, fingerprint)
    }

    /// The same, for a path given as folder and name.
    private static func mark(
        _ folder: BytePath, _ name: [UInt8], _ fingerprint: Fingerprint, _ bytes: inout [UInt8]
    ) -> Int {
        bytes.removeAll(keepingCapacity: true)
        bytes += folder.bytes
        if !folder.isEmpty { bytes.append(UInt8(ascii: "/")) }
        bytes += name
        return mark(bytes, fingerprint)
    }

    /// A 64-bit hash: another path or version collides about once in 10^19. Each start uses another seed.
    private static func mark(_ path: [UInt8], _ fingerprint: Fingerprint) -> Int {
        var hasher = Hasher()
        path.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(fingerprint)
        return hasher.finalize()
    }
}
