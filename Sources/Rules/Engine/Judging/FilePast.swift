import Ledger
import Platform

/// What the ledger holds of a file: all that is decided on besides the file itself. Asked before rules are, and again in the
/// transaction that commits what follows: where it is another by then, the file is judged anew.
package struct FilePast: Sendable, Equatable {
    /// Under its name.
    private(set) var known: FileRecord?
    /// Under the other names of its inode. It may have been entered under one of them while it was hashed, by whomever: of a
    /// file with more than one link, and of what the agent has made, no index tells that.
    private(set) var others: [FileRecord] = []
    /// This very file, by its name or the one before; nil for one that has just come, and for one that had left.
    private(set) var before: FileRecord?
    /// What the agent has made it from.
    private(set) var product: ProductRecord?
    /// What rules were to do and have not done, by rule.
    private(set) var owed: [String: Planner.Overdue] = [:]
    /// What is to come with time.
    private(set) var due: [DueRecord] = []
    /// The blocks of a note that rules have seen.
    private(set) var blocks: Set<String> = []
    /// The jobs about it that wait for a person's answer.
    private(set) var asking: [String] = []
    /// The rules, by name, that were in force when it was last judged.
    private var inForce: Set<String> = []
    /// The rules that have had a job for it, whatever it held then.
    private var hadJobs: Set<String> = []
    /// Since when rules that look at time are in force, by identity, where a row of ``due`` asks for that.
    private var begun: [String: Timestamp] = [:]

    /// Of a file that the ledger does not know.
    package static let none = FilePast()

    private init() {}

    /// Of a file that is there.
    ///
    /// - Parameters:
    ///   - inForce: the rules, by name, that were in force when it was last judged.
    ///   - hadJobs: the rules that have had a job for it.
    package init(
        _ known: FileRecord, inForce: Set<String>, hadJobs: Set<String> = [], owed: [Planner.Overdue] = []
    ) {
        (self.known, before, self.inForce, self.hadJobs) = (known, known, inForce, hadJobs)
        self.owed = Dictionary(owed.map { ($0.job.rule, $0) }) { first, _ in first }
    }

    /// Of a file of whose name and inode the ledger knows no present row, and which is no note: all that there is to ask was
    /// asked when it was looked at.
    init(ofNew seen: SeenFile, _ product: ProductRecord?) {
        (known, others, self.product) = (seen.known, [], product)
    }

    init(of seen: SeenFile, _ rules: RuleSet, in transaction: LedgerTransaction) throws {
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
            // A rule that is newer than the file's last judgement has found the file there: `existing` is about those.
            inForce =
                known.ruleSet == rules.id
                ? rules.arrivalNames
                : Set(try transaction.rules(inSet: known.ruleSet).compactMap { rules.arrivals[$0] })
        }
    }

    /// What the file was made from goes with it when somebody gives it another name. What the agent has put under its name
    /// itself it knows best.
    private static func product(of seen: SeenFile, _ transaction: LedgerTransaction) throws -> ProductRecord? {
        let absolute = seen.place.root.appending(seen.record.path)
        let own = try transaction.product(absolute)
        guard let kin = seen.former ?? seen.kin,
            seen.record.hash == nil ? own == nil : own?.isStill(seen.record) != true
        else { return own }
        guard var product = try transaction.product(seen.place.root.appending(kin.path)) else { return own }
        product.path = absolute
        return product
    }

    /// The rules, by name, that have wanted it as an arrival. It arrives for a rule when it first matches the rule's
    /// conditions, however long it has been there: a download is empty at first, a tag is set later, a name gets its ending
    /// last.
    var matched: Set<String> { before?.present == true ? before?.matched?.rules ?? [] : [] }

    /// Whether a rule that was in force did not want it.
    var hasUnmatched: Bool { !inForce.isSubset(of: matched) }

    /// Whether the rule was in force when the file was last judged, and did not want it.
    func isUnmatched(_ rule: String) -> Bool { inForce.contains(rule) && !matched.contains(rule) }

    /// Whether the rule has had a job for it, whatever it held then.
    func hadJob(_ rule: String) -> Bool { hadJobs.contains(rule) }

    /// What the ledger is to hold of it, once these rules want it as an arrival.
    func matched(with wanting: Set<String>, _ rules: RuleSet) -> MatchedRules {
        MatchedRules(ruleSet: rules.id, rules: matched.union(wanting).intersection(rules.arrivalNames))
    }

    /// The rules, by name, that were waited for, also those that are early: something else may have brought the time
    /// about. Blocks.
    ///
    /// - Parameter facts: of the file as it is, as an arrival at a time.
    func late(_ rules: RuleSet, by now: Timestamp, _ facts: (Timestamp) -> FileFacts) -> Set<String> {
        var identities = Set(due.compactMap(\.becoming))
        for case .unreckoned(let since?) in due.map(\.kind) {
            // What did not hold then has come with time; of a rule that is newer, what did not when it came into force.
            let starts = Set(begun.values.filter { $0 > since }).union([since])
            for start in starts {
                let upcoming = rules.upcoming(facts(min(start, now)), except: matched).keys
                identities.formUnion(upcoming.filter { max(since, begun[$0] ?? since) == start })
            }
        }
        return Set(identities.compactMap { rules.arrivals[$0] }).subtracting(matched)
    }
}
