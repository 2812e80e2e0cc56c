import ComicVault
import Foundation
import Glibc
import Ledger
import Logging
import NoteActions
import OwnFiles
import Platform
import RuleActions
import Rules
import SQLiteFile
import ServiceLifecycle
import Synchronization
import Watching

/// The daemon: watches the places and runs the rules until it is stopped.
package final class Agent: Service {
    package let core: AgentCore
    package let runner: Runner
    package let source: any EventSource
    package let pipeline: Pipeline
    package let courier: Courier
    package let time: TimeKeeper
    /// Notified of every change that the service manager's status line may show.
    package let changes = ChangeNotice()
    private let timer: WallTimer
    private let lock: StateLock
    private let server: ControlServer
    /// Threads for commands that use vaults.
    let vaultPool = BlockingPool("vault.answers", threads: 8)
    private let opening: Ledger.Opening
    private let log: Logger
    /// Writes the agent's log.
    package let lines: LogQueue
    package let started = Timestamp.now()
    private let statusLine = Mutex<StatusLine?>(nil)
    private let rules: RuleReloads

    /// Locks the state directory, opens the ledger and loads the rules. Retries while the disk is full.
    ///
    /// Starts even if the rules are invalid, but judges nothing until they are valid: with only some of its rules it
    /// would do only some of its work, and still record the files as seen.
    ///
    /// - Parameters:
    ///   - socket: an inherited socket that already listens for commands.
    ///   - lines: writes the log.
    ///   - events: how kernel events are read; a process has only one agent that uses the library.
    /// - Throws: `Fault`.
    package static func make(
        _ configuration: Configuration, _ directories: Directories, socket: Descriptor? = nil, log: Logger,
        lines: LogQueue, events: WatchOptions.Events = .standard
    ) async throws -> Agent {
        let pool = BlockingPool("start")
        // First of all: the library uses select() on this descriptor, so its number must be low.
        var options = WatchOptions(ignore: IgnoreList(extra: configuration.ignore))
        options.onMessage = { log.warning("\($0)") }
        options.events = events
        let set = options
        let source = try await pool.run { try InotifySource(set) }
        Lease.ignoreBreakSignal()
        // Jobs hold their files open, and there may be hundreds of jobs.
        OpenFiles.raiseLimit()
        // Files that arrive while a vault is locked must not be recoverable from freed memory later.
        if !configuration.vaults.isEmpty { FreedMemory.wipe() }
        // Before any key is loaded: once one is in memory, a debugger that is already attached could read it.
        if !configuration.vaults.isEmpty { try CoreDumps.forbid() }
        let examination = Examination(configuration: configuration, directories: directories)
        if let finding = try await pool.run({ examination.complaints(.first).first }) {
            throw Fault(.usage, finding.line, path: directories.state)
        }
        var state = try await StartTimeout(log: log).until("opening the ledger") {
            try await pool.run { try State(directories) }
        }
        if state.opening == .new, let trace = try await AgentTraces(configuration, directories).find() {
            let opened = state
            state.opening = try await pool.run { try opened.lost(directories, trace) }
        }
        let ready = state
        return try await pool.run { try Agent(configuration, directories, source, ready, socket, log, lines) }
    }

    /// State that belongs to one agent exclusively.
    private struct State {
        let lock: StateLock
        let ledger: Ledger
        var opening: Ledger.Opening
        let alarm: TimeKeeping

        /// Blocks.
        init(_ directories: Directories) throws {
            alarm = try TimeKeeping()
            try Durable.makeDirectory(directories.state, mode: 0o700)
            lock = try StateLock(directory: directories.state)
            let (ledger, found) = try Ledger.open(directory: directories.state)
            self.ledger = ledger
            opening = try Agent.judge(ledger, found, directories)
        }

        /// Records that the state folder was lost, not new. Blocks.
        ///
        /// - Parameter trace: the evidence that an agent has worked here before.
        func lost(_ directories: Directories, _ trace: String) throws -> Ledger.Opening {
            try Agent.noteLoss(
                "the state folder was lost: \(directories.state) was empty, but \(trace)", of: ledger, directories)
        }
    }

    /// Blocks.
    private init(
        _ configuration: Configuration, _ directories: Directories, _ source: any EventSource, _ state: State,
        _ socket: Descriptor?, _ log: Logger, _ lines: LogQueue
    ) throws {
        (self.log, self.lines, self.source) = (log, lines, source)
        lock = state.lock
        opening = state.opening
        core = AgentCore(
            configuration: configuration, directories: directories, ledger: state.ledger, claims: true, log: log)
        rules = RuleReloads(core)
        let isValid = !rules.diagnostics.hasErrors
        let changes = changes
        runner = Runner(
            executor: core.executor, planner: core.planner, ledger: state.ledger, changed: { changes.tell() }, log: log)
        core.reviews.editors.tell { [weak runner] jobs in Task { await runner?.wake(jobs) } }
        pipeline = Pipeline(
            core: core, runner: runner, source: source, isHeld: !isValid, changed: { changes.tell() })
        courier = Couriers.make(core, log) { changes.tell() }
        timer = state.alarm.timer
        time = state.alarm.keeper(core, runner, pipeline, log)
        server = ControlServer(path: directories.socket, given: socket, group: configuration.controlGroup, log: log)
        try server.claim()
    }

    /// Runs until the task is cancelled or the agent is asked to shut down, then drains.
    package func run() async throws {
        do {
            try await begin()
        } catch is CancellationError {
            return
        }
        let probe = HealthProbe(self)
        let watchdog = Watchdog(.manager) { await probe.run() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            if watchdog.isWanted { group.addTask { await watchdog.run() } }
            if let address = core.configuration.metricsAddress {
                group.addTask { await self.serveMetrics(address) }
            }
            group.addTask { await self.pipeline.run() }
            group.addTask { try await self.serve() }
            group.addTask { await HouseKeeping(self.core, self.log).run() }
            group.addTask { await AnsweredBoxes(ledger: self.core.ledger, notes: self.core.notes, log: self.log).run() }
            group.addTask { try await self.watchRules() }
            group.addTask {
                try? await gracefulShutdown()
                await self.stop()
            }
            try await group.next()
            group.cancelAll()
            await self.pipeline.stop()
            self.server.stop()
        }
        try await finish()
    }

    private func begin() async throws {
        // Before recovery, which may take long: an upgrade may replace the programs in the meantime.
        await Workers.find(log)
        let timeout = StartTimeout(log: log)
        try await timeout.until("reading the clock") {
            try await self.core.learnTime()
            try await self.core.keepTime()
        }
        let examination = Examination(configuration: core.configuration, directories: core.directories)
        for finding in try await BlockingPool("start.checks").run({ examination.complaints(.opened) }) {
            log.warning("\(finding.subject): \(finding.line)")
        }
        try await timeout.until("noting the start") { try await self.noteStart() }
        try await timeout.until("resuming the last run") { try await self.resumeLastRun() }
        let isNew = opening == .new
        HangWatch.shared.remind { [core] in core.executor.makeRoom() }
        HangWatch.shared.listen { [log, changes] hang, hasBegun in
            if hasBegun {
                log.warning("\(hang.message)")
            } else {
                log.notice("\(hang.whose): the file system responds again")
            }
            changes.tell()
        }
        let roots = pipeline.roots
        let source = source
        try await BlockingPool("watch.start").run { try source.start(roots) }
        if reloadDiagnostics.hasErrors {
            log.error("the rules are not valid: files wait until they are. `steward check` shows what is wrong")
        } else {
            try await timeout.until("recording the rules") { try await self.pipeline.adoptRules(isFirstStart: isNew) }
            try await timeout.until("looking for what is due") { try await self.time.rulesChanged() }
        }
        try await timeout.until("recording that existing files are known") { try await self.markLife() }
        try await core.lookAfterNotes()
        let isPaused = await runner.status().paused
        try await timeout.until("resuming the outbox") {
            try await self.courier.start(isPaused: isPaused)
        }
        await core.unlockFromCredentials()
        ProgramPages.letGo()
        SystemNotification.send("READY=1")
        let line = StatusLine(.manager) { [weak self] in try await self?.statusText() ?? "" }
        statusLine.withLock { $0 = line }
        changes.listen { line.changed() }
        line.changed()
        log.notice(
            "watching \(roots.map(\.name).joined(separator: ", ")) with \(core.planner.ruleSet.rules.count) rules")
    }

    private func noteStart() async throws {
        if case .corrupt(let aside) = opening {
            log.error(
                "the ledger was lost or damaged (\(aside)); everything present counts as seen (`steward rebuild` helps)"
            )
            try await core.ledger.write {
                try $0.note("agent", "the ledger was lost (\(aside)); everything present counts as seen")
            }
        }
        try await core.ledger.write { try $0.note("agent", "started") }
    }

    private func resumeLastRun() async throws {
        let core = core
        await claimPlaces()
        try await core.learnHiddenNames()
        try await core.notes.recover()
        try await core.quarantine.recover(log)
        try await pipeline.registerPlaces(silent: opening != .new && opening != .existing)
        // Before an undo that was interrupted looks at the deliveries.
        try await core.ledger.write { _ = try $0.resumeDeliveries() }
        try await runner.start()
    }

    /// Whether a start has ever completed with this ledger; if not, whether an earlier ledger was lost.
    private static func judge(
        _ ledger: Ledger, _ found: Ledger.Opening, _ directories: Directories
    ) throws -> Ledger.Opening {
        if case .corrupt = found { return found }
        if try ledger.readBlocking({ try $0.meta("created") }) != nil {
            // An older version has noted a loss.
            if let time = try ledger.readBlocking({ try $0.meta("rebuilt") }) {
                _ = try noteLoss("the ledger was lost and recreated at \(time)", of: ledger, directories)
                try ledger.writeBlocking { try $0.setMeta("rebuilt", nil) }
            }
            return .existing
        }
        guard try FileStatus.of(directories.alive) != nil else { return .new }
        return try noteLoss(Examination.loss(of: directories.state), of: ledger, directories)
    }

    private static func noteLoss(
        _ what: String, of ledger: Ledger, _ directories: Directories
    ) throws -> Ledger.Opening {
        let losses = directories.losses
        try losses.note(missing: ledger.file, "\(what). \(Ledger.lossHint)", now: .now())
        // It may have been set aside by a command or by an interrupted start.
        let aside = try losses.standing(of: ledger.file).last?.aside
        return .corrupt(setAside: aside ?? BytePath("\(ledger.file) (missing)"))
    }

    /// Records that every existing file has its baseline. A start that is killed before this point is repeated
    /// unchanged; a ledger that is missing after it was lost.
    private func markLife() async throws {
        if opening != .existing {
            try await core.ledger.write { try $0.setMeta("created", Timestamp.now().description) }
        }
        // Written once: a start must not need space on a full disk.
        let alive = core.directories.alive
        let text = "\(started)\n"
        try await BlockingPool("alive").run {
            if try FileStatus.of(alive) == nil { try Durable.replaceOwn(alive, with: Array(text.utf8)) }
        }
    }

    private func stop() async {
        changes.listen(nil)
        statusLine.withLock { $0 }?.close()
        SystemNotification.send("STOPPING=1\nSTATUS=stopping: finishing the running steps")
        log.notice("stopping: finishing the running steps")
        await time.stop()
        await pipeline.stop()
        core.notes.stopWaiting()
        async let courierStop: Void = courier.stop()
        await runner.drain()
        await courierStop
        server.stop()
    }

    private func finish() async throws {
        await runner.drain()
        await courier.stop()
        await pipeline.drain()
        await time.stop()
        let (core, source, timer) = (core, source, timer)
        try await BlockingPool("timer").run { timer.stop() }
        // Bounded, because shutdown has a deadline: a vault, or a folder above a place, may be on a disk that hangs.
        async let watching: Void? = answer(within: 30) { source.stop() }
        async let locking: Void? = outcome(within: 30) { await core.vaults.lock(.stop) }
        if try await watching == nil { log.warning("watching has not ended in time") }
        if try await locking == nil {
            log.warning("a vault's disk does not respond; its keys are gone when the process ends")
        }
        try await core.keepTime()
        try await core.ledger.write { try $0.note("agent", "stopped") }
        try core.ledger.close()
        await releasePlaces()
        lock.release()
        log.notice("stopped")
    }

    /// Claims the places before anything is done in them. One that does not answer is claimed when it does.
    private func claimPlaces() async {
        let presence = core.journal.presence
        await withTaskGroup(of: Void.self) { group in
            for place in core.places.places {
                group.addTask {
                    do {
                        _ = try await outcome(within: 2) {
                            try await Bulkhead.$current.withValue(.place(place.name)) {
                                try await presence.pool.run { _ = try presence.look(at: place) }
                            }
                        }
                    } catch {
                        self.log.warning("the place \(place.name) cannot be examined yet: \(explain(error))")
                    }
                }
            }
        }
    }

    /// Bounded, because shutdown has a deadline; the kernel releases the locks when the process exits.
    private func releasePlaces() async {
        guard let claims = core.journal.presence.claims else { return }
        let released: Void? = try? await answer(within: 10) { claims.release() }
        if released == nil { log.warning("a place does not respond; its lock is released when the process ends") }
    }

    // MARK: Reload

    /// Reloads the rules; if any has an error, the current rules stay in force.
    @discardableResult
    package func reload() async throws -> [Diagnostic] {
        defer { changes.tell() }
        return try await rules.reload(adoptRules)
    }

    /// - Parameter before: the rules that were in force while a rule file was being saved.
    private func adoptRules(_ ruleSet: RuleSet, _ before: PassingRules?) async throws {
        defer { changes.tell() }
        if let before {
            try await core.planner.putInForce(ruleSet, after: before)
        } else {
            core.planner.ruleSet = ruleSet
        }
        try await pipeline.adoptRules(isFirstStart: false, after: before)
        if let before { try await pipeline.planMissed(under: before) }
        try await time.rulesChanged()
        await pipeline.release()
        await runner.rulesChanged()
        try await core.ledger.write { try $0.note("agent", "rules reloaded: \(ruleSet.rules.count)") }
        log.notice("rules reloaded: \(ruleSet.rules.count)")
    }

    /// The diagnostics of the last reload.
    package var reloadDiagnostics: [Diagnostic] { rules.diagnostics }

    private func watchRules() async throws { try await rules.watch(source, adoptRules) }

    // MARK: Serving

    /// Serves the metrics to scrapers on this machine.
    private func serveMetrics(_ address: MetricsAddress) async {
        let server = MetricsServer(
            address, log: log,
            pages: MetricsServer.Pages(
                metrics: { await AgentMetrics(self).document() },
                health: { HealthReport(try await StatusReport.live(self)) }))
        await server.run()
    }

    private func serve() async throws { try await server.run(CommandTable(self)) }
}
