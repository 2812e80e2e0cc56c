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
    }

    /// How a place's files that are there already are met.
    package enum Meeting: Sendable, Equatable {
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
    /// - Parameter began: when the meeting began: what has changed since was not there before, but has arrived.
    package func judge(
        _ place: PlaceInfo, _ path: BytePath, meeting asked: Meeting = .normal, began: Timestamp? = nil
    ) async throws -> Verdict {
        let absolute = place.root.appending(path)
        guard !inWork.contains(absolute) else { return .again }
        // Before anything is noted of a file: which folder stands there.
        let found = try await lanes.run {
            _ = try presence.look(at: place)
            return try FileStatus.of(absolute)
        }
        guard let status = found, status.kind == .file else { return try await judgeGone(place, path) }
        let known = try await ledger.read { try $0.file(place.name, path) }
        if let known, known.present, known.fingerprint == status.fingerprint {
            try await takeBack(known, place)
            return .known
        }
        guard planner.mightWant(path, in: place) else {
            try await planner.see(path, in: place, status, known: known)
            return .known
        }
        guard let hash = try await stableHash(absolute, status) else { return .again }
        if let known, known.present, known.hash == hash {
            var touched = known
            touched.fingerprint = status.fingerprint
            let record = touched
            try await ledger.write { try $0.setFile(record) }
            try await takeBack(known, place)
            return .touched
        }
        var record = FileRecord(
            place: place.name, path: path, fingerprint: status.fingerprint, hash: hash,
            version: (known?.version ?? 0) + 1)
        var event = FileEvent.arrived
        var oldName: BytePath?
        if let known, known.present {
            event = .changed
        } else if let former = try await formerName(of: record, in: place) {
            event = .renamed
            oldName = former.path
            record.version = max(record.version, former.version + 1)
        }
        let isLater = began.map { status.fingerprint.changed > $0.nanoseconds } ?? false
        let meeting = isLater ? .normal : asked
        let jobs = try await planner.commit(
            record, known: known, in: place, event: event, oldName: oldName, status: status, meeting: meeting
        ) { [inWork] in !inWork.contains(absolute) }
        return jobs.map { .news(event, jobs: $0) } ?? .again
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
    private func takeBack(_ known: FileRecord, _ place: PlaceInfo) async throws {
        if known.isKept { try await lanes.run { try presence.accept(place) } }
    }

    /// The name under which the ledger has this inode, if nothing of that name is there any more.
    private func formerName(of record: FileRecord, in place: PlaceInfo) async throws -> FileRecord? {
        let print = record.fingerprint
        guard
            let former = try await ledger.read({
                try $0.file(place.name, device: print.device, inode: print.inode)
            }), former.path != record.path, former.hash == nil || former.hash == record.hash
        else { return nil }
        let old = place.root.appending(former.path)
        let still = try await lanes.run { try FileStatus.of(old) }
        return still?.inode == print.inode ? nil : former
    }

    /// The hash of a file that did not change while it was read.
    private func stableHash(_ path: BytePath, _ before: FileStatus) async throws -> ContentHash? {
        try await lanes.run {
            let file: Descriptor
            do {
                file = try Descriptor(path)
            } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ELOOP {
                return nil
            }
            guard try file.status().fingerprint == before.fingerprint else { return nil }
            let hash = try ContentHash.of(file)
            return try file.status().fingerprint == before.fingerprint ? hash : nil
        }
    }
}
