import Ledger
import Logging
import Platform

/// Has rules run when time alone says so: when a file comes to meet a rule's conditions, and at the times of a schedule.
///
/// What is to come lies in the ledger, and one alarm is set to the earliest of it. Between two alarms nothing runs
/// (`docs/design/time.md`).
package actor TimeKeeper {
    private let ledger: Ledger
    private let planner: Planner
    private let inWork: PathsInWork
    private let clock: WallClock
    private let alarm: any WallAlarm
    private let hooks: Hooks
    private let log: Logger

    /// The schedules of rules in force, as the ledger has them.
    private var schedules: [String: (rule: Rule, record: ScheduleRecord)] = [:]
    /// Rules, by identity, of a time of whose schedule not all files are entered yet.
    private var entering: Set<String> = []
    /// Places whose rows are being dealt with.
    private var busy: Set<String> = []
    /// Places that are away, or fail; what is due there waits until the next wake-up, which their return is.
    private var away: Set<String> = []
    /// Rules, by identity, of which it has yet to be told which files they may come to want.
    private var new: Set<String> = []
    private var hasBegun = false
    private var isStopped = false
    private var isAwake = false
    private var isWokenAgain = false

    /// What follows from what is due.
    package struct Hooks: Sendable {
        let submit: @Sendable ([PlannedJob]) async -> Void
        let look: @Sendable (_ place: String, _ path: BytePath) async -> Void

        /// - Parameters:
        ///   - submit: takes jobs that are in the ledger.
        ///   - look: has a file judged that is not as the ledger knows it.
        package init(
            submit: @escaping @Sendable ([PlannedJob]) async -> Void,
            look: @escaping @Sendable (_ place: String, _ path: BytePath) async -> Void
        ) {
            (self.submit, self.look) = (submit, look)
        }
    }

    /// Rows that are read at a time.
    private static let batch = 256
    /// Seconds until a file is asked for again that is at work, or is yet to be judged.
    private static let soon = 30.0
    /// The same where it cannot be read, or the ledger cannot.
    private static let later = 3_600.0

    /// - Parameter alarm: has ``wake()`` called.
    package init(
        ledger: Ledger, planner: Planner, inWork: PathsInWork, alarm: any WallAlarm, hooks: Hooks, log: Logger
    ) {
        (self.ledger, self.planner, self.inWork) = (ledger, planner, inWork)
        (self.alarm, self.hooks, self.log) = (alarm, hooks, log)
        clock = planner.clock
    }

    /// Takes the rules that are in force now, and begins to look after them.
    ///
    /// - Throws: what the ledger does.
    package func rulesChanged() async throws {
        guard !isStopped else { return }
        let ruleSet = planner.ruleSet
        new = try await ledger.write { try $0.registerTimed(ruleSet.timedIdentities) }
        try await adoptSchedules(ruleSet)
        if !hasBegun {
            hasBegun = true
            let alarm = alarm
            ledger.due.listen { alarm.bringForward(to: $0) }
        }
        // Entering the files of a large place takes its time.
        Task { await self.wake() }
    }

    /// Begins nothing more.
    package func stop() {
        isStopped = true
        ledger.due.listen(nil)
        alarm.set(nil)
    }

    /// Whether nothing that is due is being dealt with.
    package var isIdle: Bool { !isAwake && busy.isEmpty }

    /// Deals with all that is due by now, and has itself woken for what is due next. Called when the alarm goes off, when
    /// the clock was set, and when a place may be back.
    package func wake() async {
        guard hasBegun, !isStopped else { return }
        isWokenAgain = true
        if isAwake { return }
        isAwake = true
        while isWokenAgain, !isStopped {
            isWokenAgain = false
            away = []
            do {
                try await reckon()
                try await runSchedules()
                try await deal()
            } catch is CancellationError {
                // It is stopped; the next start goes on.
            } catch {
                log.error("cannot look after what is due, again in half a minute: \(explain(error))")
                alarm.set(clock.now().adding(seconds: Self.soon))
            }
        }
        isAwake = false
    }

    // MARK: What is due

    private func deal() async throws {
        let now = clock.now()
        let names = planner.presence.placeNames
        let found = try await ledger.read { transaction in
            try names.map { ($0, try transaction.nextDue(in: $0, after: now)) }
        }
        for (name, rows) in found where rows.isDue && !busy.contains(name) && !away.contains(name) {
            busy.insert(name)
            Task { await Bulkhead.$current.withValue(.place(name)) { await self.deal(in: name) } }
        }
        let next = found.compactMap(\.1.next) + schedules.values.compactMap(\.record.next)
        if let earliest = next.min() { alarm.bringForward(to: earliest) }
    }

    /// Deals with a place's rows until none is due.
    private func deal(in name: String) async {
        do {
            if let place = planner.presence.place(named: name) {
                while !isStopped, try await dealWithSome(in: place) {}
            }
        } catch is CancellationError {
            away.insert(name)
        } catch {
            let again = clock.now().adding(seconds: Self.soon)
            away.insert(name)
            log.error("what is due in \(name) waits, again in half a minute: \(explain(error))")
            alarm.bringForward(to: again)
        }
        busy.remove(name)
        // What has become due meanwhile, and when the next is.
        guard !isAwake, !isStopped else {
            isWokenAgain = !isStopped
            return
        }
        do {
            try await deal()
        } catch {
            log.error("what is due next is not known, again in half a minute: \(explain(error))")
            alarm.bringForward(to: clock.now().adding(seconds: Self.soon))
        }
    }

    /// - Returns: whether there may be more.
    private func dealWithSome(in place: PlaceInfo) async throws -> Bool {
        let (now, waiting) = (clock.now(), entering)
        let rows = try await ledger.read {
            try $0.due(in: place.name, by: now, except: waiting, limit: Self.batch)
        }
        guard !rows.isEmpty else {
            // What is left belongs to a time of which not all files are entered.
            if !waiting.isEmpty { away.insert(place.name) }
            return false
        }
        let presence = planner.presence
        guard try await presence.lanes.run({ try presence.isHere(place.root) }) else {
            away.insert(place.name)
            return false
        }
        var seen: Set<BytePath> = []
        for row in rows where seen.insert(row.path).inserted {
            if isStopped { return false }
            try await deal(with: row.path, in: place)
        }
        return true
    }

    private func deal(with path: BytePath, in place: PlaceInfo) async throws {
        let (inWork, absolute) = (inWork, place.root.appending(path))
        do {
            switch try await planner.meet(path, in: place, isFree: { !inWork.contains(absolute) }) {
            case .met(let jobs):
                if !jobs.isEmpty { await hooks.submit(jobs) }
            case .unseen:
                try await postpone(path, in: place, by: Self.soon)
                await hooks.look(place.name, path)
            case .again: try await postpone(path, in: place, by: Self.soon)
            }
        } catch let fault as Fault where fault.path != ledger.file {
            let called = ledger.names.called(place.name, path)
            let why = ledger.names.redacted(explain(fault), place.name, root: place.root, path)
            log.warning("\(called) in \(place.name) is due and cannot be read; it is tried again: \(why)")
            try await postpone(path, in: place, by: fault.kind == .transient ? Self.soon : Self.later)
        }
    }

    private func postpone(_ path: BytePath, in place: PlaceInfo, by seconds: Double) async throws {
        let now = clock.now()
        try await ledger.writeSeen {
            try $0.postponeDue(place.name, path, by: now, to: now.adding(seconds: seconds))
        }
    }

    // MARK: Rules that are new

    /// Has it told which files that are there already these rules may come to want.
    private func reckon() async throws {
        let (identities, ruleSet) = (new, planner.ruleSet)
        guard !identities.isEmpty else { return }
        let numbers = ruleSet.rules.indices.filter { ruleSet.looksAtTime[$0] }
        let rules = numbers.filter { identities.contains(ruleSet.identities[$0]) }.map { ruleSet.rules[$0] }
        for place in Set(rules.flatMap(\.places)).sorted(by: { $0.name < $1.name }) {
            let own = RuleIndex(rules.filter { $0.places.contains(place) })
            try await eachFile(of: place) { file, transaction in
                guard !own.candidates(place: place.name, event: .arrived, name: file.path.name).isEmpty else { return }
                try transaction.setUnreckoned(place.name, file.path)
            }
        }
        try await ledger.write { try $0.setReckoned(identities) }
        new.subtract(identities)
    }

    /// Gives all present files of a place, in transactions that let others in between.
    private func eachFile(
        of place: PlaceInfo, _ body: @escaping @Sendable (FileRecord, LedgerTransaction) throws -> Void
    ) async throws {
        var mark: FilePageMark? = FilePageMark()
        while let start = mark, !isStopped {
            mark = try await ledger.writeSeen { transaction in
                let page = try transaction.files(place.name, from: start)
                for file in page.files { try body(file, transaction) }
                return page.next
            }
        }
        if isStopped { throw CancellationError() }
    }

    // MARK: Schedules

    private func adoptSchedules(_ ruleSet: RuleSet) async throws {
        let rules = ruleSet.rules.filter { !$0.schedules.isEmpty }
        let now = clock.now()
        let records = try await ledger.write { transaction -> [ScheduleRecord] in
            try transaction.removeSchedules(except: Set(rules.map(\.name)))
            let known = Dictionary(try transaction.schedules().map { ($0.rule, $0) }) { first, _ in first }
            return try rules.map { rule in
                let spec = rule.schedules.spec
                // A schedule that is another one begins now, and not with what it would have missed.
                var record =
                    known[rule.name].flatMap { $0.spec == spec ? $0 : nil }
                    ?? ScheduleRecord(rule: rule.name, spec: spec, anchor: now)
                record.next = rule.schedules.next(after: record.last, anchor: record.anchor)
                try transaction.setSchedule(record)
                return record
            }
        }
        schedules = [:]
        for (rule, record) in zip(rules, records) { schedules[rule.name] = (rule, record) }
    }

    private func runSchedules() async throws {
        for name in schedules.keys.sorted() {
            guard let (rule, known) = schedules[name] else { continue }
            var record = known
            let now = clock.now()
            // The clock was put back: what it said before was wrong, and the schedule goes by what it says now.
            if record.last > now { record.last = now }
            if record.anchor > now { record.anchor = now }
            if let begun = record.entering {
                try await enter(rule, &record, begun)
            }
            // Of several that were missed the last one stands for all.
            if let due = rule.schedules.latest(upTo: now, anchor: record.anchor), due > record.last {
                try await enter(rule, &record, due)
            }
            record.next = rule.schedules.next(after: max(record.last, now), anchor: record.anchor)
            guard record != known else { continue }
            let updated = record
            try await ledger.write { try $0.setSchedule(updated) }
            if schedules[name]?.rule.digest == rule.digest { schedules[name]?.record = updated }
        }
    }

    /// Enters all files that a place holds for one time of a rule's schedule. Only when all are there the first is dealt
    /// with: what the rule makes of it is not one of them.
    private func enter(_ rule: Rule, _ record: inout ScheduleRecord, _ instant: Timestamp) async throws {
        let identity = planner.ruleSet.identity(of: rule)
        // Until all are there, also where that is cut off by an error.
        entering.insert(identity)
        record.entering = instant
        let begun = record
        try await ledger.write { try $0.setSchedule(begun) }
        schedules[rule.name]?.record = begun
        for place in rule.places {
            let own = RuleIndex([rule])
            try await eachFile(of: place) { file, transaction in
                guard !own.candidates(place: place.name, event: .scheduled, name: file.path.name).isEmpty else {
                    return
                }
                try transaction.setScheduled(place.name, file.path, rule: identity, instant: instant)
            }
        }
        (record.entering, record.last) = (nil, instant)
        let done = record
        try await ledger.write { transaction in
            try transaction.setSchedule(done)
            try transaction.note("schedule", "the rule \"\(rule.name)\" runs for \(instant) (\(rule.schedules.spec))")
        }
        schedules[rule.name]?.record = done
        entering.remove(identity)
    }
}
