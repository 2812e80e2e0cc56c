import Glibc
import Ledger
import Platform

/// The outcome for a file with something due.
package enum DueVerdict: Sendable, Equatable {
    /// Handled; the resulting jobs are in the ledger.
    case met([PlannedJob])
    /// The file differs from its ledger row and must be judged first.
    case unseen
    /// A job is working on the file, or it changed in the meantime.
    case again
}

extension Planner {
    /// Handles everything due for a file: rules that it meets by time alone, for which it arrives, and rules with a
    /// schedule time that has come. Anything that does not hold yet gets its next time. Jobs and rows are one
    /// transaction.
    ///
    /// - Parameter isFree: whether no job is working on the file.
    /// - Throws: `Fault` if the file or the ledger cannot be read.
    func judgeDue(
        _ path: BytePath, in place: PlaceInfo, isFree: @escaping @Sendable () -> Bool
    ) async throws -> DueVerdict {
        let (now, inForce) = (clock.now(), inForce)
        let (known, rows, specs) = try await ledger.read { transaction in
            let rows = try transaction.due(place.name, path)
            // The schedules that the rows were made for; during a reload, a rule may already have a new one.
            let schedules = try rows.contains(where: \.isScheduled) ? transaction.schedules() : []
            return (
                try transaction.file(place.name, path), rows,
                Dictionary(schedules.map { ($0.rule, $0.spec) }) { first, _ in first }
            )
        }
        if known?.present != true, try await ledger.read({ try $0.folder(place.name, path)?.present == true }) {
            return try await judgeDueFolder(path, in: place, rows)
        }
        guard let known, known.present else {
            try await ledger.writeSeen { try $0.removeDue(place.name, path) }
            return .met([])
        }
        guard isFree() else { return .again }
        let scheduled = rows.compactMap { row -> (String, Timestamp)? in
            guard case .scheduled(let identity, let instant) = row.kind, row.due <= now else { return nil }
            // Matched by name: a rule that is being edited keeps its schedule times.
            let rule = RuleSet.name(inIdentity: identity)
            return specs[rule] == inForce.ruleSet[rule]?.schedules.spec ? (rule, instant) : nil
        }
        let news = News.due(scheduled: Dictionary(scheduled) { max($0, $1) })
        let size = known.fingerprint.size
        let found = try await reader.run(size) { () -> ObservedFile? in
            guard let file = try open(path, in: place) else { return nil }
            let status = try file.status()
            guard let record = try self.unchanged(known, in: place, status, file) else { return nil }
            return ObservedFile(
                place: place, record: record, status: status, content: .open(file), news: news, known: known, now: now)
        }
        guard let seen = found else { return .unseen }
        guard let past = try await past(of: seen, inForce.ruleSet), past.due == rows else { return .again }
        guard let judgement = try await reader.run(size, { try Judgement(past, seen, inForce, self) }) else {
            return .unseen
        }
        return try await commit(judgement, isFree: isFree).map { .met($0) } ?? .again
    }

    /// The file's present row if its content is unchanged. An additional hard link or a new mode makes it look
    /// changed, and a link raises no event. Returns nil if the file has to be judged first. Blocks.
    private func unchanged(
        _ known: FileRecord, in place: PlaceInfo, _ status: FileStatus, _ file: Descriptor
    ) throws -> FileRecord? {
        let (was, now) = (known.fingerprint, status.fingerprint)
        if was == now { return known }
        guard (was.device, was.inode, was.size, was.modified) == (now.device, now.inode, now.size, now.modified),
            ruleSet.attributes(place: place.name, name: known.path.name).isEmpty
        else { return nil }
        // A file that was never read needs no comparison.
        if let hash = known.hash, try reader.hash(file) != hash { return nil }
        var seen = known
        seen.fingerprint = now
        return seen
    }

    /// A folder is judged as a whole. If no rule can ever match it, its rows are deleted; otherwise they would stay
    /// and wake the agent forever.
    private func judgeDueFolder(_ path: BytePath, in place: PlaceInfo, _ rows: [DueRecord]) async throws -> DueVerdict {
        var isWanted = ruleSet.hasFolderRules(place.name) && rows.contains { $0.kind != .orphaned }
        if isWanted { isWanted = try await pool.run { try self.mightWantFolder(path, in: place) } }
        if isWanted { return .unseen }
        return try await ledger.writeSeen { transaction in
            guard try transaction.due(place.name, path) == rows else { return .again }
            try transaction.removeDue(place.name, path)
            return .met([])
        }
    }

    /// Also true for a missing folder, which has to be judged too. Blocks.
    private func mightWantFolder(_ path: BytePath, in place: PlaceInfo) throws -> Bool {
        do {
            return try mightWantFolder(path, in: place, presence.root(of: place).folder(path).status())
        } catch let fault as Fault
            where [ENOENT, ENOTDIR].contains(fault.errno) || fault.code == Fault.link
            || fault.kind == .transient && fault.errno == nil
        {
            return true
        }
    }

    /// Whether a rule could match a folder, now or later, judging by its name and status only. Reads nothing.
    func mightWantFolder(_ path: BytePath, in place: PlaceInfo, _ status: FileStatus) -> Bool {
        guard status.kind == .directory, !path.isEmpty, ruleSet.hasFolderRules(place.name) else { return false }
        let folder = place.root.appending(path)
        // A folder that contains another place, or is part of one, is not handled as a whole.
        guard !presence.places.nested(in: place).contains(where: { $0.isWithin(folder) || folder.isWithin($0) }) else {
            return false
        }
        let now = clock.now()
        // The judgement finds the arrival time; conditions on it may hold now or later whatever it is.
        let facts = FileFacts(
            place: place, path: path, status: status, event: .arrived, now: now, content: .unread, arrived: now,
            sources: sources)
        // Only a judgement records future times, so it has to run for those too.
        return ruleSet.mightMatch(facts) || !ruleSet.upcoming(facts, except: []).isEmpty
    }
}
