import Foundation
import Glibc
import Ledger
import Logging
import Platform
import RuleActions
import Rules
import ServiceLifecycle
import Synchronization
import Watching

/// The daemon: watches the places and carries out the rules until it is told to stop.
package final class Agent: Service {
    package let core: AgentCore
    package let runner: Runner
    package let source: InotifySource
    package let pipeline: Pipeline
    private let lock: StateLock
    private let server: ControlServer
    private let opening: Ledger.Opening
    private let log: Logger
    package let started = Timestamp.now()
    private let reloads = Mutex<[Diagnostic]>([])
    private let reloading = Mutex<Bool>(false)

    /// Takes the state directory, opens the ledger and loads the rules. Blocks.
    ///
    /// - Throws: `Fault`; `Complaints` where the rules are not valid, because an agent that starts with half of its
    ///   rules would do half of its work.
    package init(_ configuration: Configuration, _ directories: Directories, log: Logger) throws {
        self.log = log
        // The library selects on its descriptor, which must be a low one: first of all.
        var options = WatchOptions(ignore: IgnoreList(extra: configuration.ignore))
        options.onMessage = { log.warning("\($0)") }
        source = try InotifySource(options)
        Lease.ignoreBreakSignal()
        lock = try StateLock(directory: directories.state)
        let hadLife = try FileStatus.of(directories.state.appending("alive")) != nil
        let ledger: Ledger
        var opening: Ledger.Opening
        (ledger, opening) = try Ledger.open(directory: directories.state)
        if opening == .new, hadLife { opening = .corrupt(setAside: directories.state.appending("ledger.sqlite (missing)")) }
        self.opening = opening
        try Durable.replaceOwn(directories.state.appending("alive"), with: Array("\(started)\n".utf8))
        core = AgentCore(
            configuration: configuration, directories: directories, ledger: ledger, reads: SourceReadWatch(source: source),
            log: log)
        let loaded = core.loadRules()
        guard !loaded.diagnostics.hasErrors else { throw Complaints(diagnostics: loaded.diagnostics) }
        for diagnostic in loaded.diagnostics { log.warning("\(diagnostic)") }
        core.planner.ruleSet = RuleSet(loaded.rules)
        runner = Runner(executor: core.executor, ledger: ledger, log: log)
        pipeline = Pipeline(core: core, runner: runner, source: source)
        server = ControlServer(path: directories.socket, log: log)
    }

    /// Runs until the task is cancelled or asked to shut down, then drains.
    package func run() async throws {
        try await begin()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.pipeline.run() }
            group.addTask { try await self.serve() }
            group.addTask { await self.houseKeeping() }
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
        if case .corrupt(let aside) = opening {
            log.error(
                "the ledger was lost or damaged (\(aside)); all that is there now counts as seen (`steward rebuild` helps)")
            try await core.ledger.write {
                try $0.setMeta("rebuilt", Timestamp.now().description)
                try $0.note("agent", "the ledger was lost (\(aside)); everything present counts as seen")
            }
        }
        let isNew = opening == .new
        try await core.ledger.write { transaction in
            if isNew { try transaction.setMeta("created", Timestamp.now().description) }
            try transaction.note("agent", "started")
        }
        try await core.notes.recover()
        try await core.quarantine.recover()
        try await pipeline.meetPlaces(silent: opening != .new && opening != .existing)
        try await runner.start()
        let roots = pipeline.roots
        let source = source
        try await BlockingLane("watch.start").run { try source.start(roots) }
        try await pipeline.meetRules(isFirstStart: isNew)
        SystemNotification.send("READY=1\nSTATUS=\(roots.count) places, \(core.planner.ruleSet.rules.count) rules")
        log.notice("watching \(roots.map(\.name).joined(separator: ", ")) with \(core.planner.ruleSet.rules.count) rules")
    }

    private func stop() async {
        SystemNotification.send("STOPPING=1")
        log.notice("stopping: finishing the steps at work")
        await pipeline.stop()
        await runner.drain()
        server.stop()
    }

    private func finish() async throws {
        await runner.drain()
        let source = source
        await BlockingLane("watch.stop").runQuietly { source.stop() }
        try await core.ledger.write { try $0.note("agent", "stopped") }
        try core.ledger.close()
        log.notice("stopped")
    }

    // MARK: Reload

    /// Reads the rules again; with an error among them what was in force stays so.
    @discardableResult
    package func reload() async throws -> [Diagnostic] {
        SystemNotification.send("RELOADING=1")
        defer { SystemNotification.send("READY=1") }
        let core = core
        let loaded = try await BlockingLane("rules").run { core.loadRules() }
        reloads.withLock { $0 = loaded.diagnostics }
        for diagnostic in loaded.diagnostics { log.warning("\(diagnostic)") }
        if loaded.diagnostics.hasErrors {
            log.error("the rules were not reloaded: the ones in force stay. `steward check` shows what is wrong")
            return loaded.diagnostics
        }
        core.planner.ruleSet = RuleSet(loaded.rules)
        try await pipeline.meetRules(isFirstStart: false)
        try await core.ledger.write { try $0.note("agent", "rules reloaded: \(loaded.rules.count)") }
        log.notice("rules reloaded: \(loaded.rules.count)")
        return loaded.diagnostics
    }

    /// What the last reload complained of.
    package var reloadDiagnostics: [Diagnostic] { reloads.withLock { $0 } }

    private func watchRules() async throws {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let source = source
        let folders = core.directories.rules
        await BlockingLane("rules.watch").runQuietly {
            for folder in folders { source.watchFolder(folder) { continuation.yield() } }
        }
        for await _ in changes {
            // Editors write a file in several steps; a reload for each would show half of one.
            try await Task.sleep(for: .milliseconds(500))
            do {
                try await reload()
            } catch {
                log.error("the rules were not reloaded: \(explain(error))")
            }
        }
    }

    // MARK: House-keeping

    /// Once a day: a copy of the ledger, and what is older than the history's length is forgotten.
    private func houseKeeping() async {
        let backup = core.directories.state.appending("ledger.backup.sqlite")
        while !Task.isCancelled {
            do {
                let old = Timestamp.now().adding(seconds: -core.configuration.history)
                let pruned = try await core.ledger.write { try $0.prune(before: old) }
                if pruned > 0 { log.info("forgot \(pruned) jobs older than the history") }
                try await core.ledger.backUp(replacing: backup)
                try await Task.sleep(for: .seconds(86_400))
            } catch is CancellationError {
                return
            } catch {
                log.error("house-keeping failed: \(explain(error))")
                do { try await Task.sleep(for: .seconds(3600)) } catch { return }
            }
        }
    }

    private func serve() async throws {
        let handler = ControlHandler(agent: self)
        try await server.run { await handler.answer($0) }
    }
}

/// Rule or configuration files that cannot be used.
package struct Complaints: Error, Sendable, CustomStringConvertible {
    package let diagnostics: [Diagnostic]

    package init(diagnostics: [Diagnostic]) { self.diagnostics = diagnostics }

    package var description: String { diagnostics.map(\.description).joined(separator: "\n") }
}

private struct SourceReadWatch: ReadWatch {
    let source: InotifySource
    func watchReads(of path: BytePath) throws { try source.watchReads(of: path) }
    func readsSeen(of path: BytePath) -> Bool { source.readsSeen(of: path) }
    func stopWatchingReads(of path: BytePath) { source.stopWatchingReads(of: path) }
}

extension BlockingLane {
    /// For work that cannot fail.
    func runQuietly(_ work: @Sendable () -> Void) { work() }
}
