import Ledger
import Platform

/// From what a file was made, which keeps rules from going round in a circle.
extension Planner {
    /// Why a rule does not run on what rules have made; nil where it does.
    static func reasonToSkip(
        _ rule: String, depth: Int, _ lineage: ProductRecord?, in transaction: LedgerTransaction
    ) throws -> String? {
        if depth > deepest { return "\(skipped(rule)) would be step \(depth) of a chain; \(deepest) is the end" }
        guard let lineage, try transaction.hasRun(rule: rule, from: lineage.firstJob, besides: depth) else {
            return nil
        }
        return "\(skipped(rule)) has run already on what this was made from"
    }

    /// How the reason begins.
    static func skipped(_ rule: String) -> String { "the rule \"\(rule)\"" }

    /// Why the times of a rule's schedule pass over a file; nil where they come to it.
    ///
    /// - Parameter origin: what it was made from; nil for a file that no rule has made.
    package static func reasonToPassOver(
        _ origin: ProductRecord?, rule: String, in transaction: LedgerTransaction
    ) throws -> String? {
        guard let origin else { return nil }
        if origin.origin > deepest { return "it is step \(origin.origin) of a chain; \(deepest) is the end" }
        // To a schedule a file that was only moved is the one that it was.
        return try transaction.hasRun(rule: rule, from: origin.firstJob, before: origin.origin)
            ? "the rule has run on what it was made from" : nil
    }
}
