import Foundation
import Glibc
import Ledger
import Logging
import Platform
import Synchronization

/// A job that is committed to the ledger, as the runner needs it.
package struct PlannedJob: Sendable {
    package let id: String
    package let rule: String
    package let place: String
    package let path: BytePath
    /// See ``JobRecord/isBacklog``.
    var isBacklog = false
    /// Whether earlier jobs of its file were in the backlog until now.
    var isBehindBacklog = false
    /// All of it, as it was added; nil where that is to be read.
    var loaded: LoadedJob?
}

extension PlannedJob: Equatable {
    package static func == (one: PlannedJob, other: PlannedJob) -> Bool {
        (one.id, one.rule, one.place, one.path) == (other.id, other.rule, other.place, other.path)
    }
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
    let clock: WallClock
    package let reader: ContentReader
    /// What conditions ask of other files.
    package let sources: FactSources
    private let rules: Mutex<InForce>
    private let blocksOf: BlockFinder
    let lanes: BlockingLanes
    let host: String
    private let log: Logger

    package init(
        ledger: Ledger, presence: PlacePresence, rules: RuleSet, blocksOf: @escaping BlockFinder, lanes: BlockingLanes,
        host: String, clock: WallClock = .system, inspector: (any ContentInspector)? = nil, log: Logger
    ) {
        self.presence = presence
        self.clock = clock
        reader = ContentReader(lanes: lanes)
        sources = FactSources(
            surroundings: PlaceSurroundings(ledger: ledger, presence: presence, reader: reader), inspector: inspector,
            heldTime: clock.held)
        self.ledger = ledger
        self.rules = Mutex(InForce(ruleSet: rules, since: clock.now(), term: 0))
        ledger.due.tellTime(by: clock)
        Self.tell(ledger, of: rules)
        self.blocksOf = blocksOf
        self.lanes = lanes
        self.host = host
        self.log = log
    }

    /// The rules in force; setting them is how a reload takes effect.
    package var ruleSet: RuleSet {
        get { rules.withLock { $0.ruleSet } }
        set {
            let now = clock.now()
            rules.withLock { $0 = InForce(ruleSet: newValue, since: now, term: $0.term + 1) }
            Self.tell(ledger, of: newValue)
        }
    }

    /// The same, and since when they are.
    var inForce: InForce { rules.withLock { $0 } }

    struct InForce: Sendable {
        let ruleSet: RuleSet
        let since: Timestamp
        /// Another for each set that comes into force: what was asked of one is not committed under the next.
        let term: Int
    }

    private static func tell(_ ledger: Ledger, of rules: RuleSet) {
        ledger.names.hide { rules.hidesName(place: $0, name: $1.name) }
        ledger.due.expect { rules.mayBecomeDue(place: $0, name: $1.name) }
        ledger.due.expectSchedules { rules.mayBeScheduled(place: $0, name: $1.name) }
    }

    /// The same for a look at what there is.
    ///
    /// - Parameters:
    ///   - other: the ledger that is asked; nil for the planner's own.
    ///   - looks: whether what lies around a file may be looked at.
    package func sources(asking other: Ledger?, looks: Bool = true) -> FactSources {
        let around = PlaceSurroundings(ledger: other ?? ledger, presence: presence, reader: reader)
        return FactSources(
            surroundings: looks ? around : nil, inspector: sources.inspector, heldTime: sources.heldTime)
    }

    /// Whether any rule could want a file of this name, whatever it holds: what none can want is not read.
    func mightWant(_ path: BytePath, in place: PlaceInfo) -> Bool {
        place.kind == .notes || ruleSet.settleTime(place: place.name, name: path.name) != nil
    }

    /// The same with what can be told of it besides its name: size, times, owner.
    ///
    /// - Parameter arrived: when it came into its place; nil where that is not known.
    func mightWant(
        _ path: BytePath, in place: PlaceInfo, _ status: FileStatus, now: Timestamp, arrived: Timestamp?
    ) -> Bool {
        guard mightWant(path, in: place) else { return false }
        if place.kind == .notes { return true }
        return ruleSet.mightMatch(
            FileFacts(
                place: place, path: path, status: status, event: .arrived, now: now, content: .unread, arrived: arrived)
        )
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

    /// Takes note of a file that no rule can want yet, without reading it.
    ///
    /// - Parameters:
    ///   - now: when that was asked: what a rule comes to want later, it comes to want with time.
    ///   - former: what the ledger has of its inode, under another name.
    ///   - left: the names of its inode that do not stand for it any more.
    ///   - term: that of the rules which were asked.
    /// - Returns: false where the ledger knows something else of the name by now, or other rules are in force, so that it
    ///   must be judged anew.
    /// - Throws: also ``KnownUnderOtherName``, of which the same is true.
    func see(
        _ path: BytePath, in place: PlaceInfo, _ status: FileStatus, now: Timestamp, born: Int64?, known: FileRecord?,
        former: FileRecord?, left: [FileRecord], term: Int
    ) async throws -> Bool {
        let absolute = place.root.appending(path)
        let ruleSet = ruleSet
        let isRenamed = born != nil && former?.born == born
        let (size, modified) = (status.fingerprint.size, status.fingerprint.modified)
        // Of what the agent has made no birth is known.
        let isFormer =
            isRenamed
            || former.map { $0.born == nil && ($0.fingerprint.size, $0.fingerprint.modified) == (size, modified) }
                ?? false
        let arrived = known?.present == true ? known?.arrived : isRenamed ? former?.arrived : now
        let facts = FileFacts(
            place: place, path: path, status: status, event: .arrived, now: now, content: .unread, arrived: arrived)
        let upcoming = ruleSet.upcoming(facts, except: known?.present == true ? known?.matched?.rules ?? [] : [])
        let isScheduled = ruleSet.mayBeScheduled(place: place.name, name: path.name)
        return try await ledger.writeSeen { transaction in
            guard self.inForce.term == term, try transaction.file(place.name, path) == known else { return false }
            // Whether it is still that is told when it is read.
            // What the agent has put there itself it knows best. Of what it made, no birth is known.
            let isFree = try known?.present == true || transaction.product(absolute) == nil
            if let former, isFree, isRenamed || former.born == nil {
                try Self.copyProduct(place.root.appending(former.path), to: absolute, transaction)
            }
            try transaction.setStale(left)
            if let former, left.contains(former), isFormer {
                try transaction.moveScheduled(place.name, former.path, to: path)
            }
            if upcoming.isEmpty, !isScheduled { try transaction.removeProduct(absolute) }
            let matched = try FirstMatch(of: known, ruleSet, in: transaction).after([], ruleSet)
            try transaction.setFile(
                FileRecord(
                    place: place.name, path: path, fingerprint: status.fingerprint, hash: nil,
                    version: (known?.version ?? 0) + 1, born: born, matched: matched, arrived: arrived,
                    links: status.links), due: upcoming)
            return true
        }
    }

    /// Commits a judgement and the jobs that follow.
    ///
    /// - Parameters:
    ///   - content: the file that was judged, open.
    ///   - known: what the ledger held of the name when it was judged.
    ///   - former: what it held of the file's old name, where it was renamed.
    ///   - others: what it held of the file's inode by other names.
    ///   - left: those of them that do not stand for the file any more.
    ///   - term: that of the rules which were in force when it was begun to judge the file.
    ///   - isBacklog: whether it was found by a look through its place.
    ///   - isFree: asked last: whether nothing of the agent's own is at work on the file.
    /// - Returns: nil where something of this has changed meanwhile, so that it must be judged anew.
    /// - Throws: also ``KnownUnderOtherName``, of which the same is true.
    func commit(
        _ record: FileRecord, _ content: Descriptor, known: FileRecord?, in place: PlaceInfo, event: FileEvent,
        former: FileRecord?, others: [FileRecord], left: [FileRecord], status: FileStatus,
        baseline: Judge.Baseline, term: Int, isBacklog: Bool, isFree: @Sendable () -> Bool
    ) async throws -> [PlannedJob]? {
        let arrival = clock.now()
        let arrived = event == .arrived ? arrival : (former ?? known)?.arrived
        let oldName = former?.path
        let blocks = try await blocks(of: record, content, in: place, oldName: oldName)
        let (ruleSet, names) = (ruleSet, ledger.names)
        let before = event == .arrived ? nil : former ?? known
        try await withdrawQuestions(about: before, in: place, event)
        let (overdue, first, awaited) = try await history(of: before, record, in: place, ruleSet)
        let file = FileReference(
            place: place.name, root: place.root, path: record.path, fingerprint: record.fingerprint, hash: record.hash)
        let host = host
        let (sources, places) = (sources, presence.places)
        let (drafts, matched, upcoming, seen): ([Draft]?, MatchedRules?, [String: Timestamp], Seen) =
            try await lanes.run { () -> ([Draft]?, MatchedRules?, [String: Timestamp], Seen)? in
                // Also for what is there already when a place is new: it counts as matched by then.
                let asksForArrivals =
                    event == .arrived || first.hasUnmatched || before?.matched?.era != ruleSet.era
                var wanting: Set<String> = []
                var seen = Seen()
                let late = awaited.rules(ruleSet, except: first.matched, by: arrival) { time in
                    FileFacts(
                        place: place, path: record.path, status: status, event: .arrived, now: time,
                        content: .open(content), hash: record.hash, arrived: arrived, sources: sources)
                }
                let events = Set(overdue.values.map(\.event) + [event] + (asksForArrivals ? [.arrived] : []))
                let drafts: [Draft] = try FileEvent.allCases.filter(events.contains).flatMap { due -> [Draft] in
                    let facts = FileFacts(
                        place: place, path: record.path, status: status, event: due, now: arrival,
                        content: .open(content),
                        gainedBlocks: baseline == .normal ? blocks.gained : [], hash: record.hash,
                        arrived: arrived, sources: sources)
                    let found = try ruleSet.match(facts)
                    try seen.add(facts, ruleSet)
                    if due == .arrived { wanting.formUnion(found.map(\.rule.name)) }
                    let matches = found.filter { match in
                        if let owed = overdue[match.rule.name] { return owed.event == due }
                        switch baseline {
                        case .normal:
                            // What a rule has waited for arrives, whatever else has happened to it before its turn.
                            let isLate = late.contains(match.rule.name) && !match.rule.events.contains(event)
                            return due == (isLate ? FileEvent.arrived : first.event(for: match.rule, event))
                        case .first: return due == event && match.rule.existing(in: place) == .process
                        case .silent: return false
                        }
                    }
                    return try Self.drafts(
                        matches, facts: facts, file: file, version: record.version, arrival: arrival, host: host,
                        names: names, values: oldName.map { ["file.oldName": .text($0.nameText)] } ?? [:])
                }.map { try $0.succeeding(overdue[$0.rule]) }
                // The values are those of the content that was hashed: a program may write into the file all the while.
                guard try content.status().fingerprint == record.fingerprint else { return nil }
                var matched = first.after(wanting, ruleSet)
                // What a rule was to do and has not done is not done with.
                matched.rules.subtract(overdue.filter { $1.event == .arrived && !wanting.contains($0) }.keys)
                let facts = FileFacts(
                    place: place, path: record.path, status: status, event: .arrived, now: arrival,
                    content: .open(content), hash: record.hash, arrived: arrived, sources: sources)
                return (drafts, matched, ruleSet.upcoming(facts, except: matched.rules), seen)
            } ?? (nil, nil, [:], Seen())
        guard let drafts, isFree() else { return nil }
        return try await ledger.writeSeen { transaction in
            guard self.inForce.term == term, try transaction.file(place.name, record.path) == known,
                // The file may have been entered under another name while it was hashed here, by whomever: of a file with
                // more than one link, and of what the agent has made, the index does not tell that.
                try transaction.files(
                    place.name, device: record.fingerprint.device, inode: record.fingerprint.inode,
                    besides: record.path) == others,
                // Another file may have come under the old name while this one was hashed.
                try oldName.map({ try transaction.file(place.name, $0)?.fingerprint }) == former?.fingerprint,
                try blocks.seen == nil || transaction.blocks(place.name, oldName ?? record.path) == blocks.seen,
                try Self.overdue(place, before?.path, by: record.hash, in: transaction) == overdue,
                try FirstMatch(of: before, ruleSet, in: transaction) == first,
                try seen.isStill(record, in: places, transaction)
            else { return nil }
            var record = record
            record.matched = matched
            record.attributes = seen.attributes
            record.arrived = arrived
            if let oldName {
                try transaction.moveScheduled(place.name, oldName, to: record.path)
                try transaction.setGone(place.name, oldName)
                let old = place.root.appending(oldName)
                let new = place.root.appending(record.path)
                // What the agent has put there itself it knows best.
                if try transaction.product(new)?.isStill(record) != true {
                    try Self.copyProduct(old, to: new, transaction)
                }
                try transaction.removeProduct(old)
            }
            try transaction.setStale(left)
            let lineage = try Self.lineage(of: record, in: place, upcoming, ruleSet, transaction)
            try transaction.setFile(record, due: upcoming)
            if let oldName, former?.hash == record.hash {
                try transaction.keepArrival(place.name, from: oldName, to: record.path)
            }
            if let tokens = blocks.all { try transaction.setBlocks(place.name, record.path, tokens) }
            return try Self.add(drafts, lineage: lineage, isBacklog: isBacklog, to: transaction)
        }
    }

    /// What rules have made, or not made, of what the file was before, and wait for.
    ///
    /// - Parameter before: nil for a file that the ledger does not know.
    private func history(
        of before: FileRecord?, _ record: FileRecord, in place: PlaceInfo, _ ruleSet: RuleSet
    ) async throws -> ([String: Overdue], FirstMatch, Awaited) {
        guard let before else { return ([:], .none, .nothing) }
        return try await ledger.read {
            (
                try Self.overdue(place, before.path, by: record.hash, in: $0),
                try FirstMatch(of: before, ruleSet, in: $0),
                try Awaited(place.name, before.path, in: $0)
            )
        }
    }

    /// Commits that a file is gone, and the jobs that follow.
    func commitRemoval(_ record: FileRecord, in place: PlaceInfo) async throws -> [PlannedJob] {
        try await withdrawQuestions(about: record, in: place, .removed)
        let arrival = clock.now()
        let file = FileReference(
            place: place.name, root: place.root, path: record.path, fingerprint: nil, hash: record.hash)
        let facts = FileFacts(
            place: place, path: record.path, status: nil, event: .removed, now: arrival, content: .none,
            hash: record.hash, arrived: record.arrived, sources: sources)
        let drafts = try Self.drafts(
            ruleSet.match(facts), facts: facts, file: file, version: record.version, arrival: arrival, host: host,
            names: ledger.names, values: [:])
        return try await ledger.writeSeen { transaction in
            try transaction.setGone(place.name, record.path)
            try transaction.removeProduct(place.root.appending(record.path))
            return try Self.add(drafts, lineage: nil, to: transaction)
        }
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
