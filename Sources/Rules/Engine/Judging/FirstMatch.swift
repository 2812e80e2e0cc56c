import Ledger
import Platform

/// A file arrives for a rule when it first matches the rule's conditions, however long it has been there: a download is
/// empty at first, a tag is set later, a name gets its ending last.
struct FirstMatch: Sendable, Equatable {
    /// The rules, by name, that were in force when the file was last judged.
    private let inForce: Set<String>
    /// Those that have wanted it.
    let matched: Set<String>

    /// Whether one of them did not want it.
    var hasUnmatched: Bool { !inForce.isSubset(of: matched) }

    /// Whether the rule was in force when the file was last judged, and did not want it.
    func isUnmatched(_ rule: String) -> Bool { inForce.contains(rule) && !matched.contains(rule) }

    /// Of a file that the ledger does not know.
    static let none = FirstMatch()

    private init() { (inForce, matched) = ([], []) }

    /// As what a rule sees what has happened to the file.
    func event(for rule: Rule, _ event: FileEvent) -> FileEvent {
        isUnmatched(rule.name) && !rule.events.contains(event) ? .arrived : event
    }

    /// - Parameter former: what the ledger holds of the file, by its present name or the one before; nil for one that it
    ///   does not know.
    init(of former: FileRecord?, _ ruleSet: RuleSet, in transaction: LedgerTransaction) throws {
        guard let former, former.present, let known = former.matched else {
            self = .none
            return
        }
        // A rule that is newer than the file's last judgement has found the file there: `existing` is about those.
        if known.era == ruleSet.era {
            inForce = ruleSet.arrivalNames
        } else {
            inForce = Set(try transaction.rules(era: known.era).compactMap { ruleSet.arrivals[$0] })
        }
        matched = known.rules
    }

    /// What the ledger is to hold of it, once these rules want it as an arrival.
    func after(_ wanting: Set<String>, _ ruleSet: RuleSet) -> MatchedRules {
        MatchedRules(era: ruleSet.era, rules: matched.union(wanting).intersection(ruleSet.arrivalNames))
    }
}
