import Glibc
import Ledger
import Platform
import Synchronization

/// A job committed to the ledger, in the form the runner needs.
package struct PlannedJob: Sendable {
    package let id: String
    package let rule: String
    package let place: String
    package let path: BytePath
    /// See ``JobRecord/isBacklog``.
    var isBacklog = false
    /// Whether it has just moved earlier jobs of its file out of the backlog.
    var isBehindBacklog = false
    /// The whole job as it was added; nil if it has to be read.
    var loaded: LoadedJob?
}

extension PlannedJob: Equatable {
    package static func == (one: PlannedJob, other: PlannedJob) -> Bool {
        (one.id, one.rule, one.place, one.path) == (other.id, other.rule, other.place, other.path)
    }
}

/// Turns observations into jobs: asks the rules, fixes all values that templates will need, and commits the
/// observation together with the jobs.
package final class Planner: Sendable {
    /// Finds the anchored blocks in the bytes of a note. The engine itself knows no note format.
    package typealias BlockFinder = @Sendable ([UInt8]) -> [BlockFacts]

    /// Maximum generations of products that may trigger rules.
    package static let deepest = 8

    let ledger: Ledger
    let presence: PlacePresence
    let clock: WallClock
    package let reader: ContentReader
    /// The sources for conditions about other files.
    package let sources: FactSources
    private let rules: Mutex<InForce>
    private let blocksOf: BlockFinder
    let pool: BlockingPool
    let host: String

    package init(
        ledger: Ledger, presence: PlacePresence, rules: RuleSet, blocksOf: @escaping BlockFinder, pool: BlockingPool,
        host: String, clock: WallClock = .system, inspector: (any ContentInspector)? = nil
    ) {
        self.presence = presence
        self.clock = clock
        reader = ContentReader(pool: pool)
        sources = FactSources(
            surroundings: PlaceSurroundings(ledger: ledger, presence: presence, reader: reader), inspector: inspector,
            heldTime: clock.held)
        self.ledger = ledger
        self.rules = Mutex(InForce(ruleSet: rules, since: clock.now(), term: 0))
        ledger.due.tellTime(by: clock)
        Self.tell(ledger, of: rules)
        self.blocksOf = blocksOf
        self.pool = pool
        self.host = host
    }

    /// The rules in force. Setting them is how a reload takes effect.
    package var ruleSet: RuleSet {
        get { rules.withLock { $0.ruleSet } }
        set {
            let now = clock.now()
            rules.withLock { $0 = InForce(ruleSet: newValue, since: now, term: $0.term + 1) }
            Self.tell(ledger, of: newValue)
        }
    }

    /// The rules in force, and since when.
    var inForce: InForce { rules.withLock { $0 } }

    struct InForce: Sendable {
        let ruleSet: RuleSet
        let since: Timestamp
        /// Incremented with each new rule set. Results from one set are not committed under the next.
        let term: Int
    }

    private static func tell(_ ledger: Ledger, of rules: RuleSet) {
        ledger.names.hide { rules.hidesName(place: $0, name: $1.name) }
        ledger.due.expect { rules.mayBecomeDue(place: $0, name: $1.name) }
        ledger.due.expectSchedules { rules.mayBeScheduled(place: $0, name: $1.name) }
    }

    /// Sources for a read-only look.
    ///
    /// - Parameters:
    ///   - other: the ledger to ask; nil for the planner's own.
    ///   - looks: whether the file's surroundings may be read.
    package func sources(asking other: Ledger?, looks: Bool = true) -> FactSources {
        let around = PlaceSurroundings(ledger: other ?? ledger, presence: presence, reader: reader)
        return FactSources(
            surroundings: looks ? around : nil, inspector: sources.inspector, heldTime: sources.heldTime)
    }

    /// Whether any rule could match a file with this name, whatever its content. If none can, it is not read.
    func mightWant(_ path: BytePath, in place: PlaceInfo) -> Bool {
        place.kind == .notes || ruleSet.settleTime(place: place.name, name: path.name) != nil
    }

    /// The same, also using size, times and owner.
    ///
    /// - Parameter arrived: when it arrived in its place; nil if not known.
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

    /// Opens a file below its place's root, once for all later use; nil if there is no regular file with that name,
    /// or the place is away. Blocks.
    func open(_ path: BytePath, in place: PlaceInfo) throws -> Descriptor? {
        do {
            return try presence.root(of: place).entry(path).openFile()
        } catch let fault as Fault
            where fault.kind == .superseded || fault.code == Fault.link || [ENOENT, ENOTDIR].contains(fault.errno)
            || fault.kind == .transient && fault.errno == nil
        {
            return nil
        }
    }

    /// Commits the result of a judgement: the file's row, its pending timed events and the jobs.
    ///
    /// - Parameters:
    ///   - isBacklog: whether a scan of its place found the file.
    ///   - isFree: called last; whether no job is working on the file.
    /// - Returns: nil if the input of the decision has changed in the meantime, so that the file must be judged again.
    /// - Throws: also ``KnownUnderOtherName``, which means the same.
    func commit(
        _ judgement: Judgement, isBacklog: Bool = false, isFree: @escaping @Sendable () throws -> Bool
    ) async throws -> [PlannedJob]? {
        guard try isFree() else { return nil }
        let places = presence.places
        let body: @Sendable (LedgerTransaction) throws -> [PlannedJob]? = { transaction in
            let inForce = self.inForce
            guard inForce.term == judgement.term, try isFree(),
                try FileHistory(of: judgement.seen, inForce.ruleSet, in: transaction) == judgement.past,
                try judgement.beside.isStill(judgement.record, in: places, transaction)
            else { return nil }
            let lineage = try judgement.write(inForce.ruleSet, to: transaction)
            return try Self.add(judgement.drafts, lineage: lineage, isBacklog: isBacklog, to: transaction)
        }
        // An observation can be repeated, but a person's request cannot.
        if case .asked = judgement.seen.news { return try await ledger.write(body) }
        return try await ledger.writeSeen(body)
    }

    /// The ledger's state of an observed file. Withdraws questions about a version that has changed, been renamed or
    /// gone; their work is then owed.
    ///
    /// - Returns: nil if the ledger has changed since the file was looked at.
    func past(of seen: ObservedFile, _ rules: RuleSet) async throws -> FileHistory? {
        let past = try await ledger.read { try FileHistory(of: seen, rules, in: $0) }
        guard past.known == seen.known, past.before == seen.before, seen.others == nil || past.others == seen.others
        else {
            return nil
        }
        guard case .happened(let event) = seen.news, !past.asking.isEmpty else { return past }
        let why = event == .removed ? "the file is gone" : "the file was \(event.rawValue) before anybody had answered"
        try await withdraw(past.asking, why)
        return try await self.past(of: seen, rules)
    }

    /// The blocks of a note; nil for other files. Blocks.
    func blocks(of path: BytePath, _ file: Descriptor, in place: PlaceInfo) throws -> [BlockFacts]? {
        guard place.kind == .notes, path.stemAndExtension.extension == Array("md".utf8) else { return nil }
        return try file.status().size <= 64 << 20 ? blocksOf(try file.readAll()) : []
    }
}
