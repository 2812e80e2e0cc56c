import Logging
import Platform
import Rules
import Synchronization
import Watching

/// Keeps the rules in force in sync with the rule files. Reads the files when they are whole; if one has an error, the
/// current rules stay in force.
package final class RuleReloads: Sendable {
    /// One rule set, for as long as it is in force.
    private struct Term {
        let ruleSet: RuleSet
        /// By the wall clock, which the ledger uses, and by a monotonic clock.
        let since = Timestamp.now()
        let began = ContinuousClock.now
        /// Whether the files had settled when they were read, or have since proved to have.
        var isOfWholeFiles: Bool
        /// When the files were first seen to have changed.
        var ended: ContinuousClock.Instant?

        /// Whether these rules probably came from a file that was still being saved.
        func isPassing(settle: Double) -> Bool {
            !isOfWholeFiles || (ended ?? .now) - began < .seconds(settle)
        }
    }

    private struct State {
        var diagnostics: [Diagnostic]
        /// The files as last read.
        var read: RuleFiles
        var term: Term
    }

    /// Puts new rules into force.
    typealias Adoption = @Sendable (_ rules: RuleSet, _ before: PassingRules?) async throws -> Void

    private let core: AgentCore
    private let state: Mutex<State>
    /// One reload at a time: an older reading must not take effect after a newer one.
    private let reloading = AsyncSemaphore(permits: 1)
    /// Seconds, in addition to the settle time, that a requested reload waits for files being written.
    private static let timeout = 10.0

    /// Reads the rules as they are, for the start. If they turn out to be half written, the files judged by them are
    /// planned again. Blocks.
    init(_ core: AgentCore) {
        self.core = core
        // Taken before the rules are read, so that no later change is lost.
        let files = RuleFiles(core.directories.rules)
        let loaded = core.loadRules()
        for diagnostic in loaded.diagnostics { core.log.warning("\(diagnostic.headline)") }
        if !loaded.diagnostics.hasErrors { core.planner.ruleSet = RuleSet(loaded.rules) }
        let isWhole = files.unfinished(settle: core.configuration.settle).isEmpty
        let term = Term(ruleSet: core.planner.ruleSet, isOfWholeFiles: isWhole)
        state = Mutex(State(diagnostics: loaded.diagnostics, read: files, term: term))
    }

    /// Diagnostics of the last reading.
    package var diagnostics: [Diagnostic] { state.withLock { $0.diagnostics } }

    /// Reads the rules once their files are whole; if one has an error, the current rules stay in force.
    ///
    /// - Throws: `Fault(.transient)` if a file is being written all the while.
    func reload(_ adopt: Adoption) async throws -> [Diagnostic] {
        let core = core
        noteChange()
        let before = state.withLock { $0.read }
        let whole = try await outcome(within: core.configuration.settle + Self.timeout) {
            try await RuleFiles.whole(in: core.directories.rules, after: before, settle: core.configuration.settle)
        }
        guard let files = whole else {
            let names = try await BlockingPool("rules").run {
                RuleFiles(core.directories.rules).unfinished(settle: core.configuration.settle)
            }
            throw Fault(
                .transient,
                "the rules were not reloaded, because \(names.first?.description ?? "a rule file") is being written. It is "
                    + "read when that has ended; until then the current rules stay in force")
        }
        return try await read(files, isAsked: true, adopt)
    }

    /// Reads the rules whenever their files have changed and are whole, until the task is cancelled.
    func watch(_ source: any EventSource, _ adopt: Adoption) async throws {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (core, folders) = (core, core.directories.rules)
        let pool = BlockingPool("rules.watch")
        await pool.runQuietly {
            for folder in folders { source.watchFolder(folder) { continuation.yield() } }
        }
        // Nothing has watched the files since the start.
        continuation.yield()
        for await _ in changes {
            do {
                let before = state.withLock { $0.read }
                if await pool.runQuietly({ RuleFiles(folders) }) != before { noteChange() }
                let files = try await RuleFiles.whole(in: folders, after: before, settle: core.configuration.settle)
                _ = try await read(files, isAsked: false, adopt)
            } catch let error where !(error is CancellationError) {
                core.log.error("the rules were not reloaded: \(explain(error))")
            }
        }
    }

    /// The files of the rules in force seem to have changed.
    private func noteChange() { state.withLock { $0.term.ended = $0.term.ended ?? .now } }

    /// - Parameters:
    ///   - files: the current files, whole.
    ///   - isAsked: read even if they look the same: they may contain symlinks, and rules may name other files.
    private func read(_ files: RuleFiles, isAsked: Bool, _ adopt: Adoption) async throws -> [Diagnostic] {
        let permit = try await reloading.acquire()
        defer { permit.release() }
        let isRead = state.withLock { state in
            guard state.read == files, !isAsked else { return false }
            state.term.ended = nil
            state.term.isOfWholeFiles = true
            return true
        }
        if isRead { return diagnostics }
        SystemNotification.sendReloading()
        defer { SystemNotification.send("READY=1") }
        let (core, log) = (core, core.log)
        let loaded = try await BlockingPool("rules").run { core.loadRules() }
        state.withLock { ($0.diagnostics, $0.read) = (loaded.diagnostics, files) }
        for diagnostic in loaded.diagnostics { log.warning("\(diagnostic.headline)") }
        if loaded.diagnostics.hasErrors {
            log.error("the rules were not reloaded: the ones in force stay. `steward check` shows what is wrong")
            return loaded.diagnostics
        }
        let before = state.withLock { $0.term }
        let term = Term(ruleSet: RuleSet(loaded.rules), isOfWholeFiles: true)
        let isPassing = before.isPassing(settle: core.configuration.settle)
        try await adopt(term.ruleSet, isPassing ? PassingRules(before.ruleSet, since: before.since) : nil)
        state.withLock { $0.term = term }
        return loaded.diagnostics
    }
}
