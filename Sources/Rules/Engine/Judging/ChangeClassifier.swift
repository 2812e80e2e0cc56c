import Glibc
import Ledger
import Platform
import Synchronization

/// Classifies a settled file as unchanged, arrived, changed, renamed or removed. Asks the rules, and commits the
/// observation and the resulting jobs in one transaction.
package final class ChangeClassifier: Sendable {
    package enum Verdict: Sendable, Equatable {
        /// The ledger already has this version.
        case known
        /// Only attributes or times changed.
        case touched
        case news(FileEvent, jobs: [PlannedJob])
        /// The agent is working on the file, or it changed while being read. Look again.
        case again
        /// Larger than its place accepts; not read.
        case tooLarge(Int64)
    }

    /// How to judge files that were in a place before it was watched.
    package enum Baseline: Sendable, Equatable {
        /// As new files.
        case normal
        /// The place is new: rules with `existing: skip` ignore these files.
        case first
        /// The ledger was lost: all existing files count as seen.
        case silent
    }

    private let ledger: Ledger
    let planner: Planner
    private let presence: PlacePresence
    private let inWork: PathsInWork
    let pool: BlockingPool
    private let unjudged = Mutex<(@Sendable (Fingerprint, _ place: String) async -> BytePath?)?>(nil)

    package init(
        ledger: Ledger, planner: Planner, presence: PlacePresence, inWork: PathsInWork, pool: BlockingPool
    ) {
        self.ledger = ledger
        self.planner = planner
        self.presence = presence
        self.inWork = inWork
        self.pool = pool
    }

    /// Sets the function that returns the path of a file in its place if that file is queued for judgement, or nil.
    package func askForUnjudged(_ ask: @escaping @Sendable (Fingerprint, _ place: String) async -> BytePath?) {
        unjudged.withLock { $0 = ask }
    }

    /// Judges a settled file.
    ///
    /// - Parameters:
    ///   - began: when the baseline scan began. A file that changed later did not exist before; it has arrived.
    ///   - wasThere: whether the file has just been seen. If it is gone now it may have been renamed, so it is looked
    ///     at again after the grace period for missing names.
    ///   - isMovedIn: whether it came from outside its place, so that no name in the place can be its old one.
    ///   - isBacklog: whether a scan of its place found it. Its jobs then run after those of new arrivals.
    ///   - threads: the bulkhead to run on; nil for the place's own.
    @concurrent
    package func judge(
        _ place: PlaceInfo, _ path: BytePath, baseline: Baseline = .normal, began: Timestamp? = nil,
        wasThere: Bool = false, isMovedIn: Bool = false, isBacklog: Bool = false, on threads: Bulkhead? = nil
    ) async throws -> Verdict {
        try await BlockingPool.run(for: threads ?? .place(place.name)) {
            do {
                return try await self.judgeHere(
                    place, path, baseline, began, wasThere: wasThere, isMovedIn: isMovedIn, isBacklog: isBacklog)
            } catch is KnownUnderOtherName {
                // It was entered under another name in the meantime. Look again to see which name it has.
                return .again
            }
        }
    }

    private func judgeHere(
        _ place: PlaceInfo, _ path: BytePath, _ asked: Baseline, _ began: Timestamp?, wasThere: Bool,
        isMovedIn: Bool, isBacklog: Bool
    ) async throws -> Verdict {
        let inForce = planner.inForce
        guard try isFree(path, in: place) else { return .again }
        // Before anything is recorded: which folder is at the place's path.
        let found = try await pool.run { try look(at: path, in: place) }
        guard let (entry, status) = found, status.kind == .file else {
            return try await judgeGone(place, path, inForce, wasThere: wasThere)
        }
        let print = status.fingerprint
        let absolute = place.root.appending(path)
        let (known, others, product) = try await ledger.read { transaction in
            let known = try transaction.file(place.name, path)
            return (
                known, try transaction.files(place.name, device: print.device, inode: print.inode, besides: path),
                known?.present == true ? nil : try transaction.product(absolute)
            )
        }
        let file = FoundFile(place: place, path: path, entry: entry, status: status, known: known, others: others)
        if let known, known.present {
            if known.fingerprint == print {
                try await acceptKept(known, place)
                // Attributes that others set before the agent's own change still have to be looked at.
                guard known.attributes?.isOpen == true else { return .known }
            } else if (known.fingerprint.inode, known.fingerprint.device) != (print.inode, print.device),
                try await isAboutToBeRenamed(known, in: place)
            {
                return .again
            }
        }
        let seen: ObservedFile
        switch try await observe(file, isMovedIn: isMovedIn) {
        case .seen(let what): seen = what
        case .unsteady: return .again
        case .tooLarge: return .tooLarge(status.size)
        }
        // A file that changed after the scan began did not exist before.
        let isLater = began.map { print.changed > $0.nanoseconds } ?? false
        let baseline = isLater && seen.news != .touched ? .normal : asked
        let isNew = seen.before == nil && others.isEmpty && seen.blocks == nil
        let past = isNew ? FileHistory(ofNew: seen, product) : nil
        let jobs = try await conclude(
            seen, known: past, baseline, inForce, isBacklog: isBacklog && seen.news != .touched)
        guard let jobs else { return .again }
        switch seen.news {
        case .happened(let event): return .news(event, jobs: jobs)
        case .touched where known?.fingerprint != print:
            if let known { try await acceptKept(known, place) }
            return jobs.isEmpty ? .touched : .news(.changed, jobs: jobs)
        case .touched where !jobs.isEmpty: return .news(.changed, jobs: jobs)
        default: return .known
        }
    }

    /// Whether no effect is in flight at the path. One of a job whose hidden file has no known name, such as an undo that
    /// gives the file back, is registered under the token.
    private func isFree(_ path: BytePath, in place: PlaceInfo) throws -> Bool {
        let stored = try ledger.names.stored(place.name, path)
        return !inWork.contains(place.root.appending(path)) && !inWork.contains(place.root.appending(stored))
    }

    /// Asks the rules about an observation and commits the result; nil if the file has to be judged again.
    ///
    /// - Parameter known: the file's past, if already read from the ledger.
    private func conclude(
        _ seen: ObservedFile, known: FileHistory? = nil, _ baseline: Baseline, _ inForce: Planner.InForce,
        isBacklog: Bool = false
    ) async throws -> [PlannedJob]? {
        var read = known
        if read == nil { read = try await planner.past(of: seen, inForce.ruleSet) }
        guard let past = read else { return nil }
        let judgement = try await pool.run { try Judgement(past, seen, baseline: baseline, inForce, planner) }
        guard let judgement else { return nil }
        return try await planner.commit(judgement, isBacklog: isBacklog) {
            guard seen.status != nil else { return true }
            return try self.isFree(seen.record.path, in: seen.place)
        }
    }

    /// An existing file before it is read, with the ledger's rows for its name and inode.
    struct FoundFile: Sendable {
        let place: PlaceInfo
        let path: BytePath
        let entry: DirectoryEntry
        let status: FileStatus
        let known: FileRecord?
        let others: [FileRecord]

        /// Possible arrival times. Whether it is one of the known files is decided later, by birth time or content.
        func arrivals(_ now: Timestamp) -> [Timestamp?] {
            if let known, known.present { return [known.arrived] }
            return others.map(\.arrived) + [now]
        }
    }

    enum Sight: Sendable {
        case seen(ObservedFile)
        /// Replaced, or changed while being read.
        case unsteady
        /// Larger than its place accepts.
        case tooLarge
    }

    /// Determines what happened to a file. It is read only if a rule could match it.
    func observe(_ found: FoundFile, isMovedIn: Bool) async throws -> Sight {
        let (place, path, status, known) = (found.place, found.path, found.status, found.known)
        let now = planner.clock.now()
        let isWanted = found.arrivals(now).contains {
            planner.mightWant(path, in: place, status, now: now, arrived: $0)
        }
        let isSame = known?.present == true && known?.fingerprint == status.fingerprint
        guard isWanted || isSame else { return .seen(try await observeUnread(found, isMovedIn: isMovedIn, now)) }
        if status.size > place.sizeLimit, !isSame { return .tooLarge }
        guard let (file, hash, born, blocks) = try await read(found, isHashed: !isSame) else { return .unsteady }
        let left = try await namesLeft(of: found.others, status.fingerprint, in: place)
        var record = FileRecord(
            place: place.name, path: path, fingerprint: status.fingerprint, hash: hash ?? known?.hash,
            version: (known?.version ?? 0) + 1, birthTime: born, links: status.links)
        var (news, former): (News, FileRecord?) = (.touched, nil)
        if !isSame { (news, former) = News.of(record, known: known, left: left, isMovedIn: isMovedIn) }
        switch news {
        case .touched:
            if let known { record = known }
            (record.fingerprint, record.birthTime, record.links) = (status.fingerprint, born, status.links)
        case .happened(.arrived): record.arrived = now
        default:
            record.arrived = (former ?? known)?.arrived
            record.version = max(record.version, (former?.version ?? 0) + 1)
        }
        return .seen(
            ObservedFile(
                place: place, record: record, status: status, content: .open(file), news: news,
                known: known, others: found.others, former: former, left: left,
                blocks: news == .touched ? nil : blocks, now: now))
    }

    private func observeUnread(_ found: FoundFile, isMovedIn: Bool, _ now: Timestamp) async throws -> ObservedFile {
        let (place, status, known) = (found.place, found.status, found.known)
        let born = try await pool.run { try found.entry.birth() }
        let left = try await namesLeft(of: found.others, status.fingerprint, in: place)
        let other = known?.present == true || isMovedIn ? nil : left.first ?? found.others.first
        let isRenamed = born != nil && other?.birthTime == born
        let print = status.fingerprint
        let kin = other.flatMap { isRenamed || $0.birthTime == nil ? $0 : nil }
        let record = FileRecord(
            place: place.name, path: found.path, fingerprint: print, hash: nil, version: (known?.version ?? 0) + 1,
            birthTime: born, arrived: known?.present == true ? known?.arrived : isRenamed ? other?.arrived : now,
            links: status.links)
        return ObservedFile(
            place: place, record: record, status: status, content: .unread, news: .unread,
            known: known, others: found.others, kin: kin, left: left, now: now)
    }

    private func judgeGone(
        _ place: PlaceInfo, _ path: BytePath, _ inForce: Planner.InForce, wasThere: Bool
    ) async throws -> Verdict {
        let (row, others) = try await ledger.read { transaction in
            let row = try transaction.file(place.name, path)
            let print = row?.fingerprint
            return (
                row,
                try print.map { try transaction.files(place.name, device: $0.device, inode: $0.inode, besides: path) }
            )
        }
        guard let known = row, known.present else { return .known }
        if wasThere { return .again }
        // The file may be missing because its place is away.
        switch try await pool.run({ try presence.isGone(path, in: place) }) {
        case nil: return .again
        case false?: return .known
        case true?: break
        }
        let seen = ObservedFile(
            place: place, record: known, status: nil, content: .none, news: .happened(.removed), known: known,
            renamedTo: others?.first { $0.birthTime != nil && $0.birthTime == known.birthTime }?.path,
            now: planner.clock.now())
        return try await conclude(seen, .normal, inForce).map { .news(.removed, jobs: $0) } ?? .again
    }

    /// Whether the file that had this name before is about to be judged under another name. If so it was renamed, and
    /// the file that has the name now has arrived rather than changed.
    private func isAboutToBeRenamed(_ known: FileRecord, in place: PlaceInfo) async throws -> Bool {
        guard let ask = unjudged.withLock({ $0 }), let name = await ask(known.fingerprint, place.name),
            name != known.path, try await ledger.read({ try $0.file(place.name, name)?.present }) != true
        else { return false }
        return try await isNow(name, known, in: place)
    }

    /// A folder that was taken for another one is the place itself if it received a file of the place.
    private func acceptKept(_ known: FileRecord, _ place: PlaceInfo) async throws {
        if known.isKept { try await pool.run { try presence.accept(place) } }
    }

    /// Those of the inode's other names in the ledger that do not refer to it any more.
    private func namesLeft(
        of others: [FileRecord], _ print: Fingerprint, in place: PlaceInfo
    ) async throws -> [FileRecord] {
        guard !others.isEmpty else { return [] }
        return try await pool.run {
            try others.filter { other in
                let still = try look(at: other.path, in: place)?.status.fingerprint
                return still?.inode != print.inode || still?.device != print.device
            }
        }
    }

    /// Whether a file that is missing under its known name is now at `path`, as far as can be told without reading
    /// it. If so it was renamed, and its old name is judged after the new one.
    package func isNow(_ path: BytePath, _ known: FileRecord, in place: PlaceInfo) async throws -> Bool {
        try await pool.run { () -> Bool in
            guard let (entry, status) = try look(at: path, in: place), status.kind == .file,
                status.inode == known.fingerprint.inode, status.device == known.fingerprint.device
            else { return false }
            if let old = known.birthTime, let new = try entry.birth() { return old == new }
            return status.size == known.fingerprint.size && status.fingerprint.modified == known.fingerprint.modified
        }
    }

    /// The file at `path`, with its parent folder held open; nil if it does not exist or is behind a symlink. Blocks.
    ///
    /// - Throws: `Fault` with the code ``Fault/inUse`` if another agent handles the place.
    func look(at path: BytePath, in place: PlaceInfo) throws -> (entry: DirectoryEntry, status: FileStatus)? {
        let root: Root
        var other: Descriptor?
        switch try presence.look(at: place) {
        case .here(let folder): root = Root(folder, links: place.links)
        case .other(let folder):
            root = Root(folder, links: place.links)
            other = folder
        case .inUse(let holder): throw PlacePresence.inUse(place, holder)
        case .missing: return nil
        }
        do {
            let entry = try root.entry(path)
            guard let status = try entry.status() else { return nil }
            if let other, let holder = try presence.claims?.claim(place, in: other) {
                throw PlacePresence.inUse(place, holder)
            }
            return (entry, status)
        } catch let fault as Fault where [ENOENT, ENOTDIR].contains(fault.errno) || fault.code == Fault.link {
            return nil
        }
    }

    /// Opens a file for all decisions about it and hashes it; nil if it was replaced or changed in the meantime.
    private func read(
        _ found: FoundFile, isHashed: Bool
    ) async throws -> (file: Descriptor, hash: ContentHash?, born: Int64?, blocks: [BlockFacts]?)? {
        let (planner, reader, before) = (planner, planner.reader, found.status.fingerprint)
        return try await reader.run(isHashed ? found.status.size : 0) {
            do {
                let file = try found.entry.openFile()
                guard try file.status().fingerprint == before else { return nil }
                guard isHashed else { return (file, nil, found.known?.birthTime, nil) }
                let hash = try reader.hash(file)
                let blocks = try planner.blocks(of: found.path, file, in: found.place)
                return try file.status().fingerprint == before ? (file, hash, file.birth(), blocks) : nil
            } catch let fault as Fault where fault.kind == .superseded {
                return nil
            }
        }
    }
}
