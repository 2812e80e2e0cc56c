import Ledger
import Platform

/// What `on-failure` says, as the rule in force has it when the job fails.
///
/// What follows is a job of its own, planned in the transaction that records the failure: the one is never without the
/// other, and the failed job stays as it is for a person to see.
enum FailureSteps {
    /// What its steps may use besides what the rule's other steps may.
    static let values = [
        ValueSpec("failure.message", "In `on-failure`: what went wrong, as `steward status` says it."),
        ValueSpec("failure.step", "In `on-failure`: the name of the action that failed."),
    ]

    private static let ending = ", on failure"

    /// The rule whose failure a job follows that has this rule's name; nil for any other job.
    static func ruleName(_ name: String) -> String? {
        name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : nil
    }

    /// Where the job is one that follows a failure, and all of it is done: nobody has to look at the failed one any more.
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

    /// Plans what follows where `job` has failed for good; where that is planned already, it stays as it is, so that it
    /// comes once however often a person has the job tried again.
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
