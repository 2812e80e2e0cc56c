import Platform

/// What a condition says now, and until when that cannot change by time alone.
package struct TimedResult: Sendable, Equatable {
    /// Nil where it cannot be decided without reading the file.
    package let held: Bool?
    /// Not before this can time alone change it; nil for never.
    package let next: Timestamp?

    /// At any moment, as far as is known.
    static let atAnyMoment = Timestamp(nanoseconds: .min)
}

extension Condition {
    /// Whether time plays a part in it.
    package var looksAtTime: Bool {
        switch self {
        case .test(let test): test.nextChange != nil
        case .all(let parts), .any(let parts): parts.contains(where: \.looksAtTime)
        case .not(let part): part.looksAtTime
        }
    }

    /// Whether the file's age plays a part in it.
    var countsAge: Bool {
        switch self {
        case .test(let test): test.countsAge
        case .all(let parts), .any(let parts): parts.contains(where: \.countsAge)
        case .not(let part): part.countsAge
        }
    }

    /// What it says now, and the earliest time at which that may change though the file stays as it is. A file that cannot
    /// match for another reason, such as its name, has no such time. Blocks.
    package func outlook(_ facts: FileFacts) -> TimedResult {
        switch self {
        case .test(let test):
            do {
                return TimedResult(held: try test.check(facts, nil).held, next: try test.nextChange?(facts))
            } catch {
                // The times that it asks for are in the file.
                return TimedResult(held: nil, next: test.nextChange == nil ? nil : TimedResult.atAnyMoment)
            }
        case .all(let parts): return Self.outlook(parts, facts, decidedBy: false)
        case .any(let parts): return Self.outlook(parts, facts, decidedBy: true)
        case .not(let part):
            let inner = part.outlook(facts)
            return TimedResult(held: inner.held.map { !$0 }, next: inner.next)
        }
    }

    /// - Parameter deciding: the answer of one part that is the answer of the whole: false for `all`, true for `any`.
    private static func outlook(_ conditions: [Condition], _ facts: FileFacts, decidedBy deciding: Bool) -> TimedResult
    {
        var parts: [TimedResult] = []
        for condition in conditions {
            let part = condition.outlook(facts)
            // For as long as the file is as it is, whatever the others say.
            if part.held == deciding, part.next == nil { return part }
            parts.append(part)
        }
        let decisive = parts.filter { $0.held == deciding }
        if !decisive.isEmpty {
            // Each of them has to change before the whole can.
            return TimedResult(held: deciding, next: decisive.compactMap(\.next).max())
        }
        let held = parts.contains { $0.held == nil } ? nil : !deciding
        return TimedResult(held: held, next: parts.compactMap(\.next).min())
    }
}

extension RuleSet {
    /// The rules, by identity, that may come to want a file as an arrival by time alone, and not before when. Blocks.
    ///
    /// - Parameters:
    ///   - facts: of an arrival; of a file that has not been opened, what is in it counts as anything.
    ///   - matched: the rules, by name, that have wanted it.
    /// - Returns: none for a rule that wants it already: that is for the judgement to see.
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
            // No rule behind it sees the file, for as long as the file is as it is.
            if rule.then == .stop, outlook.held == true, outlook.next == nil { break }
            guard isAwaited, outlook.held != true, let next = outlook.next else { continue }
            found[identities[number]] = max(next, now.next)
        }
        return found
    }

    /// Whether a rule may come to want a file of this name by time alone.
    package func mayBecomeDue(place: String, name: [UInt8]) -> Bool {
        hasTime && index.candidates(place: place, event: .arrived, name: name).contains { looksAtTime[$0] }
    }

    /// Whether a schedule may run a rule over a file of this name.
    package func mayBeScheduled(place: String, name: [UInt8]) -> Bool {
        !index.candidates(place: place, event: .scheduled, name: name).isEmpty
    }

    /// The rules, by identity, of which the ledger keeps what comes with time.
    package var timedIdentities: Set<String> {
        Set(rules.indices.filter { looksAtTime[$0] || !rules[$0].schedules.isEmpty }.map { identities[$0] })
    }
}
