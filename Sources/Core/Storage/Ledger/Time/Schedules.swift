import Platform

/// What the ledger knows about a rule with a schedule.
package struct ScheduleRecord: Sendable, Equatable {
    /// The rule's name.
    package let rule: String
    /// The rule's schedule as text; a different one starts over.
    package var spec: String
    /// When the schedule was first seen; intervals count from here.
    package var anchor: Timestamp
    /// The last handled time of the schedule, on any clock.
    package var last: Timestamp
    /// The last handled time on a clock that is behind `last`; nil if the clock is past it.
    package var low: Timestamp?
    /// The next time, for display.
    package var next: Timestamp?
    /// The time for which files are being entered.
    package var entering: Timestamp?

    package init(rule: String, spec: String, anchor: Timestamp) {
        self.rule = rule
        self.spec = spec
        self.anchor = anchor
        last = anchor
    }

    /// Up to when the schedule is handled, for a clock that reads `now`. If the clock was set back behind ``last``,
    /// further times follow the new reading; times already handled do not recur when it is corrected.
    package func reached(by now: Timestamp) -> Timestamp { last <= now ? last : min(low ?? now, now) }

    /// Records the clock's reading.
    package mutating func note(clock now: Timestamp) { low = last <= now ? nil : reached(by: now) }

    /// Records that a time is handled.
    package mutating func deal(with instant: Timestamp) {
        if instant < last { low = instant } else { last = instant }
    }
}

extension LedgerTransaction {
    /// By rule name.
    package func schedules() throws -> [ScheduleRecord] {
        try all("SELECT * FROM schedule ORDER BY rule", [], Self.shownSchedule)
    }

    package func schedule(of rule: String) throws -> ScheduleRecord? {
        try first("SELECT * FROM schedule WHERE rule = ?", [rule], Self.shownSchedule)
    }

    private static func shownSchedule(_ row: any SQLRow) throws -> ScheduleRecord {
        var record = try ScheduleRecord(rule: row["rule"], spec: row["spec"], anchor: row["anchor"])
        record.last = try row["last"]
        record.next = try row["next"]
        record.low = try row["low"]
        record.entering = try row["entering"]
        return record
    }

    private static let scheduleUpsert = upsert(
        "schedule", key: ["rule"], ["spec", "anchor", "last", "low", "next", "entering"])

    package func setSchedule(_ record: ScheduleRecord) throws {
        try execute(
            Self.scheduleUpsert,
            [
                record.rule, record.spec, record.anchor, record.last, record.low, record.next, record.entering,
            ])
    }

    /// Deletes the schedules of rules that no longer have one.
    package func removeSchedules(except rules: Set<String>) throws {
        for known: String in try values("SELECT rule FROM schedule") where !rules.contains(known) {
            try execute("DELETE FROM schedule WHERE rule = ?", [known])
        }
    }
}
