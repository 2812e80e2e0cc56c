import Foundation
import Platform
import Synchronization
import TKCore

/// The advisors to ask about a draft.
package struct ReviewTeam: Sendable {
    package var advisors: [Role]
    package var storyType: StoryType?
}

/// Asks advisors to read a draft. Model, key and budget are those of the agent's user in `~/.tk`, as for `tk`.
package struct ReviewModels: Sendable {
    private let environment: [String: String]
    private let answers: BytePath?
    private let timeout: Duration
    private let told: @Sendable (ModelCall) -> Void

    /// - Parameters:
    ///   - environment: locates the user's `.tk` folder, keys and servers.
    ///   - answers: folder for raw answers; without one no model is asked.
    ///   - timeout: timeout of one pass.
    ///   - told: called for each call to a model.
    package init(
        environment: [String: String], answers: BytePath?, timeout: Duration,
        told: @escaping @Sendable (ModelCall) -> Void = { _ in }
    ) {
        self.told = told
        self.environment = environment
        self.answers = answers
        self.timeout = timeout
    }

    // MARK: Configuration

    /// The effective settings. A project's own file is ignored, because it may have come with a draft.
    private struct Setup {
        let home: TKHome
        let resources: TKResources
        let prices: ModelTable
        let configuration: TKConfiguration

        /// Blocks.
        init(_ environment: [String: String]) throws {
            home = try TKHome(environment: environment)
            resources = try TKResources.locate(environment: environment)
            prices = try ModelTable.load(resources, user: home.models)
            configuration = try ConfigurationStore(
                home: home, workingDirectory: home.folder.parent, environment: environment, models: prices
            ).effective()
        }
    }

    /// The configured provider, model and server, on one line; a fixed text if the configuration is unreadable. Blocks.
    package func identity() -> String {
        do {
            let configuration = try Setup(environment).configuration
            return [configuration.provider, configuration.model, configuration.baseURL].compactMap { $0 }
                .joined(separator: " ")
        } catch {
            return "not configured"
        }
    }

    // MARK: Asking

    /// Runs the passes that need a model.
    ///
    /// - Parameters:
    ///   - known: advisors are sent only the paragraphs that they have not read by it.
    ///   - mayGiveUp: whether to report a transient failure instead of throwing it.
    ///   - pool: the pool for blocking calls.
    /// - Throws: `Fault(.transient)` for a transient failure unless `mayGiveUp`, and `CancellationError`. Other
    ///   failures are part of the result.
    package func ask(
        _ draft: DraftText, known: ReviewState, _ settings: ReviewSettings, _ team: ReviewTeam, mayGiveUp: Bool,
        pool: BlockingPool
    ) async throws -> ModelFindings {
        guard draft.scalars.contains(where: { !$0.properties.isWhitespace }) else {
            return ModelFindings(suggestions: [])
        }
        var found = ModelFindings()
        found.parts = known.read?.unread(in: draft, settings: settings.hash)
        let heard = ReplyNotes()
        let line: Line
        do {
            line = try await connect(heard, pool)
        } catch {
            try tell(error, "No model has read this text", mayGiveUp: mayGiveUp, &found)
            return found
        }
        do {
            try await ask(draft, settings, team, line.access, line.prompts, mayGiveUp: mayGiveUp, &found)
        } catch {
            try await line.usage.close()
            throw error
        }
        try await line.usage.close()
        found.answers = line.kept.keys
        found.costs = line.kept.costs(line.prices)
        found.reading.notes += heard.all
        return found
    }

    /// Asks for other proposals, and for answers to questions. A failure is an answer that says so.
    ///
    /// - Parameters:
    ///   - asked: questions by the findings' keys.
    ///   - given: what has been answered without a model.
    ///   - mayGiveUp: whether to answer with a transient failure instead of throwing it.
    /// - Throws: `Fault(.transient)` for a transient failure unless `mayGiveUp`, and `CancellationError`.
    package func another(
        _ asked: [String: String], given: GivenProposals, _ draft: DraftText, known: ReviewState,
        _ settings: ReviewSettings, _ team: ReviewTeam, mayGiveUp: Bool, pool: BlockingPool
    ) async throws -> GivenProposals {
        var given = given
        let open = known.findings.filter { asked[$0.key] != nil && given.byKey[$0.key] == nil }
        guard !open.isEmpty, let first = team.advisors.first else { return given }
        let heard = ReplyNotes()
        var line: Line?
        for finding in open {
            let role = team.advisors.first { $0.id == finding.suggestion.advisorID } ?? first
            do {
                let model = try await connected(&line, heard, pool)
                let proposal = AnotherProposal(model: model.access, prompts: model.prompts)
                let question = asked[finding.key] ?? ""
                given.byKey[finding.key] = try await within(timeout) {
                    try await proposal.ask(
                        about: finding.suggestion, in: draft, question: question, refused: finding.refused, role,
                        storyType: team.storyType, stage: settings.stage)
                }
            } catch {
                var failed = ModelFindings()
                do {
                    try tell(error, "There is no answer", mayGiveUp: mayGiveUp, &failed)
                } catch {
                    try await line?.usage.close()
                    throw error
                }
                given.byKey[finding.key] = AnotherProposal.Answer(
                    by: role.id, reply: failed.reading.troubles.joined(separator: " "))
            }
        }
        given.costs = line.map { $0.kept.costs($0.prices) } ?? [:]
        try await line?.usage.close()
        return given
    }

    // MARK: Connecting

    /// A model that can be asked.
    private struct Line {
        let access: ModelAccess
        let usage: UsageLedger
        let prompts: PromptEngine
        let kept: KeptAnswers
        let prices: ModelTable
    }

    private func connected(_ line: inout Line?, _ heard: ReplyNotes, _ pool: BlockingPool) async throws -> Line {
        if let line { return line }
        let new = try await connect(heard, pool)
        line = new
        return new
    }

    private func connect(_ heard: ReplyNotes, _ pool: BlockingPool) async throws -> Line {
        let environment = environment
        guard let answers else { throw Fault(.failed, "there is no folder in which its answers could be kept") }
        let setup = try await pool.run { try Setup(environment) }
        let kept = KeptAnswers(folder: answers, pool: pool)
        let prompts = try await pool.run { try PromptEngine.load(setup.resources) }
        let (access, usage) = try await access(setup, kept, heard, pool)
        return Line(access: access, usage: usage, prompts: prompts, kept: kept, prices: setup.prices)
    }

    private func ask(
        _ draft: DraftText, _ settings: ReviewSettings, _ team: ReviewTeam, _ access: ModelAccess,
        _ prompts: PromptEngine, mayGiveUp: Bool, _ found: inout ModelFindings
    ) async throws {
        if settings.passes.contains(.advisors) {
            do {
                let engine = SuggestionEngine(model: access, prompts: prompts)
                var options = ReviewOptions(
                    advisors: team.advisors, storyType: team.storyType, stage: settings.stage)
                options.parts = found.parts
                let wanted = options
                let result = try await within(timeout) { try await engine.review(draft, wanted) }
                try collect(result, team, mayGiveUp: mayGiveUp, &found)
            } catch {
                try tell(error, "No advisor has read this text", mayGiveUp: mayGiveUp, &found)
                // A provider that fails now would fail again a moment later.
                guard Self.concernsTheTextAlone(error) else { return }
            }
        }
        if settings.passes.contains(.council) {
            do {
                let engine = CouncilEngine(model: access, prompts: prompts)
                let options = CouncilEngine.Options(
                    advisors: team.advisors, storyType: team.storyType, stage: settings.stage)
                let report = try await within(timeout) { try await engine.debate(draft, options) }
                try collect(report, mayGiveUp: mayGiveUp, &found)
            } catch {
                try tell(error, "The council has not met", mayGiveUp: mayGiveUp, &found)
            }
        }
    }

    private func access(
        _ setup: Setup, _ kept: KeptAnswers, _ heard: ReplyNotes, _ pool: BlockingPool
    ) async throws -> (ModelAccess, UsageLedger) {
        try CoreDumps.forbid()
        let environment = environment
        let choice = ModelChoice(
            setup.configuration,
            secrets: SecretChain(
                home: setup.home, environment: environment, configured: setup.configuration.provider),
            models: setup.prices, environment: environment)
        let provider: any LLMProvider
        do {
            provider = try await choice.provider { heard.hear($0) }
        } catch let error as LLMError {
            guard let absence = choice.absence(error) else { throw error }
            throw LLMError(error.kind, absence, provider: error.provider)
        }
        try await pool.run { try setup.home.make() }
        let opened = try await UsageLedger.open(
            setup.home.usage, prices: setup.prices, budget: setup.configuration.monthlyBudget, timeZone: .current)
        for notice in opened.notices { heard.hear(notice) }
        let recorder = CallRecorders([
            kept, UsageRecorder(opened.ledger) { heard.hear($0) }, MeteredCalls(prices: setup.prices, tell: told),
        ])
        return (ModelAccess(provider: provider, recorder: recorder, entry: choice.entry(provider)), opened.ledger)
    }

    // MARK: Answers

    private func collect(
        _ result: ReviewResult, _ team: ReviewTeam, mayGiveUp: Bool, _ found: inout ModelFindings
    ) throws {
        try tell(result.failures, mayGiveUp: mayGiveUp, &found)
        found.suggestions = result.suggestions
        let failed = Set(result.failures.map(\.advisorID))
        let readers = team.advisors.map(\.id).filter { !failed.contains($0) }
        if let call = result.calls.first {
            found.reading.notes.append(
                "Read by \(readers.joined(separator: ", ")) (\(call.provider), \(call.model)).")
        }
        if let parts = found.parts, !parts.isEmpty {
            found.reading.notes.append("Only what has changed since the last reading was sent.")
        }
        found.reading.notes += result.dropped.reasons("finding")
        if result.isPartial { found.reading.notes.append("An answer was cut; there may be more to say.") }
        found.reading.notes += result.notices.filter { !found.reading.notes.contains($0) }
    }

    private func collect(_ report: CouncilReport, mayGiveUp: Bool, _ found: inout ModelFindings) throws {
        try tell(report.failures, mayGiveUp: mayGiveUp, &found)
        found.council = report
        found.reading.notes += report.dropped.reasons("point")
        found.reading.notes += report.notices.filter { !found.reading.notes.contains($0) }
    }

    // MARK: Failures

    private func tell(_ failures: [AdvisorFailure], mayGiveUp: Bool, _ found: inout ModelFindings) throws {
        for failure in failures {
            let message = Self.line("\(failure.advisorID) gave no answer: \(failure.message)")
            // A truncated answer is kept as far as it came; asking again would change nothing.
            if !mayGiveUp, let kind = failure.kind, kind != .truncated, Self.mayPass(kind) {
                throw Fault(.transient, message)
            }
            found.reading.troubles.append(message)
            found.isIncomplete = true
        }
    }

    private func tell(_ error: any Error, _ what: String, mayGiveUp: Bool, _ found: inout ModelFindings) throws {
        if error is CancellationError { throw error }
        let message = (error as? LLMError)?.message ?? explain(error)
        let mayPass: Bool
        switch error {
        case let error as LLMError: mayPass = Self.mayPass(error.kind) && error.isRetryable && error.partial == nil
        case let fault as Fault: mayPass = fault.kind == .transient
        default: mayPass = false
        }
        if mayPass, !mayGiveUp { throw Fault(.transient, Self.line("\(what) yet: \(message)")) }
        found.reading.troubles.append(Self.line("\(what): \(message)"))
        found.isIncomplete = true
    }

    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func mayPass(_ kind: LLMError.Kind) -> Bool {
        [.rateLimited, .overloaded, .network, .server, .truncated].contains(kind)
    }

    private static func concernsTheTextAlone(_ error: any Error) -> Bool {
        guard let kind = (error as? LLMError)?.kind else { return false }
        return [.refused, .malformed, .truncated, .contextTooLong].contains(kind)
    }
}

/// Notices from providers and the budget while waiting for answers.
private final class ReplyNotes: Sendable {
    private let lines = Mutex<[String]>([])

    func hear(_ line: String) {
        lines.withLock { if !$0.contains(line) { $0.append(line) } }
    }

    var all: [String] { lines.withLock { $0 } }
}

/// The result of `work`, which is cancelled after `limit`. Cancelled work ends first: it still records its cost and its
/// answers.
private func within<R: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws -> R
) async throws -> R {
    guard let value = try await TimeLimit(limit).run(waits: true, work) else {
        throw Fault(.failed, "no answer came within \(limit)")
    }
    return value
}
