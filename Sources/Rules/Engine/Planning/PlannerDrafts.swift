import Ledger
import Platform

/// The jobs that result from rules, before they are committed.
extension Planner {
    struct Draft: Sendable {
        let rule: String
        var job: JobRecord
        /// The file and values of `job`, decoded.
        let file: FileReference
        private(set) var values: Values
        var steps: [StepRecord]
        /// Whether the job is about the whole file, rather than a block in it.
        let isOfFile: Bool
        /// The counters to draw from, by the value that shows the number.
        let counters: [String: String]

        /// Replaces the job's values.
        mutating func setValues(_ values: Values) throws {
            self.values = values
            job.values = try LedgerJSON.encode(values)
        }
    }

    /// The jobs of a rule that runs on a file. Blocks: reads the values that the rule uses.
    func drafts(
        of match: RuleMatch, _ cause: Decision.Cause, _ facts: FileFacts, _ seen: ObservedFile, _ extra: Values
    ) throws -> [Draft] {
        var (owed, instant): (Overdue?, Timestamp?)
        switch cause {
        case .owed(let late): owed = late
        case .scheduled(let time): instant = time
        case .happened, .firstMatch, .time, .asked: break
        }
        return try Self.drafts(
            [match], facts: facts, file: seen.reference, version: seen.version, arrival: seen.now, host: host,
            names: ledger.names, values: extra, instant: instant
        ).map { try $0.succeeding(owed) }
    }

    static func drafts(
        _ matches: [RuleMatch], facts: FileFacts, file: FileReference, version: Int, arrival: Timestamp, host: String,
        names: HiddenNames, values extra: Values, instant: Timestamp? = nil
    ) throws -> [Draft] {
        try matches.flatMap { match -> [Draft] in
            // A removed file has no values but its name.
            let fromFile = try BuiltInValues.values(of: facts, names: match.rule.valueNames).merging(extra) { $1 }
            return try match.hits.map { hit in
                let block = hit.block
                let path = match.rule.hidesNames ? try names.stored(facts.place.name, facts.path) : facts.path
                let id = jobID(match.rule, facts, path, version: version, hash: file.hash, block: block, instant)
                let own = BuiltInValues.values(
                    rule: match.rule.name, jobID: id, event: facts.event, arrival: arrival, host: host, block: block)
                let found = hit.values.merging(fromFile) { $1 }.merging(own) { $1 }
                let values = found.merging(PlannedValues.lookups(of: match.rule, in: found)) { $1 }
                let job = JobRecord(
                    id: id, rule: match.rule.name, digest: match.rule.digest.description, event: facts.event.rawValue,
                    place: facts.place.name, path: facts.path, file: try file.stored(hiding: names),
                    hash: file.hash,
                    firstJob: id, depth: 0, arrived: arrival,
                    values: try LedgerJSON.encode(values),
                    refused: match.rule.refused(in: facts.place).rawValue)
                let steps = try match.rule.plannedSteps(of: facts, knowing: values).enumerated().map { number, step in
                    StepRecord(
                        job: id, number: number, action: step.template.declaration.name,
                        arguments: step.from, repeatSafe: step.template.repeatSafe,
                        item: try step.item.map { try LedgerJSON.encode($0) })
                }
                return Draft(
                    rule: match.rule.name, job: job, file: file, values: values, steps: steps, isOfFile: block == nil,
                    counters: PlannedValues.counters(of: match.rule, arrival: arrival))
            }
        }
    }

    /// Derives the job's id from rule, digest, place, path bytes, content, arrival number, event, block and schedule
    /// time, so that planning the same work twice gives the same id.
    private static func jobID(
        _ rule: Rule, _ facts: FileFacts, _ path: BytePath, version: Int, hash: ContentHash?, block: BlockFacts?,
        _ instant: Timestamp?
    ) -> String {
        var parts: [[UInt8]] = [
            Array(rule.name.utf8), rule.digest.bytes, Array(facts.place.name.utf8), path.bytes,
            hash?.bytes ?? [], Array(String(version).utf8), Array(facts.event.rawValue.utf8),
            Array((block?.token ?? "").utf8),
        ]
        if let instant { parts.append(Array(String(instant.nanoseconds).utf8)) }
        // Length-prefixed, so that different parts never produce the same bytes.
        let bytes = parts.flatMap { Array("\($0.count):".utf8) + $0 }
        return String(ContentHash(of: bytes).description.prefix(32))
    }

    /// - Parameter isBacklog: whether a scan of its place found the file.
    static func add(
        _ drafts: [Draft], lineage: ProductRecord?, isBacklog: Bool = false, to transaction: LedgerTransaction
    ) throws -> [PlannedJob] {
        var planned: [PlannedJob] = []
        for draft in drafts {
            var job = draft.job
            if isBacklog { job.isBacklog = true }
            if let lineage {
                job.firstJob = lineage.firstJob
                job.depth = max(job.depth, lineage.depth)
                job.origin = lineage.origin
            }
            if job.event == FileEvent.scheduled.rawValue {
                // Not logged, since the schedule asks again at each of its times.
                if try reasonToPassOver(lineage, rule: job.rule, in: transaction) != nil { continue }
            } else if let reason = try reasonToSkip(job.rule, depth: job.depth, lineage, in: transaction) {
                try transaction.note("skipped", reason, job: nil, place: job.place, path: job.path)
                continue
            }
            job.updated = .now()
            guard try transaction.addJob(job, steps: draft.steps, at: job.updated) else { continue }
            let isBehind = try !job.isBacklog && transaction.bringForward(jobsAt: job.whereabouts)
            try PlannedValues.draw(draft.counters, for: job, in: transaction)
            try transaction.note(
                "planned", "rule \"\(job.rule)\" (\(job.event))", job: job.id, place: job.place, path: job.path)
            // A drawn number is only in the ledger row.
            let loaded = LoadedJob(job, draft.steps, file: draft.file, values: draft.values)
            planned.append(
                PlannedJob(
                    id: job.id, rule: job.rule, place: job.place, path: job.path, isBacklog: job.isBacklog,
                    isBehindBacklog: isBehind, loaded: draft.counters.isEmpty ? loaded : nil))
        }
        return planned
    }
}
