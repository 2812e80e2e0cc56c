import Ledger
import Platform

/// What is done about one rule whose conditions hold for a file.
package struct Decision {
    package enum Verdict: Sendable, Equatable {
        case runs(Cause)
        case passes(Reason)
    }

    /// Why a rule runs.
    package enum Cause: Sendable, Equatable {
        /// What has happened to the file is what the rule is about.
        case happened
        /// Something else has happened to it, and the rule wants it now for the first time.
        case firstMatch
        /// The rule was to do it, and the file changed before it was done.
        case owed(Planner.Overdue)
        /// Time has brought it.
        case time
        /// A time of the rule's schedule has come.
        case scheduled(Timestamp)
        /// A person or a new rule asks for it.
        case asked
    }

    /// Why a rule does not run although its conditions hold.
    package enum Reason: Sendable, Equatable {
        /// The place is new, and the rule leaves alone what was there before.
        case placeIsNew
        /// The ledger was lost: nobody knows what was done.
        case ledgerLost
        /// The rule has had it, and nothing has happened to it since that the rule is about.
        case hadByRule
        /// The agent has put it there, and what it does in a place is no news to the rules of that place.
        case ownWrite
        /// It was there before the rule, which leaves such files alone; or the rule had it so long ago that it is forgotten.
        case olderThanRule
        /// It was judged before the rule was as it is now; or the rule had it so long ago that it is forgotten.
        case judgedBefore
        /// The rule came to want it later, and nothing has happened to the file since.
        case unchanged
        /// Only attributes or times are others, and none that the rule looks at.
        case touched
        /// It would go round in a circle.
        case chain(String)
    }

    package let match: RuleMatch
    /// As what the rule sees the file.
    package let event: FileEvent
    package let verdict: Verdict
}

/// What a verdict about a rule goes by, besides whether the rule's conditions hold.
package struct Circumstances: Sendable {
    private let past: FilePast
    private let news: News
    private let baseline: ChangeClassifier.Baseline
    private let place: PlaceInfo
    /// The rules, by name, of which something was waited for that time has brought.
    package var late: Set<String> = []
    /// The attributes that rules look at, as they are now.
    package var digests: [String: String] = [:]
    /// Whether somebody else than the agent has touched the file since it was judged.
    package var isTouched = true

    package init(_ past: FilePast, _ news: News, _ baseline: ChangeClassifier.Baseline = .normal, in place: PlaceInfo) {
        (self.past, self.news, self.baseline, self.place) = (past, news, baseline, place)
    }

    /// As which events rules are asked about the file, in this order.
    ///
    /// - Parameter looksAtAttributes: whether a rule does that could want a file of its name.
    func events(_ rules: RuleSet, looksAtAttributes: Bool) -> [FileEvent] {
        let asked: Set<FileEvent>
        switch news {
        case .unread: asked = []
        case .nothing, .happened(.removed): asked = Set(FileEvent.happenings).intersection([news.event])
        case .happened(let happened):
            // Also for what is there already when a place is new: it counts as matched by then.
            let asksForArrivals = past.hasUnmatched || past.before?.matched?.ruleSet != rules.id
            asked = Set(past.owed.values.map(\.event) + [happened] + (asksForArrivals ? [.arrived] : []))
        case .touched: asked = looksAtAttributes ? [.arrived, .changed] : []
        case .due(let instants):
            asked = Set((late.isEmpty ? [] : [.arrived]) + (instants.isEmpty ? [] : [.scheduled]))
        case .owed(let owed): asked = [owed.event]
        // A rule that runs by its schedule alone is run by `reprocess` where it is asked for by its name.
        case .asked(let rules, let again, let event): asked = rules == nil || !again ? [event] : [event, .scheduled]
        }
        return FileEvent.allCases.filter(asked.contains)
    }

    /// Whether the rule is asked about the file as `event` at all.
    func concerns(_ rule: Rule, _ event: FileEvent) -> Bool {
        switch news {
        case .touched: !rule.condition.attributes.isEmpty
        case .due(let instants): event == .arrived ? late.contains(rule.name) : instants[rule.name] != nil
        case .owed(let owed): owed.job.rule == rule.name
        case .asked(let rules, _, _): rules?.contains(rule.name) ?? true
        case .unread, .nothing, .happened: true
        }
    }

    /// What is done about a rule whose conditions hold for the file as `event`; nil where it sees the file as another event, or
    /// not at all.
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
            // It arrives for a rule when it first meets the rule's conditions, and what a rule has waited for arrives, whatever
            // else has happened to it before its turn.
            guard event == .arrived else { return nil }
            if late.contains(rule.name) { return .runs(.time) }
            return isUnmatched(rule) ? .runs(.firstMatch) : nil
        }
    }

    /// Whether a file of which only attributes are others is news, as that event (docs/design/matching.md).
    private func isNews(for rule: Rule, _ event: FileEvent) -> Bool {
        let seen: FileEvent = isUnmatched(rule) && !rule.events.contains(.changed) ? .arrived : .changed
        guard baseline == .normal, seen == event else { return false }
        if hasChanged(rule.condition.attributes) { return event == .changed || isUnmatched(rule) }
        // Where the agent alone has touched it, what makes it meet the conditions is the agent's own doing.
        return isUnmatched(rule) && isTouched
    }

    /// Whether one of them is another than at the last look. Where nobody has looked at it before, that the file was touched
    /// at all must do.
    private func hasChanged(_ attributes: Set<FileAttribute>) -> Bool {
        attributes.contains { attribute in
            guard let before = past.known?.attributes?.digests[attribute.name] else { return isTouched }
            return before != digests[attribute.name]
        }
    }

    private func isUnmatched(_ rule: Rule) -> Bool { past.isUnmatched(rule.name) }

    /// Why nothing is done about a rule where nothing has happened that it is about. For people alone.
    func reason(for rule: Rule) -> Decision.Reason {
        if news == .touched { return .touched }
        if past.hadJob(rule.name) { return .hadByRule }
        if past.before?.matched?.ruleSet.isEmpty == true { return .ownWrite }
        if isUnmatched(rule) { return .unchanged }
        return rule.existing(in: place) == .skip ? .olderThanRule : .judgedBefore
    }
}
