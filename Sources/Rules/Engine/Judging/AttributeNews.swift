import Ledger
import Platform

/// Attributes as news (docs/design/matching.md): a file whose content is what it was, and of which something else has
/// changed, is news for the rules whose conditions look at just that, and for no others.
extension Planner {
    /// Commits that a file was touched, and the jobs that follow.
    ///
    /// - Parameters:
    ///   - known: what the ledger held of it when it was judged.
    ///   - content: the file, open; what it holds is what was judged.
    ///   - left: what the ledger has of the file's inode by names that do not stand for it any more.
    ///   - isFree: as for ``commit(_:_:known:in:event:former:status:baseline:isFree:)``.
    /// - Returns: nil where something of this has changed meanwhile, so that it must be judged anew.
    func commitTouch(
        _ known: FileRecord, _ content: Descriptor, status: FileStatus, born: Int64?, left: [FileRecord],
        in place: PlaceInfo, baseline: Judge.Baseline, isFree: @Sendable () -> Bool
    ) async throws -> [PlannedJob]? {
        let ruleSet = ruleSet
        let attributes = ruleSet.attributes(place: place.name, name: known.path.name)
        var touched = known
        touched.fingerprint = status.fingerprint
        touched.born = born
        touched.links = status.links
        let now = clock.now()
        guard !attributes.isEmpty else {
            touched.attributes = nil
            let record = touched
            return try await ledger.writeSeen { transaction in
                guard try transaction.file(place.name, known.path) == known else { return nil }
                try transaction.setStale(left)
                try transaction.setFile(record)
                // What it has come to be old enough for since this look has come with time.
                try transaction.setUnreckoned(place.name, record.path, since: now)
                return []
            }
        }
        let first = try await ledger.read { try FirstMatch(of: known, ruleSet, in: $0) }
        let look = AttributeLook(
            known: known, status: status, place: place, first: first, baseline: baseline, now: now)
        let (host, names, sources) = (host, ledger.names, sources)
        let found = try await lanes.run {
            try look.ask(ruleSet, attributes, content, host: host, names: names, sources)
        }
        guard let found, isFree() else { return nil }
        touched.attributes = SeenAttributes(digests: found.digests)
        touched.matched = first.after(found.wanting, ruleSet)
        // The same content is another job's business now.
        if !found.drafts.isEmpty { touched.version += 1 }
        let record = touched
        return try await ledger.writeSeen { transaction in
            guard try transaction.file(place.name, known.path) == known,
                try FirstMatch(of: known, ruleSet, in: transaction) == first
            else { return nil }
            try transaction.setStale(left)
            try transaction.setFile(record)
            try transaction.setUnreckoned(place.name, record.path, since: now)
            return try Self.add(found.drafts, lineage: nil, to: transaction)
        }
    }
}

/// One look at the attributes of a file.
private struct AttributeLook: Sendable {
    struct Found: Sendable {
        let drafts: [Planner.Draft]
        let digests: [String: String]
        /// The rules that want it as an arrival.
        let wanting: Set<String>
    }

    let known: FileRecord
    let status: FileStatus
    let place: PlaceInfo
    let first: FirstMatch
    let baseline: Judge.Baseline
    let now: Timestamp

    /// Nil where the file has changed meanwhile. Blocks.
    func ask(
        _ ruleSet: RuleSet, _ attributes: Set<FileAttribute>, _ content: Descriptor, host: String, names: HiddenNames,
        _ sources: FactSources
    ) throws -> Found? {
        let file = FileReference(
            place: place.name, root: place.root, path: known.path, fingerprint: status.fingerprint, hash: known.hash)
        var (drafts, wanting): ([Planner.Draft], Set<String>) = ([], [])
        var digests: [String: String] = [:]
        for event in [FileEvent.arrived, .changed] {
            let facts = FileFacts(
                place: place, path: known.path, status: status, event: event, now: now, content: .open(content),
                hash: known.hash, arrived: known.arrived, sources: sources)
            if event == .arrived { digests = try FileAttribute.digests(attributes, facts) }
            let matches = try ruleSet.match(facts).filter { !$0.rule.condition.attributes.isEmpty }
            if event == .arrived { wanting = Set(matches.map(\.rule.name)) }
            drafts += try Planner.drafts(
                matches.filter { isNews(for: $0.rule, event, digests) }, facts: facts, file: file,
                version: known.version + 1, arrival: now, host: host, names: names, values: [:])
        }
        guard try content.status().fingerprint == status.fingerprint else { return nil }
        return Found(drafts: drafts, digests: digests, wanting: wanting)
    }

    /// Whether it is, as that event, to a rule whose conditions hold.
    private func isNews(for rule: Rule, _ event: FileEvent, _ digests: [String: String]) -> Bool {
        guard baseline == .normal, first.event(for: rule, .changed) == event else { return false }
        if hasChanged(rule.condition.attributes, digests) { return event == .changed || isUnmatched(rule) }
        // Where the agent alone has touched it, what makes it meet the conditions is the agent's own doing.
        return isUnmatched(rule) && known.fingerprint != status.fingerprint
    }

    private func isUnmatched(_ rule: Rule) -> Bool { first.isUnmatched(rule.name) }

    /// Whether one of them is another than at the last look. Where nobody has looked at it before, that the file was touched
    /// at all must do.
    private func hasChanged(_ attributes: Set<FileAttribute>, _ digests: [String: String]) -> Bool {
        attributes.contains { attribute in
            guard let before = known.attributes?.digests[attribute.name] else {
                return known.fingerprint != status.fingerprint
            }
            return before != digests[attribute.name]
        }
    }
}
