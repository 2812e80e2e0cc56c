import Glibc
import Ledger
import Platform

/// What becomes of a file of which something is due.
package enum DueVerdict: Sendable, Equatable {
    /// It has been dealt with; what follows is in the ledger.
    case met([PlannedJob])
    /// It is not as the ledger knows it: it is to be judged first.
    case unseen
    /// The agent is at work on it, or it has changed meanwhile.
    case again
}

extension Planner {
    /// Deals with all that is due of a file: rules that it has come to meet by time alone, which it arrives for, and rules
    /// whose schedule says so. What is not yet so gets its next time. Jobs and rows are one transaction.
    ///
    /// - Parameter isFree: whether nothing of the agent's own is at work on the file.
    /// - Throws: `Fault` where the file or the ledger cannot be read.
    func judgeDue(
        _ path: BytePath, in place: PlaceInfo, isFree: @escaping @Sendable () -> Bool
    ) async throws -> DueVerdict {
        let (now, inForce) = (clock.now(), inForce)
        let (known, rows, specs) = try await ledger.read { transaction in
            let rows = try transaction.due(place.name, path)
            // The schedules that the rows were entered for: until a reload is through, a rule may have another by now.
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
            // By its name: a rule that is being edited goes on with its time as it is now.
            let rule = RuleSet.name(inIdentity: identity)
            return specs[rule] == inForce.ruleSet[rule]?.schedules.spec ? (rule, instant) : nil
        }
        let news = News.due(scheduled: Dictionary(scheduled) { max($0, $1) })
        let size = known.fingerprint.size
        let found = try await reader.run(size) { () -> SeenFile? in
            guard let file = try open(path, in: place) else { return nil }
            let status = try file.status()
            guard let record = try self.unchanged(known, in: place, status, file) else { return nil }
            return SeenFile(
                place: place, record: record, status: status, content: .open(file), news: news, known: known, now: now)
        }
        guard let seen = found else { return .unseen }
        guard let past = try await past(of: seen, inForce.ruleSet), past.due == rows else { return .again }
        guard let judgement = try await reader.run(size, { try Judgement(past, seen, inForce, self) }) else {
            return .unseen
        }
        return try await commit(judgement, isFree: isFree).map { .met($0) } ?? .again
    }

    /// The file as it is now, where its content is the one that is known: a further name or another mode make it look changed,
    /// and nobody tells of the former. Nil where it is to be judged first. Blocks.
    private func unchanged(
        _ known: FileRecord, in place: PlaceInfo, _ status: FileStatus, _ file: Descriptor
    ) throws -> FileRecord? {
        let (was, now) = (known.fingerprint, status.fingerprint)
        if was == now { return known }
        guard (was.device, was.inode, was.size, was.modified) == (now.device, now.inode, now.size, now.modified),
            ruleSet.attributes(place: place.name, name: known.path.name).isEmpty
        else { return nil }
        // What nobody has read yet is read as it is now.
        if let hash = known.hash, try reader.hash(file) != hash { return nil }
        var seen = known
        seen.fingerprint = now
        return seen
    }

    /// A folder is judged as a whole. Of one that no rule can come to want nothing is kept: nobody would ever take the rows
    /// away, and they would wake the agent for ever.
    private func judgeDueFolder(_ path: BytePath, in place: PlaceInfo, _ rows: [DueRecord]) async throws -> DueVerdict {
        var isWanted = ruleSet.hasFolderRules(place.name) && rows.contains { $0.kind != .orphaned }
        if isWanted { isWanted = try await lanes.run { try self.mightWantFolder(path, in: place) } }
        if isWanted { return .unseen }
        return try await ledger.writeSeen { transaction in
            guard try transaction.due(place.name, path) == rows else { return .again }
            try transaction.removeDue(place.name, path)
            return .met([])
        }
    }

    /// Blocks. One that is not there is to be judged, too.
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

    /// Whether a rule could want a folder, now or when time has gone by, as far as its name and its status tell. Reads nothing.
    func mightWantFolder(_ path: BytePath, in place: PlaceInfo, _ status: FileStatus) -> Bool {
        guard status.kind == .directory, !path.isEmpty, ruleSet.hasFolderRules(place.name) else { return false }
        let folder = place.root.appending(path)
        // What is another place, or holds one, is not one thing of this place.
        guard !presence.places.nested(in: place).contains(where: { $0.isWithin(folder) || folder.isWithin($0) }) else {
            return false
        }
        let now = clock.now()
        // When it arrived is for the judgement to tell: from any time on, what asks for that holds now or later.
        let facts = FileFacts(
            place: place, path: path, status: status, event: .arrived, now: now, content: .unread, arrived: now,
            sources: sources)
        // What time is to bring has to be entered, and nobody but the judgement does that.
        return ruleSet.mightMatch(facts) || !ruleSet.upcoming(facts, except: []).isEmpty
    }
}
