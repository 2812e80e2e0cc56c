import Glibc
import Ledger
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
    let lanes: BlockingPool
    let host: String

    package init(
        ledger: Ledger, presence: PlacePresence, rules: RuleSet, blocksOf: @escaping BlockFinder, lanes: BlockingPool,
        host: String, clock: WallClock = .system, inspector: (any ContentInspector)? = nil
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

    /// Commits what follows from a look at a file: its row, what time is to bring, and the jobs.
    ///
    /// - Parameters:
    ///   - isBacklog: whether it was found by a look through its place.
    ///   - isFree: asked last: whether nothing of the agent's own is at work on the file.
    /// - Returns: nil where what was decided on has changed meanwhile, so that the file must be judged anew.
    /// - Throws: also ``KnownUnderOtherName``, of which the same is true.
    func commit(
        _ judgement: Judgement, isBacklog: Bool = false, isFree: @escaping @Sendable () -> Bool
    ) async throws -> [PlannedJob]? {
        guard isFree() else { return nil }
        let places = presence.places
        let body: @Sendable (LedgerTransaction) throws -> [PlannedJob]? = { transaction in
            let inForce = self.inForce
            guard inForce.term == judgement.term, isFree(),
                try FilePast(of: judgement.seen, inForce.ruleSet, in: transaction) == judgement.past,
                try judgement.beside.isStill(judgement.record, in: places, transaction)
            else { return nil }
            let lineage = try judgement.write(inForce.ruleSet, to: transaction)
            return try Self.add(judgement.drafts, lineage: lineage, isBacklog: isBacklog, to: transaction)
        }
        // What was seen can be seen again; that somebody has asked for it cannot.
        if case .asked = judgement.seen.news { return try await ledger.write(body) }
        return try await ledger.writeSeen(body)
    }

    /// What the ledger holds of a file that was seen. What was asked about a version that has changed, got another name or
    /// gone is asked no more, and is owed then.
    ///
    /// - Returns: nil where it holds something else by now than when the file was looked at.
    func past(of seen: SeenFile, _ rules: RuleSet) async throws -> FilePast? {
        let past = try await ledger.read { try FilePast(of: seen, rules, in: $0) }
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
