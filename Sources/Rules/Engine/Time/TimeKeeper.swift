import Ledger
import Logging
import Platform

/// Runs rules at times: when a file comes to meet a rule's conditions by time alone, and on schedules.
///
/// The pending times are in the ledger, and one alarm is set to the earliest. Nothing runs between alarms
/// (`docs/design/time.md`).
package actor TimeKeeper {
    private let ledger: Ledger
    private let planner: Planner
    private let inWork: PathsInWork
    private let clock: WallClock
    private let alarm: any WallAlarm
    private let hooks: Hooks
    private let log: Logger

    /// The schedules of the rules in force, with their ledger rows.
    private var schedules: [String: (rule: Rule, record: ScheduleRecord)] = [:]
    /// Identities of rules whose rows for a schedule time are still being added.
    private var entering: Set<String> = []
    /// The rule whose rows are being added right now.
    private var entered: String?
    /// Identities of rules whose effect on existing files has yet to be computed.
    private var new: Set<String> = []
    private var hasBegun = false
    private var isStopped = false
    private var turns = KeyedQueue<Work>()

    private enum Work: Hashable {
        /// New rules, and schedules.
        case rules
        /// Due rows in a place. If the place is away or fails, they wait for the next wake-up, such as its return.
        case place(String)
    }

    /// Callbacks for due work.
    package struct Hooks: Sendable {
        let submit: @Sendable ([PlannedJob]) async -> Void
        let look: @Sendable (_ place: String, _ path: BytePath) async -> Void

        /// - Parameters:
        ///   - submit: takes jobs that are in the ledger.
        ///   - look: has a file judged that differs from its ledger row.
        package init(
            submit: @escaping @Sendable ([PlannedJob]) async -> Void,
            look: @escaping @Sendable (_ place: String, _ path: BytePath) async -> Void
        ) {
            (self.submit, self.look) = (submit, look)
        }
    }

    /// Rows read per batch.
    private static let batch = 256
    /// Delay in seconds for a file that is in work or has yet to be judged.
    private static let soon = 30.0
    /// Delay in seconds if the file or the ledger cannot be read.
    private static let later = 3_600.0

    /// - Parameter alarm: calls ``wake()``.
    package init(
        ledger: Ledger, planner: Planner, inWork: PathsInWork, alarm: any WallAlarm, hooks: Hooks, log: Logger
    ) {
        (self.ledger, self.planner, self.inWork) = (ledger, planner, inWork)
        (self.alarm, self.hooks, self.log) = (alarm, hooks, log)
        clock = planner.clock
    }

    /// Adopts the rules now in force, and starts working.
    ///
    /// - Throws: errors of the ledger.
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
        // Adding rows for a large place takes a while.
        wake()
    }

    /// In several transactions, so that other writers get their turn.
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

    /// Stops; nothing more begins.
    package func stop() {
        isStopped = true
        ledger.due.listen(nil)
        alarm.set(nil)
    }

    /// Whether no due work is running.
    package var isIdle: Bool { !turns.isAnyAtWork }

    /// Handles everything due, and sets the alarm for the next time. Called when the alarm goes off, when the clock
    /// is set, and when a place may be back.
    package func wake() {
        if hasBegun { ask(.rules, .now) }
    }

    private func ask(_ work: Work, _ asked: KeyedQueue<Work>.Asked) {
        if !isStopped, turns.ask(work, asked) { begin(work) }
    }

    private func begin(_ work: Work) {
        turns.begin(work)
        Task {
            let end: KeyedQueue<Work>.End
            switch work {
            case .rules: end = await lookAfterRules()
            case .place(let name): end = await Bulkhead.$current.withValue(.place(name)) { await deal(in: name) }
            }
            if turns.ended(work, end, .now), !isStopped { begin(work) }
        }
    }

    private func lookAfterRules() async -> KeyedQueue<Work>.End {
        do {
            try await reckon()
            try await runSchedules()
            // The reason why a place is waiting may be gone.
            try await survey(.now)
        } catch is CancellationError {
            // Stopped; continues after the next start.
        } catch {
            again("cannot look after what is due", error)
        }
        return .done
    }

    private func again(_ problem: String, _ error: any Error) {
        log.error("\(problem), again in half a minute: \(explain(error))")
        alarm.bringForward(to: clock.now().adding(seconds: Self.soon))
    }

    // MARK: Due work

    /// Queues the places with due rows, and sets the alarm for the next due time.
    private func survey(_ asked: KeyedQueue<Work>.Asked) async throws {
        let now = clock.now()
        let names = planner.presence.placeNames
        let found = try await ledger.read { transaction in
            try names.map { ($0, try transaction.nextDue(in: $0, after: now)) }
        }
        for (name, rows) in found where rows.isDue { ask(.place(name), asked) }
        // Times held back by a clock jump are due once it is confirmed; setting the clock wakes the keeper anyway.
        let next =
            found.compactMap(\.1.next) + schedules.values.compactMap(\.record.next)
            + [clock.held()?.next].compactMap(\.self)
        if let earliest = next.min() { alarm.bringForward(to: earliest) }
    }

    /// Handles a place's rows until none is due.
    private func deal(in name: String) async -> KeyedQueue<Work>.End {
        var end = KeyedQueue<Work>.End.done
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
        // Newly due rows, and the next due time.
        do {
            if !isStopped { try await survey(.afterWait) }
        } catch {
            again("what is due next is not known", error)
        }
        return end
    }

    private func dealWithSome(in place: PlaceInfo) async throws -> KeyedQueue<Work>.End {
        let (now, waiting) = (clock.now(), entering)
        // Rows of files known only by token have to wait, without delaying others.
        let isLearned = ledger.names.isLearned(place.name)
        // So do rows that only an unconfirmed clock jump has made due.
        let (safe, minders) = clock.held().map { ($0.safe, planner.ruleSet.clockMinders) } ?? (now, [])
        let found = try await ledger.read {
            try $0.due(
                in: place.name, by: now, except: waiting, butOnly: minders, by: safe, hidden: isLearned,
                limit: Self.batch)
        }
        // A rule may have been edited in the meantime; its rows are then being added again.
        let rows = found.filter { row in
            guard case .scheduled(let rule, _) = row.kind else { return true }
            return !entering.contains(rule)
        }
        guard !rows.isEmpty else {
            // The remaining rows wait for hidden names, for the clock, or for a schedule time that is still being
            // added.
            return waiting.isEmpty && entering.isEmpty && isLearned && safe >= now ? .done : .waitForWord
        }
        let presence = planner.presence
        guard try await presence.pool.run({ try presence.isHere(place.root) }) else {
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

    // MARK: New rules

    /// Marks the existing files that these rules may match later.
    private func reckon() async throws {
        let (identities, ruleSet) = (new, planner.ruleSet)
        guard !identities.isEmpty else { return }
        let begun = try await ledger.read { try $0.timedSince() }
        // Counts from the oldest of these rules, however long the scan takes. Newer ones count from their own start.
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

    /// Visits all present files of a place, in several transactions, so that other writers get their turn.
    ///
    /// - Parameter identity: the rule that it is done for.
    /// - Returns: false if that rule is not in force any more; the remaining files are then skipped.
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
        // From the moment the ledger has the rules, unfinished rows are added for the edited rule instead.
        let begun = Set(entering.map(RuleSet.name(inIdentity:)))
        entering.formUnion(rules.filter { begun.contains($0.name) }.map(ruleSet.identity))
        let (records, unreckoned) = try await ledger.write { transaction -> ([ScheduleRecord], Set<String>) in
            try transaction.removeSchedules(except: Set(rules.map(\.name)))
            let known = Dictionary(try transaction.schedules().map { ($0.rule, $0) }) { first, _ in first }
            let identities = try transaction.timedIdentities()
            let records = try rules.map { rule in
                let spec = rule.schedules.spec
                // A changed schedule starts now, without catching up.
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
            // If the clock was set back, the schedule follows the new time.
            record.note(clock: now)
            if let begun = record.entering {
                guard try await enter(rule, &record, begun) else { continue }
            }
            // Of several missed times, only the last one runs.
            if let due = rule.schedules.latest(upTo: now, anchor: record.anchor), due > record.reached(by: now) {
                guard try await enter(rule, &record, due) else { continue }
            }
            record.next = rule.schedules.next(after: now, anchor: record.anchor)
            if record != known { _ = try await keep(record, of: rule) }
        }
    }

    /// Adds rows for all files of a rule's places for one schedule time. None is handled before all are added, so
    /// that files made by the rule are not among them.
    ///
    /// - Returns: false if the rule was edited in the meantime; rows are then added for the edited rule instead.
    private func enter(_ rule: Rule, _ record: inout ScheduleRecord, _ instant: Timestamp) async throws -> Bool {
        let identity = planner.ruleSet.identity(of: rule)
        // Until all rows are added, even if an error interrupts that.
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

    /// - Returns: false if the rule was edited in the meantime; the ledger then keeps the edited rule's row.
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
