import Ledger
import Platform

/// What `on-failure` says, waiting in the ledger beside the job that may fail: a job planned under one version of a rule
/// ends under that version, and so does what follows its failure.
///
/// What follows is a job of its own, planned in the transaction that records the failure: the one is never without the
/// other, and the failed job stays as it is for a person to see.
enum FailureSteps {
    private struct Stored: Codable {
        let action: String
        let arguments: String
        let repeatSafe: Bool
    }

    /// What its steps may use besides what the rule's other steps may.
    static let values = [
        ValueSpec("failure.message", "In `on-failure`: what went wrong, as `steward status` says it."),
        ValueSpec("failure.step", "In `on-failure`: the name of the action that failed."),
    ]

    /// For ``JobRecord/onFailure``; nil for no steps.
    static func stored(_ steps: [StepTemplate]) throws -> String? {
        guard !steps.isEmpty else { return nil }
        return try LedgerJSON.encode(
            steps.map {
                Stored(action: $0.declaration.name, arguments: $0.storedArguments, repeatSafe: $0.repeatSafe)
            })
    }

    /// Plans what follows where `job` has failed for good; where that is planned already, it stays as it is, so that it
    /// comes once however often a person has the job tried again.
    static func follow(_ job: JobRecord, in transaction: LedgerTransaction) throws -> PlannedJob? {
        guard job.state == .parked || job.state == .refused, let stored = job.onFailure else { return nil }
        let failed = try transaction.steps(of: job.id).first { $0.state == .pending || $0.state == .intended }
        var values = try LedgerJSON.decode(Values.self, from: job.values)
        values["failure.message"] = .text(job.problem ?? "")
        values["failure.step"] = .text(failed?.action ?? "")
        let id = String(ContentHash(of: Array("on-failure:\(job.id)".utf8)).description.prefix(32))
        var next = JobRecord(
            id: id, rule: "\(job.rule), on failure", digest: job.digest, event: job.event, place: job.place,
            path: job.path, file: job.file, hash: job.hash, lineage: job.lineage, depth: job.depth,
            arrived: job.arrived, values: try LedgerJSON.encode(values), refused: Rule.Refused.leave.rawValue)
        (next.moved, next.origin) = (job.moved, job.origin)
        let steps = try LedgerJSON.decode([Stored].self, from: stored).enumerated().map { number, step in
            StepRecord(
                job: id, number: number, action: step.action, arguments: step.arguments, repeatSafe: step.repeatSafe)
        }
        guard try transaction.addJob(next, steps: steps) else { return nil }
        try transaction.note(
            "planned", "what follows a failure of \(job.id.prefix(12))", job: id, place: job.place, path: job.path)
        return PlannedJob(id: id, rule: next.rule, place: next.place, path: next.path)
    }
}
