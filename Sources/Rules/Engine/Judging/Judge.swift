import Glibc
import Ledger
import Logging
import Platform
import Synchronization

/// Decides what a settled file is: nothing new, or an arrival, a change, a new name, a removal; asks the rules and
/// commits what was seen together with the jobs that follow, in one transaction.
package final class Judge: Sendable {
    package enum Verdict: Sendable, Equatable {
        /// The ledger knew it.
        case known
        /// Only attributes or times changed.
        case touched
        case news(FileEvent, jobs: [PlannedJob])
        /// Something is at work there, or it changed while it was read: look again.
        case again
        /// It has more bytes than its place takes, and was not read.
        case tooLarge(Int64)
    }

    /// How files are judged that a place held before it was watched.
    package enum Baseline: Sendable, Equatable {
        /// As news.
        case normal
        /// The place is new: rules with `existing: skip` do not see what lies there.
        case first
        /// The ledger was lost: everything that is there counts as seen.
        case silent
    }

    private let ledger: Ledger
    private let planner: Planner
    private let presence: PlacePresence
    private let inWork: PathsInWork
    private let lanes: BlockingLanes
    private let log: Logger
    private let unjudged = Mutex<(@Sendable (Fingerprint, _ place: String) async -> BytePath?)?>(nil)

    package init(
        ledger: Ledger, planner: Planner, presence: PlacePresence, inWork: PathsInWork, lanes: BlockingLanes,
        log: Logger
    ) {
        self.ledger = ledger
        self.planner = planner
        self.presence = presence
        self.inWork = inWork
        self.lanes = lanes
        self.log = log
    }

    /// Has it asked under which name of its place a file is that is about to be judged; nil for none.
    package func askForUnjudged(_ ask: @escaping @Sendable (Fingerprint, _ place: String) async -> BytePath?) {
        unjudged.withLock { $0 = ask }
    }

    /// Judges a file that stands still.
    ///
    /// - Parameters:
    ///   - began: when the baseline was begun: what has changed since was not there before, but has arrived.
    ///   - wasThere: whether it has just been seen there. If it is gone now it may have another name, of which it is not known
    ///     yet: it is looked at again, after the grace that a name has which is gone.
    ///   - isMovedIn: whether it has come from outside its place, so that no name in it was its own before.
    ///   - isBacklog: whether it was found by a look through its place: its jobs come after those of what arrives.
    ///   - threads: on whose threads; nil for the place's.
    @concurrent
    package func judge(
        _ place: PlaceInfo, _ path: BytePath, baseline: Baseline = .normal, began: Timestamp? = nil,
        wasThere: Bool = false, isMovedIn: Bool = false, isBacklog: Bool = false, on threads: Bulkhead? = nil
    ) async throws -> Verdict {
        try await BlockingThreads.run(for: threads ?? .place(place.name)) {
            do {
                return try await self.judgeHere(
                    place, path, baseline, began, wasThere: wasThere, isMovedIn: isMovedIn, isBacklog: isBacklog)
            } catch is KnownUnderOtherName {
                // It was entered under another name while this one was judged. Which of the two it has is seen anew.
                return .again
            }
        }
    }

    private func judgeHere(
        _ place: PlaceInfo, _ path: BytePath, _ asked: Baseline, _ began: Timestamp?, wasThere: Bool,
        isMovedIn: Bool, isBacklog: Bool
    ) async throws -> Verdict {
        let absolute = place.root.appending(path)
        guard !inWork.contains(absolute) else { return .again }
        let term = planner.inForce.term
        // Before anything is noted of a file: which folder stands there.
        let seen = try await lanes.run { try look(at: path, in: place) }
        guard let (spot, status) = seen, status.kind == .file else {
            return try await judgeGone(place, path, wasThere: wasThere)
        }
        let print = status.fingerprint
        let (known, others) = try await ledger.read { transaction in
            (
                try transaction.file(place.name, path),
                try transaction.files(place.name, device: print.device, inode: print.inode, besides: path)
            )
        }
        if let known, known.present, known.fingerprint == status.fingerprint {
            try await acceptKept(known, place)
            guard known.attributes?.isOpen == true else { return .known }
            return try await judgeOwn(known, others, spot, status, place, asked)
        }
        if let known, known.present, (known.fingerprint.inode, known.fingerprint.device) != (print.inode, print.device),
            try await isAboutToBeRenamed(known, in: place)
        {
            return .again
        }
        // One time for all that is asked: what a rule comes to want between two would be missed by both.
        let now = planner.clock.now()
        let isWanted = Self.arrivals(known, others, now).contains {
            planner.mightWant(path, in: place, status, now: now, arrived: $0)
        }
        guard isWanted else {
            let born = try await lanes.run { try spot.birth() }
            let left = try await namesLeft(of: others, print, in: place)
            let former = known?.present == true || isMovedIn ? nil : left.first ?? others.first
            let isSeen = try await planner.see(
                path, in: place, status, now: now, born: born, known: known, former: former, left: left,
                term: term)
            return isSeen ? .known : .again
        }
        if status.size > place.sizeLimit { return .tooLarge(status.size) }
        guard let (file, hash, born) = try await read(spot, status) else { return .again }
        let left = try await namesLeft(of: others, print, in: place)
        if let known, known.present, known.hash == hash {
            let jobs = try await planner.commitTouch(
                known, file, status: status, born: born, left: left, in: place, baseline: asked
            ) { [inWork] in !inWork.contains(absolute) }
            guard let jobs else { return .again }
            try await acceptKept(known, place)
            return jobs.isEmpty ? .touched : .news(.changed, jobs: jobs)
        }
        var record = FileRecord(
            place: place.name, path: path, fingerprint: status.fingerprint, hash: hash,
            version: (known?.version ?? 0) + 1, born: born, links: status.links)
        var event = FileEvent.arrived
        var renamed: FileRecord?
        if let known, known.present {
            event = .changed
        } else if !isMovedIn, let former = left.first(where: { Self.isSame($0, record) }) {
            event = .renamed
            renamed = former
            record.version = max(record.version, former.version + 1)
        }
        let isLater = began.map { status.fingerprint.changed > $0.nanoseconds } ?? false
        let baseline = isLater ? .normal : asked
        let jobs = try await planner.commit(
            record, file, known: known, in: place, event: event, former: renamed, others: others, left: left,
            status: status, baseline: baseline, term: term, isBacklog: isBacklog
        ) { [inWork] in !inWork.contains(absolute) }
        return jobs.map { .news(event, jobs: $0) } ?? .again
    }

    /// When the file may have come: which file it is, by its birth or its content, is yet to be told.
    private static func arrivals(_ known: FileRecord?, _ others: [FileRecord], _ now: Timestamp) -> [Timestamp?] {
        if let known, known.present { return [known.arrived] }
        return others.map(\.arrived) + [now]
    }

    /// A file of which the agent has set attributes, and nobody has changed anything since: what others had set before is
    /// yet to be seen.
    private func judgeOwn(
        _ known: FileRecord, _ others: [FileRecord], _ spot: Spot, _ status: FileStatus, _ place: PlaceInfo,
        _ baseline: Baseline
    ) async throws -> Verdict {
        let absolute = place.root.appending(known.path)
        let open = try await lanes.run { () -> Descriptor? in
            do {
                let file = try spot.openFile()
                return try file.status().fingerprint == status.fingerprint ? file : nil
            } catch let fault as Fault where fault.kind == .superseded {
                return nil
            }
        }
        guard let file = open else { return .again }
        let left = try await namesLeft(of: others, status.fingerprint, in: place)
        let jobs = try await planner.commitTouch(
            known, file, status: status, born: known.born, left: left, in: place, baseline: baseline
        ) { [inWork] in !inWork.contains(absolute) }
        guard let jobs else { return .again }
        return jobs.isEmpty ? .known : .news(.changed, jobs: jobs)
    }

    private func judgeGone(_ place: PlaceInfo, _ path: BytePath, wasThere: Bool) async throws -> Verdict {
        guard let known = try await ledger.read({ try $0.file(place.name, path) }), known.present else { return .known }
        if wasThere { return .again }
        // What is missing may be away with its place, and not gone from it.
        switch try await lanes.run({ try presence.isGone(path, in: place) }) {
        case nil: return .again
        case false?: return .known
        case true?: break
        }
        let jobs = try await planner.commitRemoval(known, in: place)
        return .news(.removed, jobs: jobs)
    }

    /// Whether the file that had a name before is about to be judged under another. Only then is it known that it has kept
    /// nothing of the first, so that what has that now arrives, and is no change of it.
    private func isAboutToBeRenamed(_ known: FileRecord, in place: PlaceInfo) async throws -> Bool {
        guard let ask = unjudged.withLock({ $0 }), let name = await ask(known.fingerprint, place.name),
            name != known.path, try await ledger.read({ try $0.file(place.name, name)?.present }) != true
        else { return false }
        return try await isNow(name, known, in: place)
    }

    /// A folder that was taken for another is the place itself where a file of the place has come into it.
    private func acceptKept(_ known: FileRecord, _ place: PlaceInfo) async throws {
        if known.isKept { try await lanes.run { try presence.accept(place) } }
    }

    /// Those of the other names of an inode in the ledger that do not stand for it any more.
    private func namesLeft(
        of others: [FileRecord], _ print: Fingerprint, in place: PlaceInfo
    ) async throws -> [FileRecord] {
        guard !others.isEmpty else { return [] }
        return try await lanes.run {
            try others.filter { other in
                let still = try look(at: other.path, in: place)?.status.fingerprint
                return still?.inode != print.inode || still?.device != print.device
            }
        }
    }

    /// Whether a file that is missing under the name by which the ledger has it lies at `path` now, as far as that can be
    /// told without reading it: then it was renamed, and its old name is judged after the new one.
    package func isNow(_ path: BytePath, _ known: FileRecord, in place: PlaceInfo) async throws -> Bool {
        try await lanes.run { () -> Bool in
            guard let (spot, status) = try look(at: path, in: place), status.kind == .file,
                status.inode == known.fingerprint.inode, status.device == known.fingerprint.device
            else { return false }
            if let old = known.born, let new = try spot.birth() { return old == new }
            return status.size == known.fingerprint.size && status.fingerprint.modified == known.fingerprint.modified
        }
    }

    /// Whether two records with one inode are of one file: file systems give an inode that is free to the next file.
    private static func isSame(_ former: FileRecord, _ record: FileRecord) -> Bool {
        guard let old = former.born, let new = record.born else { return former.hash == record.hash }
        return old == new && (former.hash == nil || former.hash == record.hash)
    }

    /// What has the name now, in its folder held open; nil where nothing has it, or a link is in the way. Blocks.
    ///
    /// - Throws: `Fault` with the code ``Fault/inUse`` where another agent looks after the place.
    private func look(at path: BytePath, in place: PlaceInfo) throws -> (spot: Spot, status: FileStatus)? {
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
            let spot = try root.spot(path)
            guard let status = try spot.status() else { return nil }
            if let other, let holder = try presence.claims?.claim(place, in: other) {
                throw PlacePresence.inUse(place, holder)
            }
            return (spot, status)
        } catch let fault as Fault where [ENOENT, ENOTDIR].contains(fault.errno) || fault.code == Fault.link {
            return nil
        }
    }

    /// Opens a file, for all that is decided on it, and hashes it; nil where it is another by now, or changed while it
    /// was read.
    private func read(_ spot: Spot, _ before: FileStatus) async throws -> (Descriptor, ContentHash, Int64?)? {
        let reader = planner.reader
        return try await reader.run(before.size) {
            do {
                let file = try spot.openFile()
                guard try file.status().fingerprint == before.fingerprint else { return nil }
                let hash = try reader.hash(file)
                return try file.status().fingerprint == before.fingerprint ? (file, hash, file.birth()) : nil
            } catch let fault as Fault where fault.kind == .superseded {
                return nil
            }
        }
    }
}
