import Foundation
import Ledger
import Platform
import Rules

/// `steward due`: what will become due by time alone, the earliest first.
package struct ShowDue: Query {
    package static let name = "due"
    /// The place's name; nil for all places, and schedules.
    private let place: String?
    private let limit: Int

    package init(place: String?, limit: Int) { (self.place, self.limit) = (place, limit) }

    package func read(_ records: Records) async throws -> DueReport {
        let configuration = try records.requireConfiguration()
        if let place, configuration.map[name: place] == nil {
            let names = configuration.map.places.map(\.name).joined(separator: ", ")
            throw Fault(.usage, "no place is called \"\(place)\"; there are \(names)")
        }
        return try await .of(
            records.requireLedger(), place: place, limit: limit, timeZone: configuration.timeZone)
    }

    package func lines(_ answer: DueReport) -> [String] {
        answer.entries.isEmpty ? ["nothing is due"] : answer.entries.map(\.line)
    }
}

/// The answer of ``ShowDue``.
package struct DueReport: Codable, Sendable {
    package struct Entry: Codable, Sendable {
        /// The earliest time.
        package let due: Timestamp
        /// The same in the agent's time zone.
        package let local: String
        package let rule: String
        /// nil for a time of the rule's schedule, which is about all files of its places.
        package let place: String?
        /// Relative to the place; a hidden file by its abbreviated token.
        package let file: String?
        /// The schedule as the rule states it.
        package let schedule: String?

        /// For the terminal.
        var line: String {
            guard let place, let file else {
                return "\(local)  \(rule): all its files (\(schedule ?? "by its schedule"))"
            }
            return "\(local)  \(rule): \(place)/\(file)"
        }
    }

    package let entries: [Entry]

    /// - Parameter timeZone: the zone in which times are shown.
    fileprivate static func of(
        _ ledger: Ledger, place: String?, limit: Int, timeZone: Zone
    ) async throws -> DueReport {
        let names = ledger.names
        let (rows, schedules) = try await ledger.read { transaction in
            try (
                transaction.comingDue(in: place, limit: limit),
                place == nil ? transaction.schedules() : []
            )
        }
        let files = rows.compactMap { row -> Entry? in
            guard let rule = row.rule else { return nil }
            return Entry(
                due: row.due, local: shown(row.due, timeZone), rule: RuleSet.name(inIdentity: rule), place: row.place,
                file: names.called(row.place, row.path), schedule: nil)
        }
        let times = schedules.compactMap { schedule -> Entry? in
            guard let next = schedule.next else { return nil }
            return Entry(
                due: next, local: shown(next, timeZone), rule: schedule.rule, place: nil, file: nil,
                schedule: schedule.spec)
        }
        let all = (files + times).sorted { ($0.due, $0.rule) < ($1.due, $1.rule) }
        return DueReport(entries: Array(all.prefix(limit)))
    }

    /// Formatted for people, in their own zone.
    static func shown(_ time: Timestamp, _ timeZone: Zone) -> String {
        DateFormat("%F %T %z", timeZone: timeZone).string(time)
    }
}

/// When a rule may start to match a file, in `steward explain`.
package struct ComingRule: Codable, Sendable {
    package let rule: String
    /// The earliest time.
    package let due: Timestamp
    /// The same in the agent's time zone.
    package let local: String
    /// The rule's schedule; nil if the file will meet its conditions.
    package let schedule: String?
    /// Why that schedule skips the file, so that ``due`` has no effect; nil if it does not.
    package let passedOver: String?

    /// By the rules in force, whether or not an agent is running. Blocks.
    ///
    /// - Parameters:
    ///   - facts: the file as it is now.
    ///   - known: the ledger's record of it.
    ///   - schedules: the ledger's records of schedules.
    ///   - passedOver: why a rule's schedule skips the file, by rule.
    static func of(
        _ facts: FileFacts, _ ruleSet: RuleSet, known: FileRecord?, schedules: [ScheduleRecord],
        passedOver: [String: String], _ timeZone: Zone
    ) -> [ComingRule] {
        let matched = known?.present == true ? known?.matched?.rules ?? [] : []
        var found = ruleSet.upcoming(facts, except: matched).map { identity, due in
            ComingRule(
                rule: RuleSet.name(inIdentity: identity), due: due, local: DueReport.shown(due, timeZone),
                schedule: nil, passedOver: nil)
        }
        for rule in ruleSet.rules where !rule.schedules.isEmpty && rule.places.contains(facts.place) {
            let record = schedules.first { $0.rule == rule.name && $0.spec == rule.schedules.spec }
            let next = rule.schedules.next(after: facts.now, anchor: record?.anchor ?? facts.now)
            guard let next else { continue }
            found.append(
                ComingRule(
                    rule: rule.name, due: next, local: DueReport.shown(next, timeZone), schedule: rule.schedules.spec,
                    passedOver: passedOver[rule.name]))
        }
        return found.sorted { ($0.due, $0.rule) < ($1.due, $1.rule) }
    }

    /// For the terminal.
    var line: String {
        guard let schedule else { return "\(rule): may come to want it \(local), if it stays as it is" }
        if let passedOver { return "\(rule): passes it over at each of its times, as \(passedOver) (\(schedule))" }
        return "\(rule): runs next \(local), if its conditions hold then (\(schedule))"
    }
}
