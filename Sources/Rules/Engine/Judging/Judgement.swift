import Ledger
import Platform

/// The rules' decisions about an observed file. Pure, except that conditions read the open file.
struct Classification {
    let decisions: [Decision]
    /// The rules that match the file as an arrival.
    let wanting: Set<String>
    /// What conditions looked at besides the file.
    let beside: Seen

    /// - Parameter use: called for each event with the facts about the file and the decisions on it.
    /// - Throws: `Fault` if a decisive condition cannot read the file. Blocks.
    init(
        _ past: FileHistory, _ seen: ObservedFile, baseline: ChangeClassifier.Baseline = .normal, _ rules: RuleSet,
        _ sources: FactSources, use: (FileFacts, [Decision]) throws -> Void = { _, _ in }
    ) throws {
        var circumstances = Circumstances(past, seen.news, baseline, in: seen.place)
        var (found, wanting, beside): ([Decision], Set<String>, Seen) = ([], [], Seen())
        let attributes = rules.attributes(place: seen.place.name, name: seen.record.path.name)
        switch seen.news {
        case .happened(.removed): break
        case _ where seen.isTooLarge: break
        case .happened, .due, .nothing:
            circumstances.late = past.late(rules, by: seen.now) { seen.facts(as: .arrived, at: $0, sources) }
        case .touched:
            circumstances.isTouched = past.known?.fingerprint != seen.record.fingerprint
            if !attributes.isEmpty { try beside.add(seen.facts(as: .arrived, sources), rules) }
            circumstances.digests = beside.attributes?.digests ?? [:]
        case .unread, .owed, .asked: break
        }
        for event in seen.isTooLarge ? [] : circumstances.events(rules, looksAtAttributes: !attributes.isEmpty) {
            let facts = seen.facts(as: event, gained: Self.gained(past, seen, baseline), sources)
            let matches = try rules.match(facts).filter { circumstances.concerns($0.rule, event) }
            if case .happened = seen.news, event != .removed { try beside.add(facts, rules) }
            if event == .arrived { wanting.formUnion(matches.map(\.rule.name)) }
            let decided = matches.compactMap { match in
                circumstances.verdict(on: match.rule, as: event).map {
                    Decision(match: match, event: event, verdict: $0)
                }
            }
            try use(facts, decided)
            found += decided
        }
        (decisions, self.wanting, self.beside) = (found, wanting, beside)
    }

    private static func gained(_ past: FileHistory, _ seen: ObservedFile, _ baseline: ChangeClassifier.Baseline)
        -> [BlockFacts]
    {
        guard case .happened = seen.news, baseline == .normal else { return [] }
        return (seen.blocks ?? []).filter { !past.blocks.contains($0.name) }
    }
}

/// The result of judging a file: its ledger row and the jobs. ``Planner/commit(_:isBacklog:isFree:)`` writes it.
struct Judgement: Sendable {
    let seen: ObservedFile
    let past: FileHistory
    /// The term of the rules that were asked; the result is not committed under the next one.
    let term: Int
    private(set) var drafts: [Planner.Draft] = []
    /// The file's row for the ledger.
    private(set) var record: FileRecord
    /// Identities of the rules that time alone may make match, and when; nil if not determined yet.
    private(set) var upcoming: [String: Timestamp]?
    private(set) var beside = Seen()

    /// Asks the rules.
    ///
    /// - Returns: nil if the file has changed in the meantime. Blocks.
    init?(
        _ past: FileHistory, _ seen: ObservedFile, baseline: ChangeClassifier.Baseline = .normal,
        _ inForce: Planner.InForce, _ planner: Planner
    ) throws {
        let rules = inForce.ruleSet
        let extra: Values = seen.former.map { ["file.oldName": .text($0.path.nameText)] } ?? [:]
        var (read, made): (ObservedFile, [Planner.Draft]) = (seen, [])
        let found = try Classification(past, seen, baseline: baseline, rules, planner.sources) { facts, decisions in
            for case (let match, .runs(let cause)) in decisions.map({ ($0.match, $0.verdict) }) {
                // The hash may not have been needed before.
                if read.record.hash == nil { read.record.hash = try read.file.map(planner.reader.hash) }
                made += try planner.drafts(of: match, cause, facts, read, extra)
            }
        }
        guard try seen.isStill() else { return nil }
        (self.seen, self.past, term, record) = (seen, past, inForce.term, read.record)
        (drafts, beside) = (made, found.beside)
        settle(found, rules, planner.sources)
    }

    /// Fills in the file's ledger row.
    private mutating func settle(_ found: Classification, _ rules: RuleSet, _ sources: FactSources) {
        switch seen.news {
        case .nothing, .happened(.removed), .owed: break
        case .happened:
            var matched = past.matched(with: found.wanting, rules)
            // Owed work stays owed.
            matched.rules.subtract(past.owed.filter { $1.event == .arrived && !found.wanting.contains($0) }.keys)
            (record.matched, record.attributes) = (matched, beside.attributes)
            upcoming = rules.upcoming(seen.facts(as: .arrived, sources), except: matched.rules)
        case .unread:
            record.matched = past.matched(with: [], rules)
            // Conditions on anything but name and status would need the file to be read.
            upcoming = rules.upcoming(seen.facts(as: .arrived, .none), except: past.matched)
        case .touched:
            record.attributes = beside.attributes
            if beside.attributes != nil { record.matched = past.matched(with: found.wanting, rules) }
            if !drafts.isEmpty { record.version = seen.version }
        case .due:
            var matched = record.matched ?? MatchedRules(ruleSet: "", rules: [])
            matched.rules.formUnion(found.wanting)
            if !matched.rules.isEmpty { record.matched = matched }
            upcoming =
                seen.isTooLarge ? [:] : rules.upcoming(seen.facts(as: .arrived, sources), except: matched.rules)
        case .asked: if !drafts.isEmpty { record.version = seen.version }
        }
    }
}

extension Judgement {
    /// Writes the file's row and its pending timed events. Judgements write them only here.
    ///
    /// - Returns: the lineage that the resulting jobs continue.
    func write(_ rules: RuleSet, to transaction: LedgerTransaction) throws -> ProductRecord? {
        let (place, path) = (seen.place.name, record.path)
        switch seen.news {
        case .nothing, .owed: return nil
        case .happened(.removed):
            try transaction.setGone(place, path)
            try transaction.removeProduct(seen.place.root.appending(path))
            return nil
        case .asked:
            if record != past.known { try transaction.setFile(record) }
            return nil
        case .touched:
            try transaction.setStale(seen.left)
            try transaction.setFile(record)
            // If it reaches an age after this look, time alone has brought that.
            try transaction.setUnreckoned(place, path, since: seen.now)
            return nil
        case .due: try transaction.removeScheduled(place, path, by: seen.now)
        case .unread:
            if let kin = seen.kin, seen.left.contains(kin), seen.isAsKin(kin) {
                try transaction.moveScheduled(place, kin.path, to: path)
            }
            try transaction.setStale(seen.left)
        case .happened:
            if let former = seen.former {
                try transaction.moveScheduled(place, former.path, to: path)
                try transaction.setGone(place, former.path)
                try transaction.removeProduct(seen.place.root.appending(former.path))
            }
            try transaction.setStale(seen.left)
        }
        let lineage = try keepProduct(rules, transaction)
        try transaction.setFile(record, due: upcoming)
        if let former = seen.former, former.hash == record.hash {
            try transaction.keepArrival(place, from: former.path, to: path)
        }
        if let blocks = seen.blocks { try transaction.setBlocks(place, path, Set(blocks.map(\.name))) }
        return lineage
    }

    /// Deletes the file's origin once it is judged, because the jobs carry the lineage on. Keeps it if a timed rule
    /// is pending, or if a schedule may apply again and again.
    private func keepProduct(_ rules: RuleSet, _ transaction: LedgerTransaction) throws -> ProductRecord? {
        guard let product = past.product else { return nil }
        let isStill = product.isStill(record)
        let isAwaited =
            upcoming?.isEmpty == false || rules.mayBeScheduled(place: seen.place.name, name: record.path.name)
        // An unread file may still be the product.
        if isAwaited, isStill || record.hash == nil {
            if seen.former != nil || seen.kin != nil { try transaction.addProduct(product) }
        } else {
            try transaction.removeProduct(product.path)
        }
        return isStill ? product : nil
    }
}
