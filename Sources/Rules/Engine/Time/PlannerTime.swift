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
        let now = clock.now()
        let (known, awaited, specs) = try await ledger.read {
            transaction -> (FileRecord?, Awaited, [String: String]) in
            let awaited = try Awaited(place.name, path, in: transaction)
            // The schedules that the rows were entered for: until a reload is through, a rule may have another by now.
            let schedules = try awaited.rows.contains(where: \.isScheduled) ? transaction.schedules() : []
            return (
                try transaction.file(place.name, path), awaited,
                Dictionary(schedules.map { ($0.rule, $0.spec) }) { first, _ in first }
            )
        }
        let rows = awaited.rows
        if known?.present != true, try await ledger.read({ try $0.folder(place.name, path)?.present == true }) {
            return try await judgeDueFolder(path, in: place, rows)
        }
        guard let known, known.present else {
            try await ledger.writeSeen { try $0.removeDue(place.name, path) }
            return .met([])
        }
        guard isFree() else { return .again }
        let (ruleSet, host, names, sources) = (ruleSet, host, ledger.names, sources)
        let found = try await reader.run(known.fingerprint.size) { () -> DueJudgement? in
            guard let file = try open(path, in: place) else { return nil }
            let status = try file.status()
            guard let known = try self.unchanged(known, in: place, status, file) else { return nil }
            // No rule sees it, until it is another file.
            guard status.size <= place.sizeLimit else { return DueJudgement(known) }
            let judgement = try DueJudgement(
                known, awaited, specs, status, file, place, ruleSet, now, reader, host, names, sources)
            return try file.status().fingerprint == status.fingerprint ? judgement : nil
        }
        guard let found else { return .unseen }
        return try await ledger.writeSeen { transaction in
            guard try transaction.file(place.name, path) == known, try transaction.due(place.name, path) == rows,
                isFree()
            else { return .again }
            try transaction.removeScheduled(place.name, path, by: now)
            try transaction.setFile(found.record, due: found.upcoming)
            let lineage = try Self.lineage(of: found.record, in: place, found.upcoming, ruleSet, transaction)
            return .met(try Self.add(found.drafts, lineage: lineage, to: transaction))
        }
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

    /// What a file's rows wait for.
    struct Awaited: Sendable {
        let rows: [DueRecord]
        /// Since when rules that look at time are in force, by identity, where a row asks for that.
        private let begun: [String: Timestamp]

        static let nothing = Awaited()

        private init() { (rows, begun) = ([], [:]) }

        init(_ place: String, _ path: BytePath, in transaction: LedgerTransaction) throws {
            rows = try transaction.due(place, path)
            begun = try rows.contains(where: \.isUnreckoned) ? transaction.timedSince() : [:]
        }

        /// The rules, by name, that were waited for, also those that are early: something else may have brought the time
        /// about. Blocks.
        ///
        /// - Parameters:
        ///   - matched: the rules, by name, that have wanted the file.
        ///   - facts: of it as it is, as an arrival at a time.
        func rules(
            _ ruleSet: RuleSet, except matched: Set<String>, by now: Timestamp, _ facts: (Timestamp) -> FileFacts
        ) -> Set<String> {
            var identities = Set(rows.compactMap(\.becoming))
            for case .unreckoned(let since?) in rows.map(\.kind) {
                // What did not hold then has come with time; of a rule that is newer, what did not when it came into force.
                let starts = Set(begun.values.filter { $0 > since }).union([since])
                for start in starts {
                    let upcoming = ruleSet.upcoming(facts(min(start, now)), except: matched).keys
                    identities.formUnion(upcoming.filter { max(since, begun[$0] ?? since) == start })
                }
            }
            return Set(identities.compactMap { ruleSet.arrivals[$0] }).subtracting(matched)
        }
    }

    /// What is done about a file of which something is due, and what is to come after that.
    private struct DueJudgement: Sendable {
        var record: FileRecord
        var drafts: [Draft] = []
        var upcoming: [String: Timestamp] = [:]

        init(_ record: FileRecord) { self.record = record }

        /// Blocks.
        init(
            _ known: FileRecord, _ awaited: Awaited, _ specs: [String: String], _ status: FileStatus,
            _ file: Descriptor, _ place: PlaceInfo, _ ruleSet: RuleSet, _ now: Timestamp, _ reader: ContentReader,
            _ host: String, _ names: HiddenNames, _ sources: FactSources
        ) throws {
            record = known
            func seen(as event: FileEvent, at time: Timestamp) -> FileFacts {
                FileFacts(
                    place: place, path: known.path, status: status, event: event, now: time, content: .open(file),
                    hash: known.hash, arrived: known.arrived, sources: sources)
            }
            var matched = known.matched ?? MatchedRules(era: "", rules: [])
            let arrival = seen(as: .arrived, at: now)
            let waiting = awaited.rules(ruleSet, except: matched.rules, by: now) { seen(as: .arrived, at: $0) }
            var matches: [(RuleMatch, FileFacts, Timestamp?)] = []
            if !waiting.isEmpty {
                for match in try ruleSet.match(arrival) where waiting.contains(match.rule.name) {
                    matches.append((match, arrival, nil))
                    matched.rules.insert(match.rule.name)
                }
            }
            let scheduled = awaited.rows.compactMap { row -> (String, Timestamp)? in
                guard case .scheduled(let rule, let instant) = row.kind, row.due <= now else { return nil }
                // By its name: a rule that is being edited goes on with its time as it is now.
                return (RuleSet.name(inIdentity: rule), instant)
            }
            if !scheduled.isEmpty {
                let facts = seen(as: .scheduled, at: now)
                let instants = Dictionary(scheduled) { max($0, $1) }
                for match in try ruleSet.match(facts) {
                    guard let instant = instants[match.rule.name],
                        specs[match.rule.name] == match.rule.schedules.spec
                    else { continue }
                    matches.append((match, facts, instant))
                }
            }
            record.matched = matched.rules.isEmpty ? known.matched : matched
            upcoming = ruleSet.upcoming(arrival, except: matched.rules)
            guard !matches.isEmpty else { return }
            // Nothing may have needed it before.
            if record.hash == nil { record.hash = try reader.hash(file) }
            let reference = FileReference(
                place: place.name, root: place.root, path: known.path, fingerprint: known.fingerprint, hash: record.hash
            )
            for (match, facts, instant) in matches {
                drafts += try Planner.drafts(
                    [match], facts: facts, file: reference, version: record.version, arrival: now, host: host,
                    names: names, values: [:], instant: instant)
            }
        }
    }
}
