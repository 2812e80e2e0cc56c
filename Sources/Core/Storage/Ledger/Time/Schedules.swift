import Platform

/// What the ledger knows of a rule that runs by a schedule.
package struct ScheduleRecord: Sendable, Equatable {
    /// The rule's name.
    package let rule: String
    /// What the rule says: another schedule begins anew.
    package var spec: String
    /// When the schedule was first seen: an interval counts from here.
    package var anchor: Timestamp
    /// The last time of the schedule that is dealt with, by whatever clock.
    package var last: Timestamp
    /// The same by a clock that says less than `last`; nil where it says more.
    package var low: Timestamp?
    /// The next one, for people.
    package var next: Timestamp?
    /// The time for which files are being entered.
    package var entering: Timestamp?

    package init(rule: String, spec: String, anchor: Timestamp) {
        self.rule = rule
        self.spec = spec
        self.anchor = anchor
        last = anchor
    }

    /// Up to where it is dealt with, for a clock that says `now`. Where that was put back behind ``last``, the times to come
    /// are by what it says since; what was dealt with is no more to come when it is set right.
    package func reached(by now: Timestamp) -> Timestamp { last <= now ? last : min(low ?? now, now) }

    /// Notes what the clock says.
    package mutating func note(clock now: Timestamp) { low = last <= now ? nil : reached(by: now) }

    /// Notes that a time is dealt with.
    package mutating func deal(with instant: Timestamp) {
        if instant < last { low = instant } else { last = instant }
    }
}

extension LedgerTransaction {
    /// By the rules' names.
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

    /// Forgets the schedules of rules that have none any more.
    package func removeSchedules(except rules: Set<String>) throws {
        for known: String in try values("SELECT rule FROM schedule") where !rules.contains(known) {
            try execute("DELETE FROM schedule WHERE rule = ?", [known])
        }
    }
}
