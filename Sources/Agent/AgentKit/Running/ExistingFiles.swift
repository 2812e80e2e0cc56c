import Ledger
import Logging
import Platform
import Rules
import Watching

/// Applies new rules to files that were there before them.
extension Pipeline {
    /// Runs newly added rules over the files already present, if the rules ask for that.
    ///
    /// - Parameter before: the rules that were in force while a rule file was being saved.
    package func adoptRules(isFirstStart: Bool, after before: PassingRules? = nil) async throws {
        let ruleSet = core.planner.ruleSet
        let rules = ruleSet.rules
        let known = try await core.ledger.read { try $0.knownRules() }
        let new = rules.filter { !known.contains($0.name) }
        var late: Set<String> = []
        if !isFirstStart {
            for rule in new {
                for place in rule.places where rule.existing(in: place) == .process && baselines[place.name] == nil {
                    if try await !takeExisting(in: place, rule) { late.insert(rule.name) }
                }
            }
        }
        let taken = rules.filter { !late.contains($0.name) }
        let awaited = rules.filter { late.contains($0.name) }.flatMap { rule in
            rule.places.map { Self.takenKey(rule, $0) }
        }
        try await core.ledger.write { transaction in
            for rule in taken { try transaction.registerRule(rule.name, digest: rule.digest.description) }
            for key in try transaction.metaKeys(Self.taken) where !awaited.contains(key) {
                try transaction.setMeta(key, nil)
            }
            try transaction.registerRuleSet(ruleSet.id, rules: ruleSet.arrivalIdentities)
        }
        try await adoptFolderRules(after: before)
    }

    /// The ledger key recording that a rule, while still new, has been planned for a place's existing files.
    private static func takenKey(_ rule: Rule, _ place: PlaceInfo) -> String { "\(taken)\(place.name) \(rule.name)" }

    private static let taken = "taken:"

    /// Plans a new rule for the files that were there before it, once for each place.
    ///
    /// - Returns: false if the place does not answer. Its files are planned in the background when it does; the rule
    ///   stays new until a later start or reload finds that every place is done.
    private func takeExisting(in place: PlaceInfo, _ rule: Rule) async throws -> Bool {
        let key = Self.takenKey(rule, place)
        if try await core.ledger.read({ try $0.meta(key) }) != nil { return true }
        // An earlier reload may still be working on it.
        guard beingTaken.insert(key).inserted else { return false }
        let found: Int?
        do {
            found = try await outcome(unlessHung: .place(place.name)) {
                do {
                    let count = try await self.process(place, rules: [rule.name], again: false)
                    // Recorded here, so that it counts however late it finishes: files made by the rule must not be
                    // taken as existing ones next time.
                    try await self.core.ledger.write { try $0.setMeta(key, "") }
                    await self.endTaking(key)
                    return count
                } catch {
                    await self.endTaking(key)
                    throw error
                }
            }
        } catch let fault as Fault where fault.code == Fault.hanging {
            found = nil
        }
        guard let count = found else {
            log.warning(
                """
                the new rule "\(rule.name)" waits with what was there before: \
                \(StatusReport.silent(place.root, place.name))
                """)
            return false
        }
        if count > 0 { log.notice("the new rule \"\(rule.name)\" takes \(count) files that were there before") }
        return true
    }

    private func endTaking(_ key: String) { beingTaken.remove(key) }

    /// Plans rules for all files present in a place.
    ///
    /// - Returns: the number of jobs created.
    package func process(_ place: PlaceInfo, rules: Set<String>?, again: Bool, within: BytePath = "") async throws
        -> Int
    {
        try await Bulkhead.$current.withValue(.place(place.name)) {
            try await planAll(of: place, rules: rules, again: again, within: within)
        }
    }

    private func planAll(
        of place: PlaceInfo, rules: Set<String>?, again: Bool, within: BytePath
    ) async throws -> Int {
        var count = 0
        // During a start, the service manager's timeout would interrupt this and it would begin again at the first
        // file.
        var work = LongWork()
        for known in try await core.ledger.read({ try $0.versions(place.name, within: within) }) {
            guard let record = try await core.ledger.read({ try $0.file(known) }) else { continue }
            count += try await plan(record, in: place) {
                try await core.planner.plan(record, in: place, rules: rules, again: again, isBacklog: !again)
            }
            work.advanced()
        }
        return count
    }

    private func plan(
        _ record: FileRecord, in place: PlaceInfo, _ planned: () async throws -> [PlannedJob]
    ) async throws -> Int {
        do {
            let jobs = try await planned()
            await runner.submit(jobs)
            return jobs.count
        } catch let fault as Fault where ReadAccess.isDenial(fault.errno) {
            passOver(Key(root: place.name, path: record.path), fault)
            // No rule has seen it yet, so it counts as new once it can be read.
            if record.hash == nil { try await core.ledger.write { try $0.setGone(place.name, record.path) } }
            return 0
        }
    }

    /// Re-plans, under the current rules, the files that were judged by rules read from a half-saved rule file.
    func planMissed(under rules: PassingRules) async throws {
        for place in core.places.places {
            let files = try await core.ledger.read {
                try $0.files(place.name, judgedBy: rules.ruleSet.id, since: rules.since)
            }
            var count = 0
            for file in files {
                count += try await Bulkhead.$current.withValue(.place(place.name)) {
                    try await plan(file, in: place) {
                        try await core.planner.planMissed(file, in: place, under: rules)
                    }
                }
            }
            if count > 0 { log.notice("\(count) jobs in \(place.name) were missed while a rule file was being saved") }
        }
    }
}
