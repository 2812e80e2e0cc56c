import Ledger
import Platform

/// The ledger's state of a file: the input of decisions besides the file itself. Read before the rules are asked, and
/// again in the transaction that commits the result. If it differs by then, the file is judged again.
package struct FileHistory: Sendable, Equatable {
    /// The row under its name.
    private(set) var known: FileRecord?
    /// The rows under other names of its inode. One may be added while the file is being hashed: no index detects
    /// that for a file with several links, or for one that the agent made.
    private(set) var others: [FileRecord] = []
    /// The row of this very file, under its present or former name; nil for a new file, or one that had left.
    private(set) var before: FileRecord?
    /// What the agent made it from.
    private(set) var product: ProductRecord?
    /// Superseded work by rule.
    private(set) var owed: [String: Planner.Overdue] = [:]
    /// Pending timed events.
    private(set) var due: [DueRecord] = []
    /// The blocks of a note that rules have seen.
    private(set) var blocks: Set<String> = []
    /// The file's jobs that are waiting for a person's answer.
    private(set) var asking: [String] = []
    /// Names of the rules in force when it was last judged.
    private var inForce: Set<String> = []
    /// The rules that have had a job for it, for whatever content.
    private var hadJobs: Set<String> = []
    /// By identity, since when timed rules are in force, if a row of ``due`` needs that.
    private var begun: [String: Timestamp] = [:]

    /// The past of a file that the ledger does not know.
    package static let none = FileHistory()

    private init() {}

    /// The past of a present file.
    ///
    /// - Parameters:
    ///   - inForce: names of the rules in force when it was last judged.
    ///   - hadJobs: the rules that have had a job for it.
    package init(
        _ known: FileRecord, inForce: Set<String>, hadJobs: Set<String> = [], owed: [Planner.Overdue] = []
    ) {
        (self.known, before, self.inForce, self.hadJobs) = (known, known, inForce, hadJobs)
        self.owed = Dictionary(owed.map { ($0.job.rule, $0) }) { first, _ in first }
    }

    /// The past of a file that is no note and has no present row under its name or inode. Needs no further query.
    init(ofNew seen: ObservedFile, _ product: ProductRecord?) {
        (known, others, self.product) = (seen.known, [], product)
    }

    init(of seen: ObservedFile, _ rules: RuleSet, in transaction: LedgerTransaction) throws {
        let (place, path) = (seen.place.name, seen.record.path)
        known = try transaction.file(place, path)
        let print = seen.record.fingerprint
        if seen.others != nil {
            others = try transaction.files(place, device: print.device, inode: print.inode, besides: path)
        }
        product = try Self.product(of: seen, transaction)
        let name = seen.former?.path ?? path
        if seen.blocks != nil { blocks = try transaction.blocks(place, name) }
        guard seen.before != nil else { return }
        before = name == path ? known : try transaction.file(place, name)
        guard let before else { return }
        due = try transaction.due(place, name)
        begun = try due.contains(where: \.isUnreckoned) ? transaction.timedSince() : [:]
        let jobs = try transaction.jobs(at: .init(place: place, path: name))
        owed = try Planner.overdue(jobs, by: seen.record.hash, in: transaction)
        hadJobs = Set(jobs.map(\.rule))
        asking = jobs.filter { $0.state == .asking }.map(\.id)
        if before.present, let known = before.matched {
            // `existing` applies to rules that are newer than the file's last judgement.
            inForce =
                known.ruleSet == rules.id
                ? rules.arrivalNames
                : Set(try transaction.rules(inSet: known.ruleSet).compactMap { rules.arrivals[$0] })
        }
    }

    /// A renamed file keeps its origin, unless the agent recorded one for the new name itself.
    private static func product(of seen: ObservedFile, _ transaction: LedgerTransaction) throws -> ProductRecord? {
        let absolute = seen.place.root.appending(seen.record.path)
        let own = try transaction.product(absolute)
        guard let kin = seen.former ?? seen.kin,
            seen.record.hash == nil ? own == nil : own?.isStill(seen.record) != true
        else { return own }
        guard var product = try transaction.product(seen.place.root.appending(kin.path)) else { return own }
        product.path = absolute
        return product
    }

    /// Names of the rules that the file has arrived for. It arrives for a rule when it first matches the rule's
    /// conditions, however long it has existed: a download starts out empty, a tag is set later, a name gets its
    /// extension last.
    var matched: Set<String> { before?.present == true ? before?.matched?.rules ?? [] : [] }

    /// Whether a rule that was in force did not match it.
    var hasUnmatched: Bool { !inForce.isSubset(of: matched) }

    /// Whether the rule was in force when the file was last judged, and did not match it.
    func isUnmatched(_ rule: String) -> Bool { inForce.contains(rule) && !matched.contains(rule) }

    /// Whether the rule has had a job for it, for whatever content.
    func hadJob(_ rule: String) -> Bool { hadJobs.contains(rule) }

    /// The new value for the ledger, once these rules have matched it as an arrival.
    func matched(with wanting: Set<String>, _ rules: RuleSet) -> MatchedRules {
        MatchedRules(ruleSet: rules.id, rules: matched.union(wanting).intersection(rules.arrivalNames))
    }

    /// Names of the rules that were waiting for time to pass, including early ones, since the conditions may have
    /// become true for another reason. Blocks.
    ///
    /// - Parameter facts: the present file as an arrival at a given time.
    func late(_ rules: RuleSet, by now: Timestamp, _ facts: (Timestamp) -> FileFacts) -> Set<String> {
        var identities = Set(due.compactMap(\.becoming))
        for case .unreckoned(let since?) in due.map(\.kind) {
            // Conditions that were false at that time have become true by time alone. For a newer rule, count from
            // when it came into force.
            let starts = Set(begun.values.filter { $0 > since }).union([since])
            for start in starts {
                let upcoming = rules.upcoming(facts(min(start, now)), except: matched).keys
                identities.formUnion(upcoming.filter { max(since, begun[$0] ?? since) == start })
            }
        }
        return Set(identities.compactMap { rules.arrivals[$0] }).subtracting(matched)
    }
}
