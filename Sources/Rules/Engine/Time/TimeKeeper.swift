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
    /// The one that is being entered just now.
    private var entered: String?
    /// Rules, by identity, of which it has yet to be told which files they may come to want.
    private var new: Set<String> = []
    private var hasBegun = false
    private var isStopped = false
    private var turns = Turns<Work>()

    private enum Work: Hashable {
        /// Rules that are new, and schedules.
        case rules
        /// What is due in a place. One that is away, or fails, waits until the next wake-up, which its return is.
        case place(String)
    }

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
        let (ruleSet, since) = (planner.inForce.ruleSet, planner.inForce.since)
        try await adopt(ruleSet, since)
        try await forgetProducts()
        if !hasBegun {
            hasBegun = true
            let alarm = alarm
            ledger.due.listen { alarm.bringForward(to: $0) }
        }
        // Entering the files of a large place takes its time.
        wake()
    }

    /// In transactions that let others in between.
    private func forgetProducts() async throws {
        var mark: BytePath? = ""
        let places = planner.presence.places
        while let start = mark, !isStopped {
            mark = try await ledger.writeSeen { transaction in
                try transaction.forgetJudgedProducts(after: start) { path in
                    places.locate(path).map { ($0.place.name, $0.path) }
                }
            }
        }
    }

    /// Begins nothing more.
    package func stop() {
        isStopped = true
        ledger.due.listen(nil)
        alarm.set(nil)
    }

    /// Whether nothing that is due is being dealt with.
    package var isIdle: Bool { !turns.isAnyAtWork }

    /// Has all that is due by now dealt with, and itself woken for what is due next. Called when the alarm goes off, when
    /// the clock was set, and when a place may be back.
    package func wake() {
        if hasBegun { ask(.rules, .now) }
    }

    private func ask(_ work: Work, _ asked: Turns<Work>.Asked) {
        if !isStopped, turns.ask(work, asked) { begin(work) }
    }

    private func begin(_ work: Work) {
        turns.begin(work)
        Task {
            let end: Turns<Work>.End
            switch work {
            case .rules: end = await lookAfterRules()
            case .place(let name): end = await Bulkhead.$current.withValue(.place(name)) { await deal(in: name) }
            }
            if turns.ended(work, end, .now), !isStopped { begin(work) }
        }
    }

    private func lookAfterRules() async -> Turns<Work>.End {
        do {
            try await reckon()
            try await runSchedules()
            // What a place was found to wait for may be over.
            try await survey(.now)
        } catch is CancellationError {
            // It is stopped; the next start goes on.
        } catch {
            again("cannot look after what is due", error)
        }
        return .done
    }

    private func again(_ problem: String, _ error: any Error) {
        log.error("\(problem), again in half a minute: \(explain(error))")
        alarm.bringForward(to: clock.now().adding(seconds: Self.soon))
    }

    // MARK: What is due

    /// Asks for the places where something is due, and sets the alarm for what is due next.
    private func survey(_ asked: Turns<Work>.Asked) async throws {
        let now = clock.now()
        let names = planner.presence.placeNames
        let found = try await ledger.read { transaction in
            try names.map { ($0, try transaction.nextDue(in: $0, after: now)) }
        }
        for (name, rows) in found where rows.isDue { ask(.place(name), asked) }
        // What is held back is looked at when the clock is confirmed; when it is set, that wakes as well.
        let next =
            found.compactMap(\.1.next) + schedules.values.compactMap(\.record.next)
            + [clock.held()?.next].compactMap(\.self)
        if let earliest = next.min() { alarm.bringForward(to: earliest) }
    }

    /// Deals with a place's rows until none is due.
    private func deal(in name: String) async -> Turns<Work>.End {
        var end = Turns<Work>.End.done
        do {
            if let place = planner.presence.place(named: name) {
                repeat { end = try await dealWithSome(in: place) } while end == .again && !isStopped
            }
        } catch is CancellationError {
            end = .waitForWord
        } catch {
            end = .waitForWord
            again("what is due in \(name) waits", error)
        }
        // What has become due meanwhile, and when the next is.
        do {
            if !isStopped { try await survey(.afterWait) }
        } catch {
            again("what is due next is not known", error)
        }
        return end
    }

    private func dealWithSome(in place: PlaceInfo) async throws -> Turns<Work>.End {
        let (now, waiting) = (clock.now(), entering)
        // What is due may be for files that are known by their tokens alone: those wait, and hold up no others.
        let isLearned = ledger.names.isLearned(place.name)
        // What a clock may have brought about that is wrong waits, and holds up nothing else either.
        let (safe, minders) = clock.held().map { ($0.safe, planner.ruleSet.clockMinders) } ?? (now, [])
        let found = try await ledger.read {
            try $0.due(
                in: place.name, by: now, except: waiting, butOnly: minders, by: safe, hidden: isLearned,
                limit: Self.batch)
        }
        // A rule may have been edited meanwhile, and its files are being entered for it as it is now.
        let rows = found.filter { row in
            guard case .scheduled(let rule, _) = row.kind else { return true }
            return !entering.contains(rule)
        }
        guard !rows.isEmpty else {
            // What is left belongs to a time of which not all files are entered, or to those.
            return waiting.isEmpty && entering.isEmpty && isLearned && safe >= now ? .done : .waitForWord
        }
        let presence = planner.presence
        guard try await presence.lanes.run({ try presence.isHere(place.root) }) else {
            return .waitForWord
        }
        var seen: Set<BytePath> = []
        for row in rows where seen.insert(row.path).inserted {
            if isStopped { return .done }
            try await deal(with: row.path, in: place)
        }
        return .again
    }

    private func deal(with path: BytePath, in place: PlaceInfo) async throws {
        let (inWork, absolute) = (inWork, place.root.appending(path))
        do {
            switch try await planner.judgeDue(path, in: place, isFree: { !inWork.contains(absolute) }) {
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
        let begun = try await ledger.read { try $0.timedSince() }
        // However long it takes to come to a file. A rule that is newer counts from when it came into force itself.
        let since = identities.compactMap { begun[$0] }.min()
        let numbers = ruleSet.rules.indices.filter { ruleSet.looksAtTime[$0] }
        let rules = numbers.filter { identities.contains(ruleSet.identities[$0]) }.map { ruleSet.rules[$0] }
        for place in Set(rules.flatMap(\.places)).sorted(by: { $0.name < $1.name }) {
            let own = RuleIndex(rules.filter { $0.places.contains(place) })
            _ = try await eachFile(of: place) { file, transaction in
                guard !own.candidates(place: place.name, event: .arrived, name: file.path.name).isEmpty else { return }
                try transaction.setUnreckoned(place.name, file.path, since: since)
            }
        }
        try await ledger.write { try $0.setReckoned(identities) }
        new.subtract(identities)
    }

    /// Gives all present files of a place, in transactions that let others in between.
    ///
    /// - Parameter identity: of the rule that it is done for.
    /// - Returns: false where that rule is not in force any more; the rest is left out then.
    private func eachFile(
        of place: PlaceInfo, for identity: String? = nil,
        _ body: @escaping @Sendable (FileRecord, LedgerTransaction) throws -> Void
    ) async throws -> Bool {
        var mark: FilePageMark? = FilePageMark()
        while let start = mark, !isStopped {
            let (next, isInForce) = try await ledger.writeSeen { transaction -> (FilePageMark?, Bool) in
                if let identity, try !transaction.isTimed(identity) { return (nil, false) }
                let page = try transaction.files(place.name, from: start)
                for file in page.files { try body(file, transaction) }
                return (page.next, true)
            }
            guard isInForce else { return false }
            mark = next
        }
        if isStopped { throw CancellationError() }
        return true
    }

    // MARK: Schedules

    private func adopt(_ ruleSet: RuleSet, _ since: Timestamp) async throws {
        let rules = ruleSet.rules.filter { !$0.schedules.isEmpty }
        let now = clock.now()
        // From the moment on at which the ledger has the rules: what is being entered goes on to be, for the rule as it is now.
        let begun = Set(entering.map(RuleSet.name(inIdentity:)))
        entering.formUnion(rules.filter { begun.contains($0.name) }.map(ruleSet.identity))
        let (records, unreckoned) = try await ledger.write { transaction -> ([ScheduleRecord], Set<String>) in
            try transaction.removeSchedules(except: Set(rules.map(\.name)))
            let known = Dictionary(try transaction.schedules().map { ($0.rule, $0) }) { first, _ in first }
            let identities = try transaction.timedIdentities()
            let records = try rules.map { rule in
                let spec = rule.schedules.spec
                // A schedule that is another one begins now, and not with what it would have missed.
                var record = ScheduleRecord(rule: rule.name, spec: spec, anchor: now)
                if let same = known[rule.name], same.spec == spec {
                    record = same
                    for old in identities where RuleSet.name(inIdentity: old) == rule.name {
                        try transaction.renameTimed(old, to: ruleSet.identity(of: rule))
                    }
                }
                record.next = rule.schedules.next(after: record.reached(by: now), anchor: record.anchor)
                try transaction.setSchedule(record)
                return record
            }
            return (records, try transaction.registerTimed(ruleSet.timedIdentities, since: since))
        }
        new = unreckoned
        schedules = [:]
        for (rule, record) in zip(rules, records) { schedules[rule.name] = (rule, record) }
        entering = Set(zip(rules, records).filter { $1.entering != nil }.map { ruleSet.identity(of: $0.0) })
        if let entered { entering.insert(entered) }
    }

    private func runSchedules() async throws {
        for name in schedules.keys.sorted() {
            guard let rule = schedules[name]?.rule,
                let known = try await ledger.read({ try $0.schedule(of: name) }), known.spec == rule.schedules.spec
            else { continue }
            var record = known
            let now = clock.now()
            // Where the clock was put back, the schedule goes by what it says now.
            record.note(clock: now)
            if let begun = record.entering {
                guard try await enter(rule, &record, begun) else { continue }
            }
            // Of several that were missed the last one stands for all.
            if let due = rule.schedules.latest(upTo: now, anchor: record.anchor), due > record.reached(by: now) {
                guard try await enter(rule, &record, due) else { continue }
            }
            record.next = rule.schedules.next(after: now, anchor: record.anchor)
            if record != known { _ = try await keep(record, of: rule) }
        }
    }

    /// Enters all files that a place holds for one time of a rule's schedule. Only when all are there the first is dealt
    /// with: what the rule makes of it is not one of them.
    ///
    /// - Returns: false where the rule was edited meanwhile. The rule as it is now is entered instead.
    private func enter(_ rule: Rule, _ record: inout ScheduleRecord, _ instant: Timestamp) async throws -> Bool {
        let identity = planner.ruleSet.identity(of: rule)
        // Until all are there, also where that is cut off by an error.
        entering.insert(identity)
        entered = identity
        defer { entered = nil }
        record.entering = instant
        var isInForce = try await keep(record, of: rule)
        for place in rule.places where isInForce {
            let own = RuleIndex([rule])
            isInForce = try await eachFile(of: place, for: identity) { file, transaction in
                guard !own.candidates(place: place.name, event: .scheduled, name: file.path.name).isEmpty else {
                    return
                }
                try transaction.setScheduled(place.name, file.path, rule: identity, instant: instant)
            }
        }
        record.entering = nil
        record.deal(with: instant)
        if isInForce {
            isInForce = try await keep(
                record, of: rule, noting: "the rule \"\(rule.name)\" runs for \(instant) (\(rule.schedules.spec))")
        }
        entering.remove(identity)
        return isInForce
    }

    /// - Returns: false where the rule was edited meanwhile: what the ledger has is of the rule as it is now, and stays.
    private func keep(_ record: ScheduleRecord, of rule: Rule, noting line: String? = nil) async throws -> Bool {
        let identity = planner.ruleSet.identity(of: rule)
        let isKept = try await ledger.write { transaction in
            guard try transaction.isTimed(identity), try transaction.schedule(of: rule.name)?.spec == record.spec else {
                return false
            }
            try transaction.setSchedule(record)
            if let line { try transaction.note("schedule", line) }
            return true
        }
        if isKept, schedules[rule.name]?.rule.digest == rule.digest { schedules[rule.name]?.record = record }
        return isKept
    }
}
