import Logging
import Platform
import Rules
import Synchronization
import Watching

/// Keeps the rules in force those that the rule files hold: reads them when they are whole, and where an error is among them
/// leaves in force what was.
package final class RuleReloads: Sendable {
    /// One set of rules, for as long as it is in force.
    private struct Term {
        let ruleSet: RuleSet
        /// By the wall clock, as the ledger counts, and by one that nobody sets.
        let since = Timestamp.now()
        let began = ContinuousClock.now
        /// Whether the files had settled when they were read, or have shown since that they had.
        var isOfWholeFiles: Bool
        /// When the files were first seen to be others.
        var ended: ContinuousClock.Instant?

        /// Whether this was what stood in a file while it was being saved, as far as can be told.
        func isPassing(settle: Double) -> Bool {
            !isOfWholeFiles || (ended ?? .now) - began < .seconds(settle)
        }
    }

    private struct State {
        var diagnostics: [Diagnostic]
        /// The files as they were when they were last read.
        var read: RuleFiles
        var term: Term
    }

    /// Has new rules take effect.
    typealias Adoption = @Sendable (_ rules: RuleSet, _ before: PassingRules?) async throws -> Void

    private let core: AgentCore
    private let state: Mutex<State>
    /// One reload at a time: an older reading must not take effect after a newer one.
    private let reloading = AsyncSemaphore(permits: 1)
    /// Seconds, beside the settle time, for which a reload that somebody asks for waits for files that are being written.
    private static let patience = 10.0

    /// Reads the rules for the start, as they are: should they be half written, what is done by them is looked at again. Blocks.
    init(_ core: AgentCore) {
        self.core = core
        // Before they are read, so that no change since then is lost.
        let files = RuleFiles(core.directories.rules)
        let loaded = core.loadRules()
        for diagnostic in loaded.diagnostics { core.log.warning("\(diagnostic.headline)") }
        if !loaded.diagnostics.hasErrors { core.planner.ruleSet = RuleSet(loaded.rules) }
        let isWhole = files.unfinished(settle: core.configuration.settle).isEmpty
        let term = Term(ruleSet: core.planner.ruleSet, isOfWholeFiles: isWhole)
        state = Mutex(State(diagnostics: loaded.diagnostics, read: files, term: term))
    }

    /// What the last reading complained of.
    package var diagnostics: [Diagnostic] { state.withLock { $0.diagnostics } }

    /// Reads the rules once their files are whole; with an error among them what was in force stays so.
    ///
    /// - Throws: `Fault(.transient)` where a file is being written all the while.
    func reload(_ adopt: Adoption) async throws -> [Diagnostic] {
        let core = core
        noteChange()
        let before = state.withLock { $0.read }
        let whole = try await outcome(within: core.configuration.settle + Self.patience) {
            try await RuleFiles.whole(in: core.directories.rules, after: before, settle: core.configuration.settle)
        }
        guard let files = whole else {
            let names = try await BlockingPool("rules").run {
                RuleFiles(core.directories.rules).unfinished(settle: core.configuration.settle)
            }
            throw Fault(
                .transient,
                "the rules were not reloaded: \(names.first?.description ?? "a rule file") is being written; it is read when "
                    + "that has ended, and what was in force stays so until then")
        }
        return try await read(files, isAsked: true, adopt)
    }

    /// Reads the rules whenever their files have changed and are whole, until the task is cancelled.
    func watch(_ source: any EventSource, _ adopt: Adoption) async throws {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (core, folders) = (core, core.directories.rules)
        let lane = BlockingPool("rules.watch")
        await lane.runQuietly {
            for folder in folders { source.watchFolder(folder) { continuation.yield() } }
        }
        // Since the start nobody has watched them.
        continuation.yield()
        for await _ in changes {
            do {
                let before = state.withLock { $0.read }
                if await lane.runQuietly({ RuleFiles(folders) }) != before { noteChange() }
                let files = try await RuleFiles.whole(in: folders, after: before, settle: core.configuration.settle)
                _ = try await read(files, isAsked: false, adopt)
            } catch let error where !(error is CancellationError) {
                core.log.error("the rules were not reloaded: \(explain(error))")
            }
        }
    }

    /// The rules in force are those of files that have changed, as it seems.
    private func noteChange() { state.withLock { $0.term.ended = $0.term.ended ?? .now } }

    /// - Parameters:
    ///   - files: as they are now, whole.
    ///   - isAsked: whether they are read though they are the same: links lead from them, and rules name other files.
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
