import Ledger
import Platform

/// From what a file was made, which keeps rules from going round in a circle.
extension Planner {
    /// What the agent has made the file from, which is forgotten when it is judged: what follows carries the lineage in its
    /// jobs. Unless time alone may yet bring something to follow, and a schedule brings it again and again.
    static func lineage(
        of file: FileRecord, in place: PlaceInfo, _ upcoming: [String: Timestamp], _ ruleSet: RuleSet,
        _ transaction: LedgerTransaction
    ) throws -> ProductRecord? {
        let absolute = place.root.appending(file.path)
        guard let product = try transaction.product(absolute) else { return nil }
        let isStill = product.isStill(file)
        let isAwaited = !upcoming.isEmpty || ruleSet.mayBeScheduled(place: place.name, name: file.path.name)
        // One that nobody has read yet may be it.
        if !isAwaited || !isStill && file.hash != nil { try transaction.removeProduct(absolute) }
        return isStill ? product : nil
    }

    /// What a file was made from goes with it when somebody gives it another name.
    static func copyProduct(_ old: BytePath, to new: BytePath, _ transaction: LedgerTransaction) throws {
        guard var product = try transaction.product(old) else { return }
        product.path = new
        try transaction.addProduct(product)
    }

    /// Why a rule does not run on what rules have made; nil where it does.
    static func reasonToSkip(
        _ job: JobRecord, _ lineage: ProductRecord?, in transaction: LedgerTransaction
    ) throws -> String? {
        if job.depth > deepest {
            return "the rule \"\(job.rule)\" would be step \(job.depth) of a chain; \(deepest) is the end"
        }
        guard lineage != nil, try transaction.hasRun(rule: job.rule, lineage: job.lineage, besides: job.depth) else {
            return nil
        }
        return "the rule \"\(job.rule)\" has run already on what this was made from"
    }

    /// Why the times of a rule's schedule pass over a file; nil where they come to it.
    ///
    /// - Parameter origin: what it was made from; nil for a file that no rule has made.
    package static func reasonToPassOver(
        _ origin: ProductRecord?, rule: String, in transaction: LedgerTransaction
    ) throws -> String? {
        guard let origin else { return nil }
        if origin.origin > deepest { return "it is step \(origin.origin) of a chain; \(deepest) is the end" }
        // To a schedule a file that was only moved is the one that it was.
        return try transaction.hasRun(rule: rule, lineage: origin.lineage, before: origin.origin)
            ? "the rule has run on what it was made from" : nil
    }
}
