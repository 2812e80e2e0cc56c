import Foundation
import Ledger
import Logging
import NoteWriting
import Platform
import Rules
import Synchronization
import Watching

/// From dirty paths to jobs: marks are looked at, files settle, the judge decides, the runner gets what follows. Each
/// place has all of that for itself: one whose server does not answer holds up no other.
package actor Pipeline {
    private let core: AgentCore
    private let runner: Runner
    private let source: InotifySource
    private let scanLanes = BlockingLanes("scan", count: 1, apart: true)
    private let watchLane = BlockingLane("watch")
    private let log: Logger
    private nonisolated let ignore: IgnoreList
    package nonisolated let roots: [WatchRoot]
    private var inflows: [String: PlaceInflow]
    private var tasks: [Task<Void, Never>] = []

    private var meetings: [String: Meeting] = [:]
    /// What lay in those places and has not been judged. Apart, for a copy of a meeting would have it copied as well.
    private var unmet: [String: Set<BytePath>] = [:]
    private var inJudgement: Set<Key> = []
    private var again: [Key: Settled] = [:]
    private var isStopped = false
    private var isHeld: Bool
    private var released: [CheckedContinuation<Void, Never>] = []
    private var firstScans: Set<String> = []
    /// Of places that are looked through for the first time: what was found there and has not been judged.
    private var unsurveyed: [String: Set<BytePath>] = [:]
    /// Places that are away, as far as that has been logged.
    private var away: Set<String> = []
    /// Files that may not be read, until their permissions or the hourly look make them be judged again.
    private var denied: Set<Key> = []
    /// Files that are larger than their place takes, and by how many bytes they are that.
    private var tooLarge: [Key: Int64] = [:]
    /// What was passed over when a place was last looked through, and may be missed.
    private var missed: [String: Set<BytePath>] = [:]
    /// Large files that are read or wait for it, and their bytes.
    private var beingRead: [Key: Int64] = [:]

    private struct Key: Hashable {
        let root: String
        let path: BytePath
    }

    /// What each place has for itself.
    private struct PlaceInflow {
        let root: WatchRoot
        let settler = Settler()
        /// Folders that are to be looked through.
        let scans = DirtySet()
        var isScanning = false
        /// How many files are judged at the same time.
        let judging = Gate(limit: 128)
        /// Large files wait for each other to be read, in the order in which they came.
        let reading = Gate(limit: 1)

        init(_ root: WatchRoot) { self.root = root }
    }

    /// A place that is met for the first time, until all that lay there has been judged.
    private struct Meeting {
        let kind: Judge.Meeting
        /// What has changed since then was not there before.
        let began: Timestamp?
        var isScanned = false
    }

    /// - Parameter isHeld: nothing is judged until ``release()``.
    package init(core: AgentCore, runner: Runner, source: InotifySource, isHeld: Bool = false) {
        self.isHeld = isHeld
        self.core = core
        self.runner = runner
        self.source = source
        log = core.log
        ignore = IgnoreList(extra: core.configuration.ignore)
        let map = core.places
        let poll = core.configuration.poll
        roots = core.configuration.places.map { place in
            WatchRoot(
                name: place.info.name, path: place.info.root, excluded: map.nested(in: place.info), mode: place.mode,
                pollInterval: poll)
        }
        inflows = Dictionary(uniqueKeysWithValues: roots.map { ($0.name, PlaceInflow($0)) })
    }

    /// Notes which places are new, before anything is seen of them.
    ///
    /// - Parameter silent: the ledger was lost, so everything counts as seen.
    package func meetPlaces(silent: Bool) async throws {
        for root in roots {
            let name = root.name
            let path = root.path
            let open = try await core.ledger.write { transaction in
                let isNew = try transaction.meetPlace(name, root: path)
                if isNew {
                    let began = Timestamp.now().nanoseconds
                    try transaction.setMeta("meeting:\(name)", "\(silent ? "silent" : "first") \(began)")
                }
                return try transaction.meta("meeting:\(name)")
            }
            if let open {
                let words = open.split(separator: " ")
                meetings[name] = Meeting(
                    kind: words.first == "silent" ? .silent : .first,
                    began: words.last.flatMap { Int64($0) }.map(Timestamp.init(nanoseconds:)))
            }
            firstScans.insert(name)
        }
    }

    /// Has rules that were not known before look at what is there already, where they say so.
    package func meetRules(isFirstStart: Bool) async throws {
        let ruleSet = core.planner.ruleSet
        let rules = ruleSet.rules
        let known = try await core.ledger.read { try $0.knownRules() }
        let new = rules.filter { !known.contains($0.name) }
        if !isFirstStart {
            for rule in new {
                for place in rule.places where rule.existing(in: place) == .process && meetings[place.name] == nil {
                    let count = try await process(place, rules: [rule.name], again: false)
                    if count > 0 {
                        log.notice("the new rule \"\(rule.name)\" takes \(count) files that were there before")
                    }
                }
            }
        }
        try await core.ledger.write { transaction in
            for rule in rules { try transaction.meetRule(rule.name, digest: rule.digest.description) }
            try transaction.meetEra(ruleSet.era, rules: ruleSet.arrivalIdentities)
        }
    }

    /// Plans rules for all present files of a place.
    ///
    /// - Returns: how many jobs that made.
    package func process(_ place: PlaceInfo, rules: Set<String>?, again: Bool, within: BytePath = "") async throws
        -> Int
    {
        try await Bulkhead.$current.withValue(.place(place.name)) {
            try await planAll(of: place, rules: rules, again: again, within: within)
        }
    }

    private func planAll(
        of place: PlaceInfo, rules: Set<String>?, again: Bool, within: BytePath
    ) async throws -> Int {
        var count = 0
        for record in try await core.ledger.read({ try $0.files(place.name, within: within) }) {
            do {
                let jobs = try await core.planner.plan(record, in: place, rules: rules, again: again)
                count += jobs.count
                await runner.submit(jobs.map { ($0.id, $0.place, $0.path) }, areReady: true)
            } catch let fault as Fault where ReadAccess.isDenial(fault.errno) {
                passOver(Key(root: place.name, path: record.path), fault)
                // No rule has seen it before, so that it is news when it may be read.
                if record.hash == nil { try await core.ledger.write { try $0.setGone(place.name, record.path) } }
            }
        }
        return count
    }

    /// Runs until ``stop()``, or until its task is cancelled.
    package func run() async {
        tasks = roots.map { root in
            Task { await Bulkhead.$current.withValue(.place(root.name)) { await self.judgeSettled(root.name) } }
        }
        await readMarks()
        for task in tasks { task.cancel() }
    }

    package func stop() {
        isStopped = true
        core.planner.reader.stop()
        for task in tasks { task.cancel() }
        release()
    }

    /// After ``stop()``: waits until what was being judged has been, but not for a file system that does not answer.
    package func drain() async { await HangWatch.wait { await self.isAtRest } }

    private var isAtRest: Bool { inJudgement.isEmpty && !inflows.values.contains { $0.isScanning } }

    /// Whether files wait for rules that are valid.
    package var waitsForRules: Bool { isHeld }

    /// Ends the state in which nothing is judged.
    package func release() {
        isHeld = false
        for waiter in released { waiter.resume() }
        released = []
    }

    /// Whether nothing is waiting to be looked at, to settle or to be judged.
    package func isQuiet() async throws -> Bool {
        let source = source
        // What was written before the question belongs to it, even if its event is still in the kernel's queue.
        guard try await watchLane.run({ source.catchUp() }) else { return false }
        guard source.dirty.isIdle, isAtRest, firstScans.isEmpty else { return false }
        for inflow in inflows.values where !(await inflow.settler.isIdle) { return false }
        return source.dirty.isIdle && isAtRest
    }

    package func settling() async -> [Unsettled] {
        var all: [Unsettled] = []
        for inflow in inflows.values { all += await inflow.settler.pending() }
        return all
    }

    /// The files of a place, below it, that are passed over because they may not be read; sorted.
    package func unreadable(_ place: String) -> [BytePath] {
        denied.filter { $0.root == place }.map(\.path).sorted()
    }

    /// The large files that are read, or wait for it.
    package func reading() -> [(place: String, path: BytePath, size: Int64)] {
        beingRead.map { ($0.key.root, $0.key.path, $0.value) }.sorted { $0.path < $1.path }
    }

    /// The files of a place, below it, that have more bytes than it takes; sorted.
    package func refusedBySize(_ place: String) -> [(path: BytePath, size: Int64)] {
        tooLarge.filter { $0.key.root == place }.map { ($0.key.path, $0.value) }.sorted { $0.path < $1.path }
    }

    /// The files of a place, below it, that are passed over for their names, and the pattern of each; at most 100. As far as
    /// is known: a place that does not answer is not asked.
    package func passedOver(_ place: String) -> [String: String] {
        var names = missed[place] ?? []
        for file in source.status().passedOver where file.root == place {
            if file.isThere { names.insert(file.path) } else { names.remove(file.path) }
        }
        var found: [String: String] = [:]
        for name in names.sorted().prefix(100) { found[name.description] = ignore.pattern(ignoringPartOf: name) }
        return found
    }

    // MARK: Marks

    private func readMarks() async {
        while !isStopped, !Task.isCancelled {
            let marks = await source.dirty.next()
            if marks.isEmpty { return }
            for mark in marks { await take(mark) }
            source.dirty.acknowledge()
        }
    }

    private func take(_ mark: DirtyMark) async {
        switch mark {
        case .file(let root, let path):
            await settle(root, path)
        case .renamed(let root, let from, let toRoot, let to):
            // The old name is judged by what stands under the new one; where that is no news, by itself.
            if root != toRoot || ignore.ignores(to.name) { await settle(root, from) }
            if !ignore.ignores(to.name) { await settle(toRoot, to) }
            if root == toRoot, !ignore.ignores(to.name) { await settle(root, from, extra: 1.5) }
        case .subtree(let root, let path):
            lookThrough(root, path)
        case .rootState(let root):
            if let status = source.status().roots.first(where: { $0.name == root }), !status.present {
                log.warning("the place \(root) (\(status.path)) is not there; it is watched for")
                away.insert(root)
                firstScans.remove(root)
                core.journal.surveyed.remove(root)
            }
        }
    }

    private func settle(_ name: String, _ path: BytePath, extra: Double = 0, still: Bool = false) async {
        // A token stands for a hidden file that is gone.
        guard let inflow = inflows[name], NameVeil.isToken(path) || !ignore.ignores(anyPartOf: path) else { return }
        let time = core.planner.ruleSet.settleTime(place: name, name: path.name) ?? core.configuration.settle
        await inflow.settler.add(root: inflow.root, path: path, settle: time + extra, alreadyStill: still)
    }

    /// Has a place looked through, as after an event.
    package func lookThrough(_ place: PlaceInfo) { source.dirty.insert(.subtree(root: place.name, path: "")) }

    private func lookThrough(_ name: String, _ path: BytePath) {
        guard let inflow = inflows[name] else { return }
        inflow.scans.insert(.subtree(root: name, path: path))
        guard !inflow.isScanning else { return }
        inflows[name]?.isScanning = true
        Task { await Bulkhead.$current.withValue(.place(name)) { await self.scanAll(name) } }
    }

    private func scanAll(_ name: String) async {
        while !isStopped, let marks = inflows[name]?.scans.take(), !marks.isEmpty {
            for case .subtree(_, let path) in marks where !isStopped { await scan(name, path) }
        }
        inflows[name]?.isScanning = false
    }

    /// Looks whether the place is there, and if so has the jobs go on that wait for it.
    ///
    /// - Parameter anew: whether the whole place is about to be looked through.
    private func look(at root: WatchRoot, anew: Bool) async throws {
        guard let place = core.places[name: root.name] else { return }
        let presence = core.journal.presence
        switch try await scanLanes.run({ try presence.look(at: place, anew: anew) }) {
        case .missing: return
        case .other:
            guard away.insert(root.name).inserted else { return }
            log.warning("the place \(root.name) is away: \(StatusReport.other(place.root, place.name))")
        case .here:
            if away.remove(root.name) != nil {
                log.notice("the place \(root.name) is there again")
            } else if !anew {
                return
            }
            let waiting = try await core.ledger.read {
                try $0.waitingJobs(problem: PlacePresence.awayMessage(place))
            }
            await runner.submit(waiting.map { ($0.id, $0.place, $0.path) })
        }
    }

    /// Compares what is on the disk with what the ledger knows.
    private func scan(_ name: String, _ path: BytePath) async {
        guard let root = inflows[name]?.root else { return }
        do {
            try await look(at: root, anew: path.isEmpty)
            let (ignore, ledger) = (ignore, core.ledger)
            let passedOver = (unreadable(name) + refusedBySize(name).map(\.path)).filter { $0.isWithin(path) }
            let found = try await scanLanes.run {
                try PlaceComparison(root, from: path, ignoring: ignore, awaited: passedOver, ledger: ledger)
            }
            for problem in found.report.unreadable {
                log.warning("\(problem.path) cannot be read, so nothing in it is seen: \(problem.fault.message)")
            }
            let elsewhere = (missed[name] ?? []).filter { !$0.isWithin(path) }
            missed[name] = elsewhere.count < 100 ? elsewhere.union(found.report.passedOver) : elsewhere
            denied.subtract(found.left.map { Key(root: name, path: $0) })
            for path in found.left { tooLarge[Key(root: name, path: path)] = nil }
            if path.isEmpty, meetings[name] != nil {
                unmet[name, default: []].formUnion(found.news)
                meetings[name]?.isScanned = !found.report.rootMissing
            }
            if path.isEmpty, !found.report.rootMissing, !core.journal.surveyed.contains(name) {
                unsurveyed[name] = Set(found.news)
                endSurvey(name)
            }
            for path in found.news { await settle(name, path, still: true) }
            // A file that was renamed is found under its new name first.
            for path in found.gone { await settle(name, path, extra: 1.5) }
            if path.isEmpty {
                firstScans.remove(name)
                await endMeeting(name)
            }
        } catch {
            let called = path.isEmpty ? root.path.description : core.ledger.names.called(name, path)
            log.error(
                "cannot look through \(called): \(core.ledger.names.redacted(explain(error), name, root: root.path, path))"
            )
        }
    }

    // MARK: Judgement

    private func judgeSettled(_ name: String) async {
        guard let inflow = inflows[name] else { return }
        while !isStopped, !Task.isCancelled {
            if isHeld { await withCheckedContinuation { released.append($0) } }
            let batch = await inflow.settler.next()
            if batch.isEmpty { return }
            for settled in batch {
                let key = Self.key(settled)
                guard inJudgement.insert(key).inserted else {
                    again[key] = settled
                    continue
                }
                if case .whole(_, _, let status) = settled, status.size > ContentReader.large {
                    beingRead[key] = status.size
                    judgeLarge(key)
                    continue
                }
                await inflow.judging.enter()
                Task {
                    await self.judge(key)
                    await inflow.judging.leave()
                }
            }
            await inflow.settler.acknowledge()
        }
    }

    /// One at a time, so that the small ones never wait for them.
    private func judgeLarge(_ key: Key) {
        guard let reading = inflows[key.root]?.reading else { return }
        Task {
            await reading.enter()
            await self.judge(key)
            self.beingRead[key] = nil
            await reading.leave()
        }
    }

    private static func key(_ settled: Settled) -> Key {
        switch settled {
        case .whole(let root, let path, _), .gone(let root, let path): Key(root: root, path: path)
        }
    }

    private func judge(_ key: Key) async {
        guard !isStopped, let place = core.places[name: key.root] else {
            inJudgement.remove(key)
            return
        }
        var isDone = true
        var isRefused = false
        var denial: Fault?
        do {
            let meeting = unmet[key.root]?.contains(key.path) == true ? meetings[key.root] : nil
            switch try await core.judge.judge(
                place, key.path, meeting: meeting?.kind ?? .normal, began: meeting?.began)
            {
            case .known: break
            case .touched:
                // Back to what rules have seen, which the agent may have written into since.
                if place.kind == .notes { lookAfter(place.root.appending(key.path)) }
            case .again:
                isDone = false
                await settle(key.root, key.path)
            case .tooLarge(let size):
                refuse(key, size, place)
                isRefused = true
            case .news(let event, let jobs):
                let called = core.ledger.names.called(key.root, key.path)
                log.debug("\(event.rawValue): \(called) in \(key.root), \(jobs.count) jobs")
                await runner.submit(jobs.map { ($0.id, $0.place, $0.path) }, areReady: true)
                // Also one that has just been met: the agent may have written into it before.
                if place.kind == .notes, event != .removed { lookAfter(place.root.appending(key.path)) }
            }
        } catch let fault as Fault where ReadAccess.isDenial(fault.errno) {
            denial = fault
        } catch let fault as Fault where fault.code == Fault.hanging {
            isDone = false
            log.debug("\(fault.message)")
            await settle(key.root, key.path, extra: 30)
        } catch is CancellationError {
            // The agent is stopping; the next start finds it as it was.
            isDone = false
        } catch {
            isDone = false
            let why = core.ledger.names.redacted(explain(error), key.root, root: place.root, key.path)
            let called = core.ledger.names.called(key.root, key.path)
            log.error("cannot judge \(called) in \(key.root), looking again in 30 s: \(why)")
            await settle(key.root, key.path, extra: 30)
        }
        if let denial { passOver(key, denial) } else if isDone { denied.remove(key) }
        if isDone, !isRefused { tooLarge[key] = nil }
        inJudgement.remove(key)
        if isDone, unsurveyed[key.root]?.remove(key.path) != nil { endSurvey(key.root) }
        if again.removeValue(forKey: key) != nil { await settle(key.root, key.path) }
        if isDone, unmet[key.root]?.remove(key.path) != nil { await endMeeting(key.root) }
    }

    /// A file that is larger than its place takes stays where it is, unread, until it is another.
    private func refuse(_ key: Key, _ size: Int64, _ place: PlaceInfo) {
        guard tooLarge.updateValue(size, forKey: key) != size else { return }
        let called = core.ledger.names.called(key.root, key.path)
        log.warning(
            """
            \(called) in \(key.root) is refused: it has \(size) bytes, and the place takes \(place.sizeLimit); it stays \
            where it is, unread (`limits: { size: … }` at the place)
            """)
    }

    /// Waits for somebody to grant access: that is an event, so the file need not be asked for again.
    private func passOver(_ key: Key, _ fault: Fault) {
        guard denied.insert(key).inserted else { return }
        let called = core.ledger.names.called(key.root, key.path)
        let why = fault.errno.map { String(cString: strerror($0)) } ?? fault.message
        log.warning(
            "\(called) in \(key.root) may not be read (\(why)) and is passed over; grant the agent's user access, and it is taken"
        )
    }

    private func lookAfter(_ note: BytePath) {
        let (notes, log) = (core.notes, log)
        Task {
            do {
                try await notes.noteWasSaved(note)
            } catch {
                log.error("cannot look after the blocks of \(note): \(explain(error))")
            }
        }
    }

    private func endSurvey(_ name: String) {
        guard unsurveyed[name]?.isEmpty == true else { return }
        unsurveyed[name] = nil
        core.journal.surveyed.insert(name)
    }

    private func endMeeting(_ name: String) async {
        guard let meeting = meetings[name], meeting.isScanned, unmet[name]?.isEmpty != false else { return }
        meetings[name] = nil
        unmet[name] = nil
        do {
            try await core.ledger.write { try $0.setMeta("meeting:\(name)", nil) }
        } catch {
            log.error("the ledger does not know that \(name) has been met: \(explain(error))")
        }
    }
}
