import Ledger
import Platform

/// The lineage of files, which keeps rules from triggering each other in a cycle.
extension Planner {
    /// Why a rule does not run on the product of other rules; nil if it does.
    static func reasonToSkip(
        _ rule: String, depth: Int, _ lineage: ProductRecord?, in transaction: LedgerTransaction
    ) throws -> String? {
        if depth > deepest { return "\(skipped(rule)) would be step \(depth) of a chain; \(deepest) is the end" }
        guard let lineage, try transaction.hasRun(rule: rule, from: lineage.firstJob, besides: depth) else {
            return nil
        }
        return "\(skipped(rule)) has run already on what this was made from"
    }

    /// Start of the reason.
    static func skipped(_ rule: String) -> String { "the rule \"\(rule)\"" }

    /// Why a rule's schedule skips a file; nil if it does not.
    ///
    /// - Parameter origin: what the file was made from; nil for a file that no rule has made.
    package static func reasonToPassOver(
        _ origin: ProductRecord?, rule: String, in transaction: LedgerTransaction
    ) throws -> String? {
        guard let origin else { return nil }
        if origin.origin > deepest { return "it is step \(origin.origin) of a chain; \(deepest) is the end" }
        // For a schedule, a file that was only moved is still the same.
        return try transaction.hasRun(rule: rule, from: origin.firstJob, before: origin.origin)
            ? "the rule has run on what it was made from" : nil
    }
}
