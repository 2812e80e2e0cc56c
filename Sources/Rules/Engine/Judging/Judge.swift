import Glibc
import Ledger
import Logging
import Platform

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

    /// Judges a file that stands still.
    ///
    /// - Parameter began: when the baseline was begun: what has changed since was not there before, but has arrived.
    @concurrent
    package func judge(
        _ place: PlaceInfo, _ path: BytePath, baseline: Baseline = .normal, began: Timestamp? = nil
    ) async throws -> Verdict {
        try await BlockingThreads.run(for: .place(place.name)) {
            try await self.judgeHere(place, path, baseline, began)
        }
    }

    private func judgeHere(
        _ place: PlaceInfo, _ path: BytePath, _ asked: Baseline, _ began: Timestamp?
    ) async throws -> Verdict {
        let absolute = place.root.appending(path)
        guard !inWork.contains(absolute) else { return .again }
        let term = planner.inForce.term
        // Before anything is noted of a file: which folder stands there.
        let seen = try await lanes.run { try look(at: path, in: place) }
        guard let (spot, status) = seen, status.kind == .file else { return try await judgeGone(place, path) }
        let print = status.fingerprint
        let (known, former) = try await ledger.read { transaction in
            let known = try transaction.file(place.name, path)
            if known?.present == true { return (known, FileRecord?.none) }
            return (known, try transaction.file(place.name, device: print.device, inode: print.inode))
        }
        if let known, known.present, known.fingerprint == status.fingerprint {
            try await acceptKept(known, place)
            return known.attributes?.isOpen == true ? try await judgeOwn(known, spot, status, place, asked) : .known
        }
        // One time for all that is asked: what a rule comes to want between two would be missed by both.
        let now = planner.clock.now()
        let isWanted = Self.arrivals(known, former, now).contains {
            planner.mightWant(path, in: place, status, now: now, arrived: $0)
        }
        guard isWanted else {
            let (born, hasLeft) = try await lanes.run {
                let hasLeft = try former.map { try look(at: $0.path, in: place)?.status.inode != print.inode }
                return (try spot.birth(), hasLeft ?? false)
            }
            let isSeen = try await planner.see(
                path, in: place, status, now: now, born: born, known: known, former: former, hasLeft: hasLeft,
                term: term)
            return isSeen ? .known : .again
        }
        if status.size > place.sizeLimit { return .tooLarge(status.size) }
        guard let (file, hash, born) = try await read(spot, status) else { return .again }
        if let known, known.present, known.hash == hash {
            let jobs = try await planner.commitTouch(
                known, file, status: status, born: born, in: place, baseline: asked
            ) { [inWork] in !inWork.contains(absolute) }
            guard let jobs else { return .again }
            try await acceptKept(known, place)
            return jobs.isEmpty ? .touched : .news(.changed, jobs: jobs)
        }
        var record = FileRecord(
            place: place.name, path: path, fingerprint: status.fingerprint, hash: hash,
            version: (known?.version ?? 0) + 1, born: born)
        var event = FileEvent.arrived
        var renamed: FileRecord?
        if let known, known.present {
            event = .changed
        } else if let former, let found = try await formerName(former, of: record, in: place) {
            event = .renamed
            renamed = found
            record.version = max(record.version, found.version + 1)
        }
        let isLater = began.map { status.fingerprint.changed > $0.nanoseconds } ?? false
        let baseline = isLater ? .normal : asked
        let jobs = try await planner.commit(
            record, file, known: known, in: place, event: event, former: renamed, status: status, baseline: baseline,
            term: term
        ) { [inWork] in !inWork.contains(absolute) }
        return jobs.map { .news(event, jobs: $0) } ?? .again
    }

    /// When the file may have come: which file it is, by its birth or its content, is yet to be told.
    private static func arrivals(_ known: FileRecord?, _ former: FileRecord?, _ now: Timestamp) -> [Timestamp?] {
        if let known, known.present { return [known.arrived] }
        if let former { return [former.arrived, now] }
        return [now]
    }

    /// A file of which the agent has set attributes, and nobody has changed anything since: what others had set before is
    /// yet to be seen.
    private func judgeOwn(
        _ known: FileRecord, _ spot: Spot, _ status: FileStatus, _ place: PlaceInfo, _ baseline: Baseline
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
        let jobs = try await planner.commitTouch(
            known, file, status: status, born: known.born, in: place, baseline: baseline
        ) { [inWork] in !inWork.contains(absolute) }
        guard let jobs else { return .again }
        return jobs.isEmpty ? .known : .news(.changed, jobs: jobs)
    }

    private func judgeGone(_ place: PlaceInfo, _ path: BytePath) async throws -> Verdict {
        guard let known = try await ledger.read({ try $0.file(place.name, path) }), known.present else { return .known }
        // What is missing may be away with its place, and not gone from it.
        switch try await lanes.run({ try presence.isGone(path, in: place) }) {
        case nil: return .again
        case false?: return .known
        case true?: break
        }
        let jobs = try await planner.commitRemoval(known, in: place)
        return .news(.removed, jobs: jobs)
    }

    /// A folder that was taken for another is the place itself where a file of the place has come into it.
    private func acceptKept(_ known: FileRecord, _ place: PlaceInfo) async throws {
        if known.isKept { try await lanes.run { try presence.accept(place) } }
    }

    /// The name under which the ledger has this file, if nothing of that name is there any more.
    ///
    /// - Parameter found: what the ledger has of its inode.
    private func formerName(
        _ found: FileRecord, of record: FileRecord, in place: PlaceInfo
    ) async throws -> FileRecord? {
        guard found.path != record.path, Self.isSame(found, record) else { return nil }
        let oldName = found.path
        let still = try await lanes.run { try look(at: oldName, in: place)?.status }
        // That the old name is gone may have been judged first.
        guard still?.inode != record.fingerprint.inode, found.present || record.born != nil && found.hash == record.hash
        else {
            return nil
        }
        var former = found
        former.present = true
        return former
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
        guard let root = try presence.rootIfAny(of: place) else { return nil }
        do {
            let spot = try root.spot(path)
            return try spot.status().map { (spot, $0) }
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
