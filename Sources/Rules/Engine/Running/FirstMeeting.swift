import Ledger
import Platform

/// A file arrives for a rule when it first meets the rule's conditions, however long it has been there: a download is
/// empty at first, a tag is set later, a name gets its ending last.
struct FirstMeeting: Sendable, Equatable {
    /// The rules, by name, that were in force when the file was last judged, and did not want it.
    let unmet: Set<String>
    private let met: Set<String>

    /// As what a rule sees what has happened to the file.
    func event(for rule: Rule, _ event: FileEvent) -> FileEvent {
        unmet.contains(rule.name) && !rule.events.contains(event) ? .arrived : event
    }

    /// - Parameter former: what the ledger holds of the file, by its present name or the one before; nil for one that it
    ///   does not know.
    init(of former: FileRecord?, _ ruleSet: RuleSet, in transaction: LedgerTransaction) throws {
        guard let former, former.present, let known = former.met else {
            (unmet, met) = ([], [])
            return
        }
        // A rule that is newer than the file's last judgement has found the file there: `existing` is about those.
        let inForce: Set<String>
        if known.era == ruleSet.era {
            inForce = Set(ruleSet.arrivals.values)
        } else {
            inForce = Set(try transaction.rules(era: known.era).compactMap { ruleSet.arrivals[$0] })
        }
        unmet = inForce.subtracting(known.rules)
        met = known.rules
    }

    /// What the ledger is to hold of it, once these rules want it as an arrival.
    func after(_ wanting: Set<String>, _ ruleSet: RuleSet) -> RulesMet {
        RulesMet(era: ruleSet.era, rules: met.union(wanting).intersection(ruleSet.arrivals.values))
    }
}
