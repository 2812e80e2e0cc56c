import Ledger
import Platform
import Rules

/// `steward retry`: makes parked, refused or waiting jobs ready again. The file of a refused job is first restored from
/// quarantine.
package struct RetryJobs: Command {
    package static let name = "retry"
    /// The beginning of a job's id; nil for all parked and waiting ones.
    private let job: String?

    package init(_ job: String?) { self.job = job }

    package func run(in agent: AgentContext) async throws -> [JobLine] {
        guard let job else {
            var lines: [JobLine] = []
            for job in try await agent.ledger.read({ try $0.jobs(in: [.parked, .waiting]) }) {
                // A job may have started or ended in the meantime.
                guard try await makeReady(job, in: agent) == nil else { continue }
                lines.append(JobLine(job, "to be tried again"))
            }
            return lines
        }
        let found = try await agent.job(job)
        if let state = try await makeReady(found, in: agent) {
            throw Fault(.usage, "the job \(found.id.prefix(12)) is \(state.rawValue); there is nothing to retry")
        }
        return [JobLine(found, "to be tried again")]
    }

    package func lines(_ answer: [JobLine]) -> [String] {
        answer.isEmpty ? ["nothing is parked or waiting"] : answer.map(\.line)
    }

    private static let retryable: Set<JobRecord.State> = [.parked, .handled, .waiting, .refused, .superseded]

    /// - Returns: the state that prevents a retry, if it does.
    private func makeReady(_ job: JobRecord, in agent: AgentContext) async throws -> JobRecord.State? {
        guard Self.retryable.contains(job.state) else { return job.state }
        let (registry, names) = (agent.core.registry, agent.ledger.names)
        let restored = try await restoreFromQuarantine(job, in: agent)
        let state = try await agent.ledger.write { transaction -> JobRecord.State? in
            guard var ready = try transaction.job(job.id) else { return job.state }
            guard Self.retryable.contains(ready.state) else { return ready.state }
            if let restored {
                try ready.setFile(restored, hiding: names)
                try transaction.setFile(of: ready)
            }
            ready.state = .ready
            ready.attempts = 0
            ready.nextAttempt = nil
            try transaction.update(ready)
            // An at-most-once step that may have run is repeated only here, on a person's request.
            for step in try transaction.steps(of: job.id) where step.state == .intended {
                if registry[step.action]?.declaration.guarantee == .atMostOnce { try transaction.clearIntent(step) }
            }
            try transaction.note("retry", "asked for", job: job.id, place: job.place, path: job.path)
            return nil
        }
        if state == nil {
            await agent.agent?.runner.submit([(job.id, job.whereabouts.place, job.whereabouts.path)])
        }
        return state
    }

    /// Restores the file of a refused job; nil if it is not in quarantine.
    private func restoreFromQuarantine(_ job: JobRecord, in agent: AgentContext) async throws -> FileReference? {
        let all = try await agent.ledger.read { try $0.quarantine(in: [.held]) }
        guard let held = all.first(where: { $0.job == job.id }) else { return nil }
        return try await agent.putBack(held)
    }
}
