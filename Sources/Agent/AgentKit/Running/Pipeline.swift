import Foundation
import Ledger
import Logging
import NoteActions
import Platform
import Rules
import Synchronization
import Watching

/// From dirty paths to jobs: marks are examined, files settle, the judge decides, the runner gets the jobs. Each place
/// has its own queues and permits: one whose server hangs delays no other.
package actor Pipeline {
    let core: AgentCore
    let runner: Runner
    let source: any EventSource
    let scanPool = BlockingPool("scan", threads: 1, perBulkhead: true)
    private let watchPool = BlockingPool("watch")
    let log: Logger
    private let meters: PlaceMeters
    let changed: @Sendable () -> Void
    nonisolated let ignore: IgnoreList
    package nonisolated let roots: [WatchRoot]
    var inflows: [String: PlaceIntake]
    private var tasks: [Task<Void, Never>] = []

    var baselines: [String: Baseline] = [:]
    var surveys: [String: Survey] = [:]
    var folderBaselines: [String: FolderBaseline] = [:]
    private(set) var inJudgement: Set<Key> = []
    /// The files being judged, with their fingerprints as of when they settled.
    private(set) var filesInJudgement: [Key: Fingerprint] = [:]
    /// Those found by a scan of the whole place: their jobs rank behind those of new arrivals.
    private var backlog: Set<Key> = []
    private var again: [Key: Settled] = [:]
    /// Old names of renamed files, until their fate has been judged.
    var givenUp = RenameTracker()
    /// Files that came into their place from outside, until they have been judged.
    var movedIn = MovedInNames()
    private(set) var isStopped = false
    /// Number of marks processed since the start.
    package var marksTaken = 0
    private(set) var isHeld: Bool
    private var released: [CheckedContinuation<Void, Never>] = []
    var firstScans: Set<String> = []
    /// Places that are missing or used by another agent, and have been logged as such.
    var away: Set<String> = []
    /// Tasks waiting for another agent to end, by place.
    var turns: [String: Task<Void, Never>] = [:]
    /// Files without read permission, until a permission change or the hourly scan causes them to be judged again.
    var denied: Set<Key> = []
    /// Files above their place's size limit, with their size in bytes.
    var tooLarge: [Key: Int64] = [:]
    /// Names skipped by the last scan of a place that a user may miss.
    var missed: [String: Set<BytePath>] = [:]
    /// Folders that the last scan of a place could not read, as absolute paths.
    var closed: [String: Set<BytePath>] = [:]
    /// New rules being planned for existing files, by rule and place.
    var beingTaken: Set<String> = []
    /// Large files being read or waiting to be, with their sizes.
    private var beingRead: [Key: Int64] = [:]

    struct Key: Hashable {
        let root: String
        let path: BytePath
    }

    /// - Parameters:
    ///   - isHeld: nothing is judged until ``release()``.
    ///   - changed: called when a place disappears or reappears; it must not block.
    package init(
        core: AgentCore, runner: Runner, source: any EventSource, isHeld: Bool = false,
        changed: @escaping @Sendable () -> Void = {}
    ) {
        (self.changed, self.isHeld, self.core, self.runner, self.source) = (changed, isHeld, core, runner, source)
        log = core.log
        ignore = IgnoreList(extra: core.configuration.ignore)
        let map = core.places
        let poll = core.configuration.poll
        roots = core.configuration.places.map { place in
            WatchRoot(
                name: place.info.name, path: place.info.root, excluded: map.nested(in: place.info), mode: place.mode,
                pollInterval: poll)
        }
        let meters = PlaceMeters(core.metrics, places: roots.map(\.name))
        self.meters = meters
        inflows = Dictionary(
            uniqueKeysWithValues: roots.map { ($0.name, PlaceIntake($0, settled: meters.settling($0.name))) })
    }

    /// Runs until ``stop()``, or until its task is cancelled.
    package func run() async {
        core.judge.askForUnjudged { [weak self] in await self?.unjudgedName(of: $0, in: $1, soon: true) }
        await runner.tellOfEnds { [weak self] in await self?.jobEnded($0, $1) }
        watchTurns()
        tasks = roots.map { root in
            Task { await Bulkhead.$current.withValue(.place(root.name)) { await self.judgeSettled(root.name) } }
        }
        await readMarks()
        for task in tasks { task.cancel() }
    }

    package func stop() {
        isStopped = true
        core.planner.reader.stop()
        core.contents.stop()
        for task in tasks + turns.values { task.cancel() }
        for inflow in inflows.values {
            inflow.looking?.cancel()
            if let folders = inflow.folders { Task { await folders.stop() } }
        }
        release()
    }

    /// Call after ``stop()``: waits for judgements in flight, but not for a file system that hangs.
    package func drain() async { await HangWatch.wait { await self.isAtRest } }

    private var isAtRest: Bool { inJudgement.isEmpty && !inflows.values.contains { $0.looking != nil } }

    /// Whether files are waiting for valid rules.
    package var waitsForRules: Bool { isHeld }

    /// Starts judging.
    package func release() {
        isHeld = false
        for waiter in released { waiter.resume() }
        released = []
    }

    /// Whether nothing is waiting to be examined, to settle or to be judged.
    package func isQuiet() async throws -> Bool {
        let source = source
        // Everything written before the question counts, even if its event is still in the kernel's queue.
        guard try await watchPool.run({ source.catchUp() }) else { return false }
        guard source.dirty.isIdle, isAtRest, firstScans.isEmpty else { return false }
        for inflow in inflows.values where !(await inflow.settler.isIdle) { return false }
        for folders in inflows.values.compactMap(\.folders) where !(await folders.isIdle) { return false }
        return source.dirty.isIdle && isAtRest
    }

    package func settling() async -> [Unsettled] {
        var all: [Unsettled] = []
        for inflow in inflows.values {
            all += await inflow.settler.pending()
            if let folders = inflow.folders { all += await folders.pending() }
        }
        return all
    }

    /// The files of a place that are skipped for lack of read permission; relative paths, sorted.
    package func unreadable(_ place: String) -> [BytePath] {
        denied.filter { $0.root == place }.map(\.path).sorted()
    }

    /// The large files being read or waiting to be.
    package func reading() -> [(place: String, path: BytePath, size: Int64)] {
        beingRead.map { ($0.key.root, $0.key.path, $0.value) }.sorted { $0.path < $1.path }
    }

    /// The files of a place that exceed its size limit; relative paths, sorted.
    package func refusedBySize(_ place: String) -> [(path: BytePath, size: Int64)] {
        tooLarge.filter { $0.key.root == place }.map { ($0.key.path, $0.value) }.sorted { $0.path < $1.path }
    }

    /// The files of a place that are skipped because of their names, each with the matching pattern; up to 100 relative
    /// paths. Answers from memory: a place that hangs is not queried.
    package func passedOver(_ place: String) -> [String: String] {
        var names = missed[place] ?? []
        for file in source.status().passedOver where file.root == place {
            if file.isThere { names.insert(file.path) } else { names.remove(file.path) }
        }
        var found: [String: String] = [:]
        for name in names.sorted().prefix(100) { found[name.description] = ignore.pattern(ignoringPartOf: name) }
        return found
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
                if await isElsewhere(settled, key, inflow.settler) { continue }
                guard inJudgement.insert(key).inserted else {
                    again[key] = settled
                    continue
                }
                var owner: UInt32 = 0
                if case .whole(_, _, let status, let isBacklog) = settled {
                    filesInJudgement[key] = status.fingerprint
                    if isBacklog { backlog.insert(key) }
                    owner = status.owner
                    if status.size > ContentReader.large {
                        beingRead[key] = status.size
                        judgeLarge(key, owner)
                        continue
                    }
                }
                let client = ContentPool.Client(place: name, user: owner)
                // Cancelled when the agent stops; the next start finds the file as it is.
                guard let permit = try? await inflow.judging.acquire() else { return endJudgement(key) }
                Task {
                    if await self.judge(key, .later) { await self.lookInside(key, client) }
                    permit.release()
                }
            }
            await inflow.settler.acknowledge()
        }
    }

    /// Large files are judged one at a time, so small ones never wait for them.
    private func judgeLarge(_ key: Key, _ owner: UInt32) {
        guard let reading = inflows[key.root]?.reading else { return }
        Task {
            guard let permit = try? await reading.acquire() else { return self.endJudgement(key) }
            if await self.judge(key, .later) {
                await self.lookInside(key, ContentPool.Client(place: key.root, user: owner))
            }
            self.beingRead[key] = nil
            permit.release()
        }
    }

    /// Judges a file again once a content worker is free to read it. Meanwhile it takes up neither a thread of its
    /// place nor a permit for judging.
    private func lookInside(_ key: Key, _ client: ContentPool.Client) async {
        guard let inside = inflows[key.root]?.inside else { return }
        guard let permit = try? await inside.acquire() else { return endJudgement(key) }
        core.contents.enter(client, for: key.path) { ticket in
            // On behalf of this place, regardless of who returned the ticket.
            Task.detached {
                await Bulkhead.$current.withValue(.place(key.root)) {
                    await self.judgeInside(key, ticket)
                }
                ticket?.leave()
                permit.release()
            }
        }
    }

    private func judgeInside(_ key: Key, _ ticket: ContentPool.Ticket?) async {
        guard let ticket else {
            // The agent is stopping; the next start finds the file as it is.
            endJudgement(key)
            return
        }
        await judge(key, .now(ticket))
    }

    private static func key(_ settled: Settled) -> Key {
        switch settled {
        case .whole(let root, let path, _, _), .gone(let root, let path): Key(root: root, path: path)
        }
    }

    /// - Returns: whether a worker must read the file first; the file counts as being judged until then.
    @discardableResult
    private func judge(_ key: Key, _ turn: ContentTurn) async -> Bool {
        guard !isStopped, let place = core.places[name: key.root] else {
            endJudgement(key)
            return false
        }
        let threads: Bulkhead? =
            switch turn {
            case .later: nil
            case .now: .contents(key.root)
            }
        var isDone = true
        var isRefused = false
        var denial: Fault?
        do {
            let baseline = baselines[key.root].flatMap { isInBaseline($0, key) ? $0 : nil }
            let verdict = try await ContentTurn.$current.withValue(turn) {
                try await core.judge.judge(
                    place, key.path, baseline: baseline?.kind ?? .normal, began: baseline?.began,
                    wasThere: filesInJudgement[key] != nil, isMovedIn: movedIn.contains(key),
                    isBacklog: backlog.contains(key), on: threads)
            }
            meters.judged(key.root, JudgedAs(verdict))
            switch verdict {
            case .known: break
            case .touched:
                // The content is one that rules have already seen; the agent may have written to the note since.
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
                await runner.submit(jobs)
                // Baseline files too: the agent may have written to them before.
                if place.kind == .notes, event != .removed { lookAfter(place.root.appending(key.path)) }
            }
        } catch let fault as Fault where fault.code == ContentFindings.later {
            return true
        } catch let fault as Fault where ReadAccess.isDenial(fault.errno) {
            denial = fault
            meters.judged(key.root, .unreadable)
        } catch let fault as Fault where fault.code == Fault.inUse {
            // The whole place is scanned when it becomes free.
            isDone = false
            standBack(from: key.root)
        } catch let fault as Fault where fault.code == Fault.hanging {
            meters.judged(key.root, .failed)
            isDone = false
            log.debug("\(fault.message)")
            await settle(key.root, key.path, extra: 30)
        } catch is CancellationError {
            // The agent is stopping; the next start finds the file as it was.
            isDone = false
        } catch {
            isDone = false
            let why = core.ledger.names.redacted(explain(error), key.root, root: place.root, key.path)
            let called = core.ledger.names.called(key.root, key.path)
            meters.judged(key.root, .failed)
            log.error(
                "cannot judge \(called) in \(key.root), looking again in 30 s: \(why)",
                metadata: LogFields.file(called, in: key.root))
            await settle(key.root, key.path, extra: 30)
        }
        if let denial { passOver(key, denial) } else if isDone { denied.remove(key) }
        if isDone { movedIn.forget(key) }
        if isDone, !isRefused { tooLarge[key] = nil }
        endJudgement(key)
        if again.removeValue(forKey: key) != nil { await settle(key.root, key.path) }
        if isDone, surveys[key.root]?.unjudged.remove(key.path) != nil { await endSurvey(key.root) }
        return false
    }

    private func endJudgement(_ key: Key) {
        inJudgement.remove(key)
        filesInJudgement[key] = nil
        backlog.remove(key)
    }

    /// A file above its place's size limit stays where it is, unread, until it changes.
    private func refuse(_ key: Key, _ size: Int64, _ place: PlaceInfo) {
        guard tooLarge.updateValue(size, forKey: key) != size else { return }
        let called = core.ledger.names.called(key.root, key.path)
        log.warning(
            """
            \(called) in \(key.root) is refused: it has \(size) bytes, and the place takes \(place.sizeLimit); it stays \
            where it is, unread (`limits: { size: … }` at the place)
            """, metadata: LogFields.file(called, in: key.root))
    }

    /// Skips a file until access is granted: that raises an event, so there is no need to poll.
    func passOver(_ key: Key, _ fault: Fault) {
        guard denied.insert(key).inserted else { return }
        let called = core.ledger.names.called(key.root, key.path)
        let why = fault.errno.map { String(cString: strerror($0)) } ?? fault.message
        log.warning(
            "\(called) in \(key.root) may not be read (\(why)) and is skipped; grant the agent's user access, and it will be processed",
            metadata: LogFields.file(called, in: key.root))
    }

    private func lookAfter(_ note: BytePath) {
        let (notes, log, changed) = (core.notes, log, changed)
        let answers = JobAnswers(core, runner)
        Task {
            do {
                // A "no" creates no job that would report the change.
                if try await answers.takeAnswers(in: note) { changed() }
                try await notes.noteWasSaved(note)
            } catch {
                log.error("cannot check the blocks of \(note): \(explain(error))")
            }
        }
    }
}
