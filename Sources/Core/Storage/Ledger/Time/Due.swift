import Platform

/// A time at which one rule may act on one file.
package struct DueRecord: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The rule does not want the file yet; from then on it may.
        case becomes(rule: String)
        /// The rule's schedule runs it over all files at this time.
        case scheduled(rule: String, instant: Timestamp)
        /// The rules that may come to want the file are still to be computed: the row was written by code that knows no
        /// rules. Whatever has become true since then did so through time; nil if an older version wrote the row.
        case unreckoned(since: Timestamp?)
        /// Its rule is no longer in force.
        case orphaned
    }

    package let place: String
    package let path: BytePath
    package let kind: Kind
    /// When the file is looked at.
    package let due: Timestamp

    /// The identity of the rule in force that the row is for.
    package var rule: String? {
        switch kind {
        case .becomes(let rule), .scheduled(let rule, _): rule
        case .unreckoned, .orphaned: nil
        }
    }

    /// Whether it belongs to a schedule of a rule in force.
    package var isScheduled: Bool { if case .scheduled = kind { true } else { false } }

    /// Whether it is still to be computed which rules may come to want the file.
    package var isUnreckoned: Bool { if case .unreckoned = kind { true } else { false } }

    /// The identity of the rule that may come to want the file.
    package var becoming: String? { if case .becomes(let rule) = kind { rule } else { nil } }
}

/// Rows that make rules want files through time alone (`docs/design/time.md`).
extension LedgerTransaction {
    /// The due rows of a file.
    package func due(_ place: String, _ path: BytePath) throws -> [DueRecord] {
        try names.forms(place, path).flatMap { form in
            // `+`: search by the file's name, not by the times of all others in the place.
            try all("\(Self.dueColumns) WHERE place = ? AND path = ? ORDER BY +due", [place, form], shownDue)
        }
    }

    /// The earliest rows of a place that are due by then.
    ///
    /// - Parameters:
    ///   - rules: identities of rules whose scheduled rows are incomplete; those rows wait.
    ///   - minders: identities of rules whose other rows count only if due by an earlier time, `safe`.
    ///   - hidden: whether to include rows of hidden files.
    package func due(
        in place: String, by time: Timestamp, except rules: Set<String> = [], butOnly minders: Set<String> = [],
        by safe: Timestamp? = nil, hidden: Bool = true, limit: Int
    ) throws -> [DueRecord] {
        let (low, high) = (HiddenNames.range.lowerBound, HiddenNames.range.upperBound)
        var (conditions, arguments): (String, [any SQLConvertible]) = ("", [place, time])
        if !rules.isEmpty {
            conditions += " AND NOT (scheduled = 1 AND coalesce(identity, '') IN (\(Self.marks(rules.count))))"
            arguments += rules.sorted().map { $0 as any SQLConvertible }
        }
        if !minders.isEmpty {
            conditions +=
                " AND NOT (due > ? AND scheduled = 0 AND coalesce(identity, '') IN (\(Self.marks(minders.count))))"
            arguments += [safe ?? time] + minders.sorted().map { $0 as any SQLConvertible }
        }
        if !hidden {
            conditions += " AND NOT (path >= ? AND path < ?)"
            arguments += [low, high] as [any SQLConvertible]
        }
        return try all(
            "\(Self.dueColumns) WHERE place = ? AND due <= ?\(conditions) ORDER BY due LIMIT ?", arguments + [limit],
            shownDue)
    }

    /// When the next row of a place that is not yet due will be, and whether one is due already.
    package func nextDue(in place: String, after time: Timestamp) throws -> (next: Timestamp?, isDue: Bool) {
        let next: Timestamp? = try value(
            "SELECT due FROM due WHERE place = ? AND due > ? ORDER BY due LIMIT 1", [place, time])
        return (next, try exists("SELECT 1 FROM due WHERE place = ? AND due <= ? LIMIT 1", [place, time]))
    }

    /// The earliest rows of one place or all, for display: those that wait for a rule in force.
    package func comingDue(in place: String? = nil, limit: Int) throws -> [DueRecord] {
        let places = try place.map { [$0] } ?? values("SELECT name FROM place ORDER BY name")
        let rows = try places.flatMap { place in
            try all(
                "\(Self.dueColumns) WHERE place = ? AND timedRule.id IS NOT NULL ORDER BY due LIMIT ?",
                [place, limit], shownDue)
        }
        return Array(rows.sorted { ($0.due, $0.path) < ($1.due, $1.path) }.prefix(limit))
    }

    private static let dueColumns = """
        SELECT due.place, due.path, due.due, due.instant, due.rule, timedRule.identity
            FROM due LEFT JOIN timedRule ON timedRule.id = due.rule
        """

    /// When the next row or schedule of any place is due; for display.
    package func nextDue() throws -> Timestamp? {
        let next = try schedules().compactMap(\.next)
        return (try comingDue(limit: 1).map(\.due) + next).min()
    }

    private func shownDue(_ row: any SQLRow) throws -> DueRecord {
        let place: String = try row["place"]
        let instant: Int64 = try row["instant"]
        let rule: Int64 = try row["rule"]
        let identity: String? = try row["identity"]
        let kind: DueRecord.Kind =
            if rule == Self.unreckoned {
                .unreckoned(since: instant == Self.noInstant ? nil : Timestamp(nanoseconds: instant))
            } else if let identity {
                instant == Self.noInstant
                    ? .becomes(rule: identity)
                    : .scheduled(rule: identity, instant: Timestamp(nanoseconds: instant))
            } else {
                .orphaned
            }
        return DueRecord(
            place: place, path: names.shown(place, try row["path"]), kind: kind, due: try row["due"])
    }

    /// Means no rule; rule ids begin at 1. `instant` is then the time since when a condition that became true did so
    /// through time.
    private static let unreckoned: Int64 = 0
    /// For a row without a schedule, or without a known start.
    private static let noInstant: Int64 = .min

    // MARK: Entering

    /// Stores which rules, by identity, may come to want a file and when; replaces earlier entries.
    package func setDue(_ place: String, _ path: BytePath, _ times: [String: Timestamp]) throws {
        for form in try names.forms(place, path) {
            try execute(
                "DELETE FROM due WHERE place = ? AND path = ? AND scheduled = 0", [place, form])
        }
        for (identity, time) in times.sorted(by: { $0.key < $1.key }) {
            try insertDue(place, path, rule: try timedRule(identity), time, instant: nil)
        }
    }

    /// Marks a file for computing again which rules may come to want it; does nothing if its name rules that out.
    ///
    /// - Parameter since: whatever has become true since then did so through time; nil or a future time means now. If
    ///   set repeatedly, the earliest wins until it is computed.
    package func setUnreckoned(_ place: String, _ path: BytePath, since: Timestamp? = nil) throws {
        guard let notice, notice.expects(place, path) else { return }
        let now = notice.now
        // Due at once, on any clock.
        let due = Timestamp(nanoseconds: 0)
        try execute(
            """
            INSERT INTO due (place, path, rule, scheduled, due, instant) VALUES (?, ?, ?, 0, ?, ?)
                ON CONFLICT (place, path, rule, scheduled) DO UPDATE SET due = excluded.due,
                instant = CASE WHEN due.instant = ? OR due.instant > excluded.instant
                    THEN excluded.instant ELSE due.instant END
            """,
            [
                place, try names.stored(place, path), Self.unreckoned, due, min(since ?? now, now),
                Self.noInstant,
            ])
        notice.note(due)
    }

    /// Restores the due rows of a file that got another name, or another version, without being judged.
    ///
    /// - Parameter rows: as returned by ``due(_:_:)``.
    package func keepDue(_ rows: [DueRecord], _ place: String, _ path: BytePath) throws {
        for row in rows {
            switch row.kind {
            case .becomes(let rule): try insertDue(place, path, rule: try timedRule(rule), row.due, instant: nil)
            case .scheduled(let rule, let instant):
                try insertDue(place, path, rule: try timedRule(rule), row.due, instant: instant)
            case .unreckoned(let since?): try setUnreckoned(place, path, since: since)
            case .unreckoned, .orphaned: break
            }
        }
    }

    /// Schedules a rule's run on a file, replacing an earlier run that did not happen.
    package func setScheduled(_ place: String, _ path: BytePath, rule identity: String, instant: Timestamp) throws {
        try insertDue(place, path, rule: try timedRule(identity), instant, instant: instant)
    }

    private static let dueUpsert = upsert("due", key: ["place", "path", "rule", "scheduled"], ["due", "instant"])

    private func insertDue(
        _ place: String, _ path: BytePath, rule: Int64, _ time: Timestamp, instant: Timestamp?
    ) throws {
        try execute(
            Self.dueUpsert,
            [
                place, try names.stored(place, path), rule, instant != nil, time,
                instant?.nanoseconds ?? Self.noInstant,
            ])
        notice?.note(time)
    }

    /// Postpones all rows of a file that are due by then.
    package func postponeDue(_ place: String, _ path: BytePath, by time: Timestamp, to later: Timestamp) throws {
        for form in try names.forms(place, path) {
            try execute(
                "UPDATE due SET due = ? WHERE place = ? AND path = ? AND +due <= ?",
                [later, place, form, time])
        }
    }

    /// Deletes a file's scheduled rows that are due by then.
    package func removeScheduled(_ place: String, _ path: BytePath, by time: Timestamp) throws {
        for form in try names.forms(place, path) {
            try execute(
                "DELETE FROM due WHERE place = ? AND path = ? AND scheduled = 1 AND +due <= ?",
                [place, form, time])
        }
    }

    /// Deletes all due rows of a file.
    package func removeDue(_ place: String, _ path: BytePath) throws {
        for form in try names.forms(place, path) {
            try execute("DELETE FROM due WHERE place = ? AND path = ?", [place, form])
        }
    }

    /// Moves the scheduled rows of a renamed file; its other rows follow from the judgement.
    package func moveScheduled(_ place: String, _ path: BytePath, to new: BytePath) throws {
        let target = try names.stored(place, new)
        for form in try names.forms(place, path) where form != target {
            // Replace what was there under the new name.
            try execute(
                """
                DELETE FROM due WHERE place = ? AND path = ? AND scheduled = 1
                    AND rule IN (SELECT rule FROM due WHERE place = ? AND path = ? AND scheduled = 1)
                """, [place, target, place, form])
            try execute(
                "UPDATE due SET path = ? WHERE place = ? AND path = ? AND scheduled = 1", [target, place, form])
        }
    }

    /// Whether a schedule may run a rule over a file of this name.
    package func mayBeScheduled(_ place: String, _ path: BytePath) -> Bool {
        notice?.expectsSchedule(place, path) ?? false
    }

    // MARK: Rules

    /// Whether a rule of this identity is in force and depends on time.
    package func isTimed(_ identity: String) throws -> Bool {
        try exists("SELECT 1 FROM timedRule WHERE identity = ?", [identity])
    }

    /// The identities of the rules in force that depend on time.
    package func timedIdentities() throws -> Set<String> {
        try Set(values("SELECT identity FROM timedRule"))
    }

    /// A rule was edited without changing its schedule: its scheduled rows move to the new identity. Which files the
    /// new version may come to want is still to be computed.
    package func renameTimed(_ old: String, to new: String) throws {
        guard try !isTimed(new), try isTimed(old) else { return }
        let id = try timedRule(old)
        try execute("UPDATE timedRule SET identity = ?, isReckoned = 0 WHERE id = ?", [new, id])
        try execute("DELETE FROM due WHERE rule = ? AND scheduled = 0", [id])
    }

    private func timedRule(_ identity: String) throws -> Int64 {
        if let id: Int64 = try value("SELECT id FROM timedRule WHERE identity = ?", [identity]) { return id }
        return try inserted("INSERT INTO timedRule (identity) VALUES (?) RETURNING id", [identity])
    }

    /// Records which rules in force depend on time; rows of others become orphaned.
    ///
    /// - Parameter since: when the new ones came into force; nil if unknown.
    /// - Returns: the rules for which it is still to be computed which files they may come to want.
    package func registerTimed(_ identities: Set<String>, since: Timestamp? = nil) throws -> Set<String> {
        for identity in identities { _ = try timedRule(identity) }
        for known in try timedIdentities() where !identities.contains(known) {
            try execute("DELETE FROM timedRule WHERE identity = ?", [known])
        }
        let unreckoned: Set<String> = try Set(values("SELECT identity FROM timedRule WHERE isReckoned = 0"))
        let begun = try timedSince()
        for identity in begun.keys where !identities.contains(identity) {
            try setMeta(Self.timedKey + identity, nil)
        }
        if let since {
            for identity in unreckoned where begun[identity] == nil {
                try setMeta(Self.timedKey + identity, String(since.nanoseconds))
            }
        }
        return unreckoned
    }

    /// Since when time-dependent rules have been in force, by identity, without those for which that is unknown.
    package func timedSince() throws -> [String: Timestamp] {
        // `;` is the character after `:`.
        let rows = try all("SELECT key, value FROM meta WHERE key >= 'timed:' AND key < 'timed;'", []) { row in
            try (key: row["key"] as String, time: Int64(row["value"] as String))
        }
        return rows.reduce(into: [:]) { found, row in
            guard let time = row.time else { return }
            found[String(row.key.dropFirst(Self.timedKey.count))] = Timestamp(nanoseconds: time)
        }
    }

    /// The prefix of these settings' keys.
    private static let timedKey = "timed:"

    /// Records that all files of a place have been evaluated for these rules.
    package func setReckoned(_ identities: Set<String>) throws {
        for identity in identities {
            try execute("UPDATE timedRule SET isReckoned = 1 WHERE identity = ?", [identity])
        }
    }
}
