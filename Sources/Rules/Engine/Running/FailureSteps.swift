import Ledger
import Platform

/// The `on-failure` steps, taken from the rule in force when the job fails.
///
/// They form a job of their own, planned in the transaction that records the failure, so neither exists without the
/// other. The failed job stays visible as it is.
enum FailureSteps {
    /// The values available to these steps in addition to those of the rule's other steps.
    static let values = [
        ValueSpec("failure.message", "In `on-failure`: what went wrong, as `steward status` says it."),
        ValueSpec("failure.step", "In `on-failure`: the name of the action that failed."),
    ]

    private static let ending = ", on failure"

    /// The rule whose failure this job handles, from the job's rule name; nil for any other job.
    static func ruleName(_ name: String) -> String? {
        name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : nil
    }

    /// If `job` is a finished `on-failure` job, marks the failed job as handled: it needs no attention any more.
    static func settle(_ job: JobRecord, in transaction: LedgerTransaction) throws {
        guard job.state == .done, let rule = ruleName(job.rule) else { return }
        for var failed in try transaction.jobs(in: [.parked]) where failed.rule == rule && id(after: failed) == job.id {
            failed.state = .handled
            try transaction.update(failed)
            try transaction.note(
                "handled", "what its rule says under `on-failure` is done", job: failed.id, place: failed.place,
                path: failed.path)
        }
    }

    private static func id(after failed: JobRecord) -> String {
        String(ContentHash(of: Array("on-failure:\(failed.id)".utf8)).description.prefix(32))
    }

    /// Plans the `on-failure` job if `job` has failed for good. If that job already exists it stays as it is: it runs
    /// only once, however often a person retries the failed job.
    static func follow(
        _ job: JobRecord, _ rules: RuleSet, in transaction: LedgerTransaction
    ) throws -> PlannedJob? {
        guard job.state == .parked || job.state == .refused, let rule = rules[job.rule], !rule.onFailure.isEmpty else {
            return nil
        }
        let failed = try transaction.steps(of: job.id).first { $0.state == .pending || $0.state == .intended }
        var values = try LedgerJSON.decode(Values.self, from: job.values)
        values["failure.message"] = .text(job.problem ?? "")
        values["failure.step"] = .text(failed?.action ?? "")
        let id = id(after: job)
        var next = JobRecord(
            id: id, rule: job.rule + ending, digest: job.digest, event: job.event, place: job.place,
            path: job.path, file: job.file, hash: job.hash, firstJob: job.firstJob, depth: job.depth,
            arrived: job.arrived, values: try LedgerJSON.encode(values), refused: Rule.Refused.leave.rawValue)
        (next.moved, next.origin) = (job.moved, job.origin)
        let steps = rule.onFailure.enumerated().map { number, step in
            StepRecord(
                job: id, number: number, action: step.declaration.name, arguments: PlannedStep(step).from,
                repeatSafe: step.repeatSafe)
        }
        guard try transaction.addJob(next, steps: steps) else { return nil }
        try transaction.note(
            "planned", "what follows a failure of \(job.id.prefix(12))", job: id, place: job.place, path: job.path)
        return PlannedJob(id: id, rule: next.rule, place: next.place, path: next.path)
    }
}
