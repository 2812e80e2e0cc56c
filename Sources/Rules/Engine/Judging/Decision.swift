import Ledger
import Platform

/// The decision for one rule whose conditions hold for a file.
package struct Decision {
    package enum Verdict: Sendable, Equatable {
        case runs(Cause)
        case passes(Reason)
    }

    /// Why a rule runs.
    package enum Cause: Sendable, Equatable {
        /// The rule is about what happened to the file.
        case happened
        /// Something else happened to the file, but it matches the rule for the first time.
        case firstMatch
        /// The rule's earlier job was superseded by a change of the file.
        case owed(Planner.Overdue)
        /// The file has become old enough.
        case time
        /// A time of the rule's schedule has come.
        case scheduled(Timestamp)
        /// Requested by a person, or by a new rule.
        case asked
    }

    /// Why a rule does not run although its conditions hold.
    package enum Reason: Sendable, Equatable {
        /// The place is new, and the rule ignores files that existed before.
        case placeIsNew
        /// The ledger was lost, so the file's history is unknown.
        case ledgerLost
        /// The rule has handled the file, and nothing relevant has happened to it since.
        case hadByRule
        /// The agent put it there. Its own writes do not trigger rules of the same place.
        case ownWrite
        /// The file is older than the rule, which ignores such files; or the rule handled it so long ago that the
        /// record is gone.
        case olderThanRule
        /// The file was last judged before the rule had its present form; or the rule handled it so long ago that the
        /// record is gone.
        case judgedBefore
        /// The file has come to match since it was judged, but nothing has happened to it.
        case unchanged
        /// Only attributes or times have changed, and none that the rule looks at.
        case touched
        /// It would cause a cycle.
        case chain(String)
    }

    package let match: RuleMatch
    /// The event as which the rule sees the file.
    package let event: FileEvent
    package let verdict: Verdict
}

/// The inputs of a verdict, apart from whether the rule's conditions hold.
package struct Circumstances: Sendable {
    private let past: FileHistory
    private let news: News
    private let baseline: ChangeClassifier.Baseline
    private let place: PlaceInfo
    /// Names of the rules with a pending wait that time has ended.
    package var late: Set<String> = []
    /// Digests of the present attributes that rules look at.
    package var digests: [String: String] = [:]
    /// Whether anyone but the agent has touched the file since it was judged.
    package var isTouched = true

    package init(
        _ past: FileHistory, _ news: News, _ baseline: ChangeClassifier.Baseline = .normal, in place: PlaceInfo
    ) {
        (self.past, self.news, self.baseline, self.place) = (past, news, baseline, place)
    }

    /// The events as which rules are asked about the file, in order.
    ///
    /// - Parameter looksAtAttributes: whether a rule that could match the file's name looks at attributes.
    func events(_ rules: RuleSet, looksAtAttributes: Bool) -> [FileEvent] {
        let asked: Set<FileEvent>
        switch news {
        case .unread: asked = []
        case .nothing, .happened(.removed): asked = Set(FileEvent.happenings).intersection([news.event])
        case .happened(let happened):
            // Also for existing files in a new place: they count as matched by then.
            let asksForArrivals = past.hasUnmatched || past.before?.matched?.ruleSet != rules.id
            asked = Set(past.owed.values.map(\.event) + [happened] + (asksForArrivals ? [.arrived] : []))
        case .touched: asked = looksAtAttributes ? [.arrived, .changed] : []
        case .due(let instants):
            asked = Set((late.isEmpty ? [] : [.arrived]) + (instants.isEmpty ? [] : [.scheduled]))
        case .owed(let owed): asked = [owed.event]
        // `reprocess` runs a rule that only has a schedule if it is named explicitly.
        case .asked(let rules, let again, let event): asked = rules == nil || !again ? [event] : [event, .scheduled]
        }
        return FileEvent.allCases.filter(asked.contains)
    }

    /// Whether the rule is asked about the file as `event`.
    func concerns(_ rule: Rule, _ event: FileEvent) -> Bool {
        switch news {
        case .touched: !rule.condition.attributes.isEmpty
        case .due(let instants): event == .arrived ? late.contains(rule.name) : instants[rule.name] != nil
        case .owed(let owed): owed.job.rule == rule.name
        case .asked(let rules, _, _): rules?.contains(rule.name) ?? true
        case .unread, .nothing, .happened: true
        }
    }

    /// The verdict on a rule whose conditions hold for the file as `event`; nil if the rule sees the file as another
    /// event, or not at all.
    package func verdict(on rule: Rule, as event: FileEvent) -> Decision.Verdict? {
        guard concerns(rule, event) else { return nil }
        switch news {
        case .unread: return nil
        case .nothing: return late.contains(rule.name) ? .runs(.time) : .passes(reason(for: rule))
        case .happened(let happened): return verdict(on: rule, as: event, happened)
        case .touched: return isNews(for: rule, event) ? .runs(isUnmatched(rule) ? .firstMatch : .happened) : nil
        case .due(let instants):
            return event == .arrived ? .runs(.time) : instants[rule.name].map { .runs(.scheduled($0)) }
        case .owed(let owed): return .runs(.owed(owed))
        case .asked(_, _, let asked):
            return event == asked || !rule.events.contains(.arrived) ? .runs(.asked) : nil
        }
    }

    private func verdict(on rule: Rule, as event: FileEvent, _ happened: FileEvent) -> Decision.Verdict? {
        if happened == .removed { return .runs(.happened) }
        if let owed = past.owed[rule.name] { return owed.event == event ? .runs(.owed(owed)) : nil }
        switch baseline {
        case .silent: return event == happened ? .passes(.ledgerLost) : nil
        case .first:
            guard event == happened else { return nil }
            return rule.existing(in: place) == .process ? .runs(.happened) : .passes(.placeIsNew)
        case .normal:
            if rule.events.contains(happened) { return event == happened ? .runs(.happened) : nil }
            // A file arrives for a rule when it first meets the rule's conditions. A file that a rule waited for
            // arrives whatever else happened to it in the meantime.
            guard event == .arrived else { return nil }
            if late.contains(rule.name) { return .runs(.time) }
            return isUnmatched(rule) ? .runs(.firstMatch) : nil
        }
    }

    /// Whether a change of attributes only counts as `event` for the rule (docs/design/matching.md).
    private func isNews(for rule: Rule, _ event: FileEvent) -> Bool {
        let seen: FileEvent = isUnmatched(rule) && !rule.events.contains(.changed) ? .arrived : .changed
        guard baseline == .normal, seen == event else { return false }
        if hasChanged(rule.condition.attributes) { return event == .changed || isUnmatched(rule) }
        // If only the agent has touched the file, its own change made the file match.
        return isUnmatched(rule) && isTouched
    }

    /// Whether one of the attributes differs from the last look. If none was recorded, any touch of the file counts.
    private func hasChanged(_ attributes: Set<FileAttribute>) -> Bool {
        attributes.contains { attribute in
            guard let before = past.known?.attributes?.digests[attribute.name] else { return isTouched }
            return before != digests[attribute.name]
        }
    }

    private func isUnmatched(_ rule: Rule) -> Bool { past.isUnmatched(rule.name) }

    /// Why a rule does nothing although its conditions hold. Only for messages to people.
    func reason(for rule: Rule) -> Decision.Reason {
        if news == .touched { return .touched }
        if past.hadJob(rule.name) { return .hadByRule }
        if past.before?.matched?.ruleSet.isEmpty == true { return .ownWrite }
        if isUnmatched(rule) { return .unchanged }
        return rule.existing(in: place) == .skip ? .olderThanRule : .judgedBefore
    }
}
