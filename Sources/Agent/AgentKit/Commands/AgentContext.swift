import Ledger
import Platform
import Rules

/// Where a command is carried out: in the agent, or, where none runs, in the command's own process, which has taken the
/// agent's lock.
package struct AgentContext: Sendable {
    package let core: AgentCore
    /// Nil in a command's own process.
    let agent: Agent?

    init(_ agent: Agent) { (core, self.agent) = (agent.core, agent) }

    /// For a command's own process.
    package init(_ core: AgentCore) { (self.core, agent) = (core, nil) }

    var ledger: Ledger { core.ledger }

    /// - Throws: `Fault` where there is no agent: a command that needs one says so (``Command/needsAgent``).
    func requireAgent() throws -> Agent {
        guard let agent else { throw Fault(.failed, "no agent is running; start one with `steward run`") }
        return agent
    }

    /// The job whose id begins with `prefix`.
    ///
    /// - Throws: `Fault(.usage)` where it is not exactly one.
    func job(_ prefix: String) async throws -> JobRecord {
        guard !prefix.isEmpty else { throw Fault(.usage, "say which job is meant") }
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

    /// Plans jobs for a place's files that are known.
    ///
    /// - Parameters:
    ///   - rules: whose jobs; nil for all rules.
    ///   - again: whether also what they have dealt with already.
    /// - Returns: how many jobs there are.
    func process(_ place: PlaceInfo, rules: Set<String>?, within: BytePath, again: Bool) async throws -> Int {
        // What is known there by tokens alone would be passed over.
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

    /// Puts a file that was refused back where it was. Nobody's news meanwhile: it counts as seen once it is back.
    func putBack(_ held: QuarantineRecord) async throws -> FileReference {
        let paths = [held.root.appending(held.path)]
        core.inWork.begin(paths)
        defer { core.inWork.end(paths) }
        return try await core.quarantine.putBack(held)
    }
}

/// A job, and what became of it.
package struct JobLine: Codable, Sendable {
    let job: String
    let rule: String
    let message: String

    init(_ job: JobRecord, _ message: String) {
        (self.job, rule, self.message) = (job.id, job.rule, message)
    }

    var line: String { "\(job.prefix(12))  \(rule): \(message)" }
}

/// How many jobs were planned.
package struct PlannedJobs: Codable, Sendable {
    let jobs: Int
}
