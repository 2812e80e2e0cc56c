import Platform

/// A condition's present result, and until when time alone cannot change it.
package struct TimedResult: Sendable, Equatable {
    /// nil if it cannot be decided without reading the file.
    package let held: Bool?
    /// The earliest time at which time alone may change it; nil for never.
    package let next: Timestamp?

    /// At any moment, as far as is known.
    static let atAnyMoment = Timestamp(nanoseconds: .min)
}

extension Condition {
    /// Whether it depends on time.
    package var looksAtTime: Bool {
        switch self {
        case .test(let test): test.nextChange != nil
        case .all(let parts), .any(let parts): parts.contains(where: \.looksAtTime)
        case .not(let part): part.looksAtTime
        }
    }

    /// Whether it depends on the file's age.
    var countsAge: Bool {
        switch self {
        case .test(let test): test.countsAge
        case .all(let parts), .any(let parts): parts.contains(where: \.countsAge)
        case .not(let part): part.countsAge
        }
    }

    /// The present result, and the earliest time at which it may change if the file stays the same. There is no such
    /// time if another reason, such as the name, already rules the file out. Blocks.
    package func outlook(_ facts: FileFacts) -> TimedResult {
        switch self {
        case .test(let test):
            do {
                return TimedResult(held: try test.check(facts, nil).held, next: try test.nextChange?(facts))
            } catch {
                // The times it depends on are in the file.
                return TimedResult(held: nil, next: test.nextChange == nil ? nil : TimedResult.atAnyMoment)
            }
        case .all(let parts): return Self.outlook(parts, facts, decidedBy: false)
        case .any(let parts): return Self.outlook(parts, facts, decidedBy: true)
        case .not(let part):
            let inner = part.outlook(facts)
            return TimedResult(held: inner.held.map { !$0 }, next: inner.next)
        }
    }

    /// - Parameter deciding: the result of a part that decides the whole: false for `all`, true for `any`.
    private static func outlook(_ conditions: [Condition], _ facts: FileFacts, decidedBy deciding: Bool) -> TimedResult
    {
        var parts: [TimedResult] = []
        for condition in conditions {
            let part = condition.outlook(facts)
            // Decides the whole for as long as the file stays the same.
            if part.held == deciding, part.next == nil { return part }
            parts.append(part)
        }
        let decisive = parts.filter { $0.held == deciding }
        if !decisive.isEmpty {
            // The whole cannot change until every deciding part has changed.
            return TimedResult(held: deciding, next: decisive.compactMap(\.next).max())
        }
        let held = parts.contains { $0.held == nil } ? nil : !deciding
        return TimedResult(held: held, next: parts.compactMap(\.next).min())
    }
}

extension RuleSet {
    /// The rules, by identity, that time alone may make match a file as an arrival, and the earliest time for each.
    /// Blocks.
    ///
    /// - Parameters:
    ///   - facts: the file as an arrival. If it has not been opened, its content counts as unknown.
    ///   - matched: names of the rules that have matched it.
    /// - Returns: no entry for a rule that matches already, which is left to the judgement.
    package func upcoming(_ facts: FileFacts, except matched: Set<String>) -> [String: Timestamp] {
        guard hasTime else { return [:] }
        var found: [String: Timestamp] = [:]
        for number in candidates(facts, .arrived) {
            let rule = rules[number]
            let isAwaited = looksAtTime[number] && !matched.contains(rule.name)
            guard isAwaited || rule.then == .stop else { continue }
            var (outlook, now) = (rule.condition.outlook(facts), facts.now)
            if outlook.held == true, mindsClock[number], let safe = facts.sources.heldTime()?.safe {
                outlook = facts.countingAges(to: safe) { rule.condition.outlook(facts) }
                now = min(safe, now)
            }
            // Later rules do not see the file as long as it stays the same.
            if rule.then == .stop, outlook.held == true, outlook.next == nil { break }
            guard isAwaited, outlook.held != true, let next = outlook.next else { continue }
            found[identities[number]] = max(next, now.next)
        }
        return found
    }

    /// Whether time alone may make a rule match a file with this name.
    package func mayBecomeDue(place: String, name: [UInt8]) -> Bool {
        hasTime && index.candidates(place: place, event: .arrived, name: name).contains { looksAtTime[$0] }
    }

    /// Whether a schedule may run a rule over a file with this name.
    package func mayBeScheduled(place: String, name: [UInt8]) -> Bool {
        !index.candidates(place: place, event: .scheduled, name: name).isEmpty
    }

    /// Identities of the rules with timed events in the ledger.
    package var timedIdentities: Set<String> {
        Set(rules.indices.filter { looksAtTime[$0] || !rules[$0].schedules.isEmpty }.map { identities[$0] })
    }
}
