import Foundation
import Ledger
import Platform
import Rules
import SQLiteFile

/// What people ask of jobs and files: done by the daemon, or by a command itself where none runs.
package struct Operations: Sendable {
    package let core: AgentCore
    /// The daemon's; nil in a command.
    package let runner: Runner?
    package let pipeline: Pipeline?

    package init(core: AgentCore, runner: Runner? = nil, pipeline: Pipeline? = nil) {
        self.core = core
        self.runner = runner
        self.pipeline = pipeline
    }

    private var ledger: Ledger { core.ledger }

    package struct JobLine: Codable, Sendable {
        package let job: String
        package let rule: String
        package let message: String
    }

    /// Makes parked, refused or waiting jobs ready again. What a refused one was about is taken out of quarantine first.
    ///
    /// - Parameter id: the beginning of a job's id; nil for all parked and waiting ones.
    package func retry(_ id: String?) async throws -> ControlReply {
        let jobs: [JobRecord]
        if let id {
            jobs = [try await job(id)]
        } else {
            jobs = try await ledger.read { try $0.jobs(in: [.parked, .waiting]) }
        }
        var lines: [JobLine] = []
        for job in jobs {
            if let state = try await makeReady(job) {
                // Of many, one may have begun or ended meanwhile.
                if id == nil { continue }
                throw Fault(.usage, "the job \(job.id.prefix(12)) is \(state.rawValue); there is nothing to try again")
            }
            lines.append(JobLine(job: job.id, rule: job.rule, message: "to be tried again"))
        }
        if lines.isEmpty { return ControlReply(["nothing is parked or waiting"], json: "[]") }
        return try ControlReply(lines, lines: lines.map { "\($0.job.prefix(12))  \($0.rule): \($0.message)" })
    }

    private static let retryable: Set<JobRecord.State> = [.parked, .handled, .waiting, .refused, .superseded]

    /// - Returns: the state in which it cannot be tried again, where it is in such.
    private func makeReady(_ job: JobRecord) async throws -> JobRecord.State? {
        guard Self.retryable.contains(job.state) else { return job.state }
        let (registry, names) = (core.registry, ledger.names)
        let restored = try await restoreFromQuarantine(job)
        let state = try await ledger.write { transaction -> JobRecord.State? in
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
            // What may have happened once is only done again because a person asks for it here.
            for step in try transaction.steps(of: job.id) where step.state == .intended {
                if registry[step.action]?.declaration.guarantee == .atMostOnce { try transaction.clearIntent(step) }
            }
            try transaction.note("retry", "asked for", job: job.id, place: job.place, path: job.path)
            return nil
        }
        if state == nil { await runner?.submit([(job.id, job.whereabouts.place, job.whereabouts.path)]) }
        return state
    }

    /// Puts a refused job's file back where it was; nil where it is not in quarantine.
    private func restoreFromQuarantine(_ job: JobRecord) async throws -> FileReference? {
        let all = try await ledger.read { try $0.quarantine(in: [.held]) }
        guard let held = all.first(where: { $0.job == job.id }) else { return nil }
        return try await putBack(held)
    }

    /// Nobody's news meanwhile: it counts as seen once it is back.
    private func putBack(_ held: QuarantineRecord) async throws -> FileReference {
        let paths = [held.root.appending(held.path)]
        core.inWork.begin(paths)
        defer { core.inWork.end(paths) }
        return try await core.quarantine.putBack(held)
    }

    package func undo(_ id: String) async throws -> ControlReply {
        let job = try await job(id)
        guard job.state != .undone else { throw Fault(.usage, "the job \(job.id.prefix(12)) has been undone already") }
        let lines = try await core.executor.undo(job.id)
        return try ControlReply(lines, lines: lines.isEmpty ? ["the job had done nothing"] : lines)
    }

    /// Runs rules again on files that they have seen.
    ///
    /// - Parameters:
    ///   - path: an absolute path of a file or folder; nil for all files of the rule's places.
    package func reprocess(rule: String?, path: BytePath?) async throws -> ControlReply {
        let ruleSet = core.planner.ruleSet
        if let rule, ruleSet[rule] == nil {
            let hint = Suggest.hint(for: rule, among: ruleSet.rules.map(\.name)).map { "; \($0)" } ?? ""
            throw Fault(.usage, "no rule is called \"\(rule)\"\(hint)")
        }
        var count = 0
        let wanted = rule.map { Set([$0]) }
        if let path {
            let places = core.places
            let path = try await BlockingLane("reprocess").run { places.known(path) }
            guard let (place, relative) = core.places.locate(path) ?? root(path) else {
                throw Fault(
                    .usage,
                    "\(path) is in none of the places (\(core.places.places.map(\.name).joined(separator: ", ")))")
            }
            count = try await process(place, rules: wanted, within: relative, again: true)
        } else {
            guard let rule, let found = ruleSet[rule] else {
                throw Fault(.usage, "say which rule or which file is meant")
            }
            for place in found.places { count += try await process(place, rules: wanted, within: "", again: true) }
        }
        return try ControlReply(["jobs": count], lines: ["\(count) jobs planned"])
    }

    /// After the ledger was lost: has a place's files dealt with as if they had just arrived.
    package func rebuild(place name: String) async throws -> ControlReply {
        let place = try place(name)
        let count = try await process(place, rules: nil, within: "", again: false)
        let (losses, file) = (core.directories.losses, ledger.file)
        // Whoever asks for this knows of the loss.
        try await BlockingLane("losses").run {
            for loss in try losses.standing(of: file) { _ = try losses.acknowledge(loss.id) }
        }
        return try ControlReply(["jobs": count], lines: ["\(count) jobs planned for the files in \(name)"])
    }

    /// Takes the folder that stands at a place's path for the place: what was known of it and is not there is gone.
    package func accept(place name: String) async throws -> ControlReply {
        let place = try place(name)
        let presence = core.journal.presence
        try await BlockingLane("accept").run { try presence.accept(place) }
        await pipeline?.lookThrough(place)
        return try ControlReply(
            ["place": name], lines: ["\(place.root) is \(name); files that are not in it any more count as removed"])
    }

    private func place(_ name: String) throws -> PlaceInfo {
        guard let place = core.places[name: name] else {
            let names = core.places.places.map(\.name)
            throw Fault(.usage, "no place is called \"\(name)\"; there are \(names.joined(separator: ", "))")
        }
        return place
    }

    private func root(_ path: BytePath) -> (PlaceInfo, BytePath)? {
        core.places.places.first { $0.root == path }.map { ($0, "") }
    }

    private func process(_ place: PlaceInfo, rules: Set<String>?, within: BytePath, again: Bool) async throws -> Int {
        // What is known there by tokens alone would be passed over.
        if !ledger.names.isLearned(place.name),
            try await ledger.read({ try $0.versions(place.name, within: within).contains(where: \.isUnnamed) })
        {
            try ledger.names.requireLearned(place.name)
        }
        if let pipeline { return try await pipeline.process(place, rules: rules, again: again, within: within) }
        var count = 0
        for known in try await ledger.read({ try $0.versions(place.name, within: within) }) {
            guard let record = try await ledger.read({ try $0.file(known) }) else { continue }
            count += try await core.planner.plan(record, in: place, rules: rules, again: again).count
        }
        return count
    }

    // MARK: Quarantine

    package func quarantined() async throws -> [QuarantineRecord] {
        try await ledger.read { try $0.quarantine() }
    }

    package func restore(_ id: String) async throws -> ControlReply {
        let path = try await putBack(try await quarantined(id)).absolute
        return try ControlReply(["path": path.description], lines: ["restored to \(path)"])
    }

    package func drop(_ id: String) async throws -> ControlReply {
        let record = try await quarantined(id)
        try await core.quarantine.drop(record)
        return try ControlReply(["path": record.stored.description], lines: ["deleted \(record.stored)"])
    }

    private func quarantined(_ id: String) async throws -> QuarantineRecord {
        let all = try await quarantined()
        let found = all.filter { $0.id.hasPrefix(id) }
        guard let only = found.first, found.count == 1 else {
            throw Fault(
                .usage,
                found.isEmpty
                    ? "nothing in quarantine has an id that begins with \(id); `steward quarantine list` shows them"
                    : "\(found.count) ids begin with \(id); give more of it")
        }
        return only
    }

    /// The job whose id begins with `prefix`.
    package func job(_ prefix: String) async throws -> JobRecord {
        let found = try await ledger.read { try $0.jobs(idPrefix: prefix) }
        guard let only = found.first, found.count == 1 else {
            throw Fault(
                .usage,
                found.isEmpty
                    ? "no job has an id that begins with \(prefix); `steward log` shows them"
                    : "\(found.count) jobs have an id that begins with \(prefix); give more of it")
        }
        return only
    }
}
