import Foundation
import Glibc
import Ledger
import Logging
import Platform
import Synchronization

/// A job that the ledger has taken, as the runner needs it.
package struct PlannedJob: Sendable, Equatable {
    package let id: String
    package let rule: String
    package let place: String
    package let path: BytePath
}

/// Turns news into jobs: asks the rules, fixes every value that templates will need, and commits what was seen together
/// with what follows from it.
package final class Planner: Sendable {
    /// Finds the anchored blocks of a note's bytes; the engine knows no note format.
    package typealias BlockFinder = @Sendable ([UInt8]) -> [BlockFacts]

    /// How many generations of products may start rules.
    package static let deepest = 8

    let ledger: Ledger
    let presence: PlacePresence
    package let reader: ContentReader
    private let rules: Mutex<RuleSet>
    private let blocksOf: BlockFinder
    let lanes: BlockingLanes
    let host: String
    private let log: Logger

    package init(
        ledger: Ledger, presence: PlacePresence, rules: RuleSet, blocksOf: @escaping BlockFinder, lanes: BlockingLanes,
        host: String, log: Logger
    ) {
        self.presence = presence
        reader = ContentReader(lanes: lanes)
        self.ledger = ledger
        self.rules = Mutex(rules)
        ledger.names.hide { rules.hidesName(place: $0, name: $1.name) }
        self.blocksOf = blocksOf
        self.lanes = lanes
        self.host = host
        self.log = log
    }

    /// The rules in force; setting them is how a reload takes effect.
    package var ruleSet: RuleSet {
        get { rules.withLock { $0 } }
        set {
            rules.withLock { $0 = newValue }
            ledger.names.hide { newValue.hidesName(place: $0, name: $1.name) }
        }
    }

    /// Whether any rule could want a file of this name, whatever it holds: what none can want is not read.
    func mightWant(_ path: BytePath, in place: PlaceInfo) -> Bool {
        place.kind == .notes || ruleSet.settleTime(place: place.name, name: path.name) != nil
    }

    /// The same with what can be told of it besides its name: size, times, owner.
    func mightWant(_ path: BytePath, in place: PlaceInfo, _ status: FileStatus) -> Bool {
        guard mightWant(path, in: place) else { return false }
        if place.kind == .notes { return true }
        return ruleSet.mightMatch(
            FileFacts(place: place, path: path, status: status, event: .arrived, now: .now(), content: .unread))
    }

    /// Opens a place's file below its root, once for all that follows; nil where there is no regular file of that name, or
    /// the place is away. Blocks.
    func open(_ path: BytePath, in place: PlaceInfo) throws -> Descriptor? {
        do {
            return try presence.root(of: place).spot(path).openFile()
        } catch let fault as Fault
            where fault.kind == .superseded || fault.code == Fault.link || [ENOENT, ENOTDIR].contains(fault.errno)
            || fault.kind == .transient && fault.errno == nil
        {
            return nil
        }
    }

    /// Takes note of a file that no rule can want, without reading it.
    func see(
        _ path: BytePath, in place: PlaceInfo, _ status: FileStatus, born: Int64?, known: FileRecord?
    ) async throws {
        let absolute = place.root.appending(path)
        let ruleSet = ruleSet
        try await ledger.write { transaction in
            try transaction.removeProduct(absolute)
            let met = try FirstMeeting(of: known, ruleSet, in: transaction).after([], ruleSet)
            try transaction.setFile(
                FileRecord(
                    place: place.name, path: path, fingerprint: status.fingerprint, hash: nil,
                    version: (known?.version ?? 0) + 1, born: born, met: met))
        }
    }

    /// Commits a judgement and the jobs that follow.
    ///
    /// - Parameters:
    ///   - content: the file that was judged, open.
    ///   - known: what the ledger held of the name when it was judged.
    ///   - former: what it held of the file's old name, where it was renamed.
    ///   - isFree: asked last: whether nothing of the agent's own is at work on the file.
    /// - Returns: nil where something of this has changed meanwhile, so that it must be judged anew.
    func commit(
        _ record: FileRecord, _ content: Descriptor, known: FileRecord?, in place: PlaceInfo, event: FileEvent,
        former: FileRecord?, status: FileStatus, meeting: Judge.Meeting, isFree: @Sendable () -> Bool
    ) async throws -> [PlannedJob]? {
        let arrival = Timestamp.now()
        let absolute = place.root.appending(record.path)
        let product = try await ledger.read { try $0.product(absolute) }
        let lineage = product.flatMap { $0.hash == record.hash ? $0 : nil }
        let oldName = former?.path
        let blocks = try await blocks(of: record, content, in: place, oldName: oldName)
        let (ruleSet, names) = (ruleSet, ledger.names)
        let before = event == .arrived ? nil : former ?? known
        let (overdue, first) = try await ledger.read {
            (
                try Self.overdue(place, before?.path, by: record.hash, in: $0),
                try FirstMeeting(of: before, ruleSet, in: $0)
            )
        }
        let file = FileReference(
            place: place.name, root: place.root, path: record.path, fingerprint: record.fingerprint, hash: record.hash)
        let host = host
        let (drafts, wanting): ([Draft]?, Set<String>) =
            try await lanes.run { () -> ([Draft]?, Set<String>)? in
                // Also for what is there already when a place is met: it counts as met by then.
                let asksForArrivals = event == .arrived || !first.unmet.isEmpty || before?.met?.era != ruleSet.era
                var wanting: Set<String> = []
                let events = Set(overdue.values.map(\.event) + [event] + (asksForArrivals ? [.arrived] : []))
                let drafts: [Draft] = try FileEvent.allCases.filter(events.contains).flatMap { due -> [Draft] in
                    let facts = FileFacts(
                        place: place, path: record.path, status: status, event: due, now: arrival,
                        content: .open(content),
                        gainedBlocks: meeting == .normal ? blocks.gained : [], hash: record.hash)
                    let found = try ruleSet.match(facts)
                    if due == .arrived { wanting.formUnion(found.map(\.rule.name)) }
                    let matches = found.filter { match in
                        if let late = overdue[match.rule.name] { return late.event == due }
                        switch meeting {
                        case .normal: return due == first.event(for: match.rule, event)
                        case .first: return due == event && match.rule.existing(in: place) == .process
                        case .silent: return false
                        }
                    }
                    return try Self.drafts(
                        matches, facts: facts, file: file, version: record.version, arrival: arrival, host: host,
                        names: names, values: oldName.map { ["file.oldName": .text($0.nameText)] } ?? [:])
                }.map { try $0.succeeding(overdue[$0.rule]) }
                // The values are those of the content that was hashed: a program may write into the file all the while.
                return try content.status().fingerprint == record.fingerprint ? (drafts, wanting) : nil
            } ?? (nil, [])
        guard let drafts, isFree() else { return nil }
        return try await ledger.write { transaction in
            guard try transaction.file(place.name, record.path) == known,
                try blocks.seen == nil || transaction.blocks(place.name, oldName ?? record.path) == blocks.seen,
                try Self.overdue(place, before?.path, by: record.hash, in: transaction) == overdue,
                try FirstMeeting(of: before, ruleSet, in: transaction) == first
            else { return nil }
            var record = record
            record.met = first.after(wanting, ruleSet)
            if let oldName {
                try transaction.setGone(place.name, oldName)
            }
            // Judged: what follows carries the lineage in its jobs.
            if product != nil { try transaction.removeProduct(absolute) }
            try transaction.setFile(record)
            if let tokens = blocks.all { try transaction.setBlocks(place.name, record.path, tokens) }
            return try Self.add(drafts, lineage: lineage, to: transaction)
        }
    }

    /// Commits that a file is gone, and the jobs that follow.
    func commitRemoval(_ record: FileRecord, in place: PlaceInfo) async throws -> [PlannedJob] {
        let arrival = Timestamp.now()
        let file = FileReference(
            place: place.name, root: place.root, path: record.path, fingerprint: nil, hash: record.hash)
        let facts = FileFacts(
            place: place, path: record.path, status: nil, event: .removed, now: arrival, content: .none,
            hash: record.hash)
        let drafts = try Self.drafts(
            ruleSet.match(facts), facts: facts, file: file, version: record.version, arrival: arrival, host: host,
            names: ledger.names, values: [:])
        return try await ledger.write { transaction in
            try transaction.setGone(place.name, record.path)
            return try Self.add(drafts, lineage: nil, to: transaction)
        }
    }

    /// Plans `names` (nil: all rules) for a file that the ledger knows already: for a new rule, and for `reprocess`.
    ///
    /// - Parameter again: also where the rule has run on this content before.
    package func plan(
        _ seen: FileRecord, in place: PlaceInfo, rules names: Set<String>?, again: Bool
    ) async throws -> [PlannedJob] {
        guard mightWant(seen.path, in: place) else { return [] }
        let arrival = Timestamp.now()
        guard let (record, status, content) = try await read(seen, in: place) else { return [] }
        let file = FileReference(
            place: place.name, root: place.root, path: record.path, fingerprint: record.fingerprint, hash: record.hash)
        let ruleSet = ruleSet
        let (host, veil) = (host, ledger.names)
        let drafts: [Draft] = try await lanes.run {
            let facts = FileFacts(
                place: place, path: record.path, status: status, event: .arrived, now: arrival,
                content: .open(content), hash: record.hash)
            let matches = try ruleSet.match(facts).filter { names?.contains($0.rule.name) ?? true }
            let drafts = try Self.drafts(
                matches, facts: facts, file: file, version: again ? record.version + 1 : record.version,
                arrival: arrival, host: host, names: veil, values: [:])
            return try content.status().fingerprint == status.fingerprint ? drafts : []
        }
        return try await ledger.write { transaction in
            if again && !drafts.isEmpty || record != seen {
                var next = record
                if again { next.version += 1 }
                try transaction.setFile(next)
            }
            return try Self.add(drafts, lineage: nil, to: transaction)
        }
    }

    /// The file, open, and its record with the content's hash, which nothing may have needed before; nil where it is gone,
    /// has changed since, and so is news, or is larger than its place takes.
    private func read(
        _ record: FileRecord, in place: PlaceInfo
    ) async throws -> (FileRecord, FileStatus, Descriptor)? {
        try await reader.run(record.fingerprint.size) {
            guard let file = try open(record.path, in: place) else { return nil }
            let status = try file.status()
            guard status.size <= place.sizeLimit else { return nil }
            if let hash = record.hash {
                // Another version is yet to be judged, and is news then.
                let isSame = try status.fingerprint == record.fingerprint || reader.hash(file) == hash
                return isSame ? (record, status, file) : nil
            }
            guard status.fingerprint == record.fingerprint else { return nil }
            var read = record
            read.hash = try reader.hash(file)
            return (read, status, file)
        }
    }

    // MARK: Drafts

    struct Draft: Sendable {
        let rule: String
        var job: JobRecord
        var steps: [StepRecord]
        /// Of the whole file, not of a block in it.
        let isOfFile: Bool
    }

    static func drafts(
        _ matches: [RuleMatch], facts: FileFacts, file: FileReference, version: Int, arrival: Timestamp, host: String,
        names: NameVeil, values extra: Values
    ) throws -> [Draft] {
        try matches.flatMap { match -> [Draft] in
            // A file that is gone gives no values but its name.
            let fromFile = try BuiltInValues.values(of: facts, names: match.rule.valueNames).merging(extra) { $1 }
            let blocks: [BlockFacts?] = match.blocks.map { $0.map(Optional.some) } ?? [nil]
            return try blocks.map { block in
                let path = match.rule.hidesNames ? try names.stored(facts.place.name, facts.path) : facts.path
                let id = jobID(match.rule, facts, path, version: version, hash: file.hash, block: block)
                let own = BuiltInValues.values(
                    rule: match.rule.name, jobID: id, event: facts.event, arrival: arrival, host: host, block: block)
                let job = JobRecord(
                    id: id, rule: match.rule.name, digest: match.rule.digest.description, event: facts.event.rawValue,
                    place: facts.place.name, path: facts.path, file: try LedgerJSON.encode(file, hiding: names),
                    hash: file.hash,
                    lineage: id, depth: 0, arrived: arrival,
                    values: try LedgerJSON.encode(fromFile.merging(own) { $1 }),
                    refused: match.rule.refused(in: facts.place).rawValue)
                let steps = match.rule.steps.map { step in
                    StepRecord(
                        job: id, number: step.index, action: step.declaration.name, arguments: step.storedArguments,
                        repeatSafe: step.repeatSafe)
                }
                return Draft(rule: match.rule.name, job: job, steps: steps, isOfFile: block == nil)
            }
        }
    }

    /// The same for the same work: rule, its digest, place, path bytes, content, arrival number, block.
    private static func jobID(
        _ rule: Rule, _ facts: FileFacts, _ path: BytePath, version: Int, hash: ContentHash?, block: BlockFacts?
    ) -> String {
        let parts: [[UInt8]] = [
            Array(rule.name.utf8), rule.digest.bytes, Array(facts.place.name.utf8), path.bytes,
            hash?.bytes ?? [], Array(String(version).utf8), Array(facts.event.rawValue.utf8),
            Array((block?.token ?? "").utf8),
        ]
        // A length before each part, so that no two lists of parts make the same bytes.
        let bytes = parts.flatMap { Array("\($0.count):".utf8) + $0 }
        return String(ContentHash(of: bytes).description.prefix(32))
    }

    static func add(
        _ drafts: [Draft], lineage: ProductRecord?, to transaction: LedgerTransaction
    ) throws -> [PlannedJob] {
        var planned: [PlannedJob] = []
        for draft in drafts {
            var job = draft.job
            if let lineage {
                job.lineage = lineage.lineage
                job.depth = max(job.depth, lineage.depth)
            }
            if job.depth > deepest {
                try transaction.note(
                    "skipped", "the rule \"\(job.rule)\" would be step \(job.depth) of a chain; \(deepest) is the end",
                    job: nil, place: job.place, path: job.path)
                continue
            }
            if lineage != nil {
                if try transaction.hasRun(rule: job.rule, lineage: job.lineage) {
                    try transaction.note(
                        "skipped", "the rule \"\(job.rule)\" has run already on what this was made from",
                        job: nil, place: job.place, path: job.path)
                    continue
                }
            }
            guard try transaction.addJob(job, steps: draft.steps) else { continue }
            try transaction.note(
                "planned", "rule \"\(job.rule)\" (\(job.event))", job: job.id, place: job.place, path: job.path)
            planned.append(PlannedJob(id: job.id, rule: job.rule, place: job.place, path: job.path))
        }
        return planned
    }

    /// The blocks of a note, those that the ledger has seen, and those that it has not; nil and empty for other files.
    private func blocks(
        of record: FileRecord, _ file: Descriptor, in place: PlaceInfo, oldName: BytePath?
    ) async throws -> (all: Set<String>?, seen: Set<String>?, gained: [BlockFacts]) {
        guard place.kind == .notes, record.path.stemAndExtension.extension == Array("md".utf8) else {
            return (nil, nil, [])
        }
        let blocksOf = blocksOf
        let found = try await lanes.run { () -> [BlockFacts] in
            guard try file.status().size <= 64 << 20 else { return [] }
            return blocksOf(try file.readAll())
        }
        let seen = try await ledger.read { try $0.blocks(place.name, oldName ?? record.path) }
        let named = found.map { (String($0.token.drop { $0 == "^" }), $0) }
        return (Set(named.map(\.0)), seen, named.filter { !seen.contains($0.0) }.map(\.1))
    }
}
