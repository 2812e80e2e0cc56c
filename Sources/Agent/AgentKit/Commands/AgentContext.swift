import Ledger
import Platform
import Rules

/// Where a command runs: in the agent or, if none is running, in the command's own process, which then holds the
/// agent's lock.
package struct AgentContext: Sendable {
    package let core: AgentCore
    /// nil in a command's own process.
    let agent: Agent?

    init(_ agent: Agent) { (core, self.agent) = (agent.core, agent) }

    /// For a command's own process.
    package init(_ core: AgentCore) { (self.core, agent) = (core, nil) }

    var ledger: Ledger { core.ledger }

    /// - Throws: `Fault` if no agent is running; a command that needs one declares that (``Command/needsAgent``).
    func requireAgent() throws -> Agent {
        guard let agent else { throw Fault(.failed, "no agent is running; start one with `steward run`") }
        return agent
    }

    /// The job whose id begins with `prefix`.
    ///
    /// - Throws: `Fault(.usage)` unless exactly one matches.
    func job(_ prefix: String) async throws -> JobRecord {
        guard !prefix.isEmpty else { throw Fault(.usage, "name a job") }
        return try await ledger.read { try $0.jobs(idPrefix: prefix) }
            .only("job", beginning: prefix, shownBy: "steward log")
    }

    func place(_ name: String) throws -> PlaceInfo {
        guard let place = core.places[name: name] else {
            let names = core.places.places.map(\.name)
            throw Fault(.usage, "no place is called \"\(name)\"; there are \(names.joined(separator: ", "))")
        }
        return place
    }

    /// Plans jobs for the known files of a place.
    ///
    /// - Parameters:
    ///   - rules: the rules to plan; nil for all.
    ///   - again: includes files that a rule has already handled.
    /// - Returns: the number of jobs.
    func process(_ place: PlaceInfo, rules: Set<String>?, within: BytePath, again: Bool) async throws -> Int {
        // Files known only by token would be skipped.
        if !ledger.names.isLearned(place.name),
            try await ledger.read({ try $0.versions(place.name, within: within).contains(where: \.isUnnamed) })
        {
            try ledger.names.requireLearned(place.name)
        }
        if let agent { return try await agent.pipeline.process(place, rules: rules, again: again, within: within) }
        var count = 0
        for known in try await ledger.read({ try $0.versions(place.name, within: within) }) {
            guard let record = try await ledger.read({ try $0.file(known) }) else { continue }
            count += try await core.planner.plan(record, in: place, rules: rules, again: again).count
        }
        return count
    }

    /// Restores a file from quarantine. It is not news in the meantime, and counts as seen once it is back.
    func putBack(_ held: QuarantineRecord) async throws -> FileReference {
        let paths = [held.root.appending(held.path)]
        core.inWork.begin(paths)
        defer { core.inWork.end(paths) }
        return try await core.quarantine.putBack(held)
    }
}

/// A job and its outcome.
package struct JobLine: Codable, Sendable {
    let job: String
    let rule: String
    let message: String

    init(_ job: JobRecord, _ message: String) {
        (self.job, rule, self.message) = (job.id, job.rule, message)
    }

    var line: String { "\(job.prefix(12))  \(rule): \(message)" }
}

/// The number of jobs planned.
package struct PlannedJobs: Codable, Sendable {
    let jobs: Int
}
