import Foundation
import NoteActions
import Platform
import Synchronization
import TKCore

/// A review as run by `suggest` and `pipe`: the quick pass, and the advisors if a model is available.
struct Reviewing: Sendable {
    let setting: ReviewSetting
    /// Stores the user's answers in `--interactive`.
    let answers: RuleAnswerStore
    private let quick: QuickPass?
    private let styles: HouseRules?
    /// What has been told about dictionaries, lists of words and styles, which are the same for many drafts.
    private let news = News()
    private let ignoredRules: Set<String>
    private let strictRules: Set<String>
    private let engine: SuggestionEngine?
    private let options: ReviewOptions
    let filter: SuggestionFilter
    private let lines: LineSelection?
    private let isVerbose: Bool
    /// Per draft.
    private let timeout: Duration
    private let outage = Outage()

    /// Set after a failure of the service that would affect the next draft too.
    private final class Outage: Sendable {
        private let state = Mutex(false)

        var hasBegun: Bool { state.withLock { $0 } }
        func begin() { state.withLock { $0 = true } }
    }

    /// Adapts accepted suggestions to text that has changed in the meantime; nil without a model.
    var merger: DriftMerger? { engine.map { DriftMerger(model: $0.model, prompts: $0.prompts) } }

    /// How many calls the service takes at a time.
    var concurrency: Int { engine?.model.concurrency ?? 1 }

    /// Sets up advisors and model. If no model is available, only the quick pass runs, and one line on standard error
    /// says so.
    init(_ arguments: ReviewArguments, _ model: ModelOptions) async throws {
        let wiring = try Wiring()
        let catalogue = try wiring.catalogue()
        let prices = try wiring.models()
        let configuration = try wiring.configuration(prices).effective(flags: model.flags)
        var advisors = try arguments.named(catalogue, configuration)
        var storyType = try arguments.storyType.map(catalogue.storyType)
        let access = arguments.quick ? nil : try await Self.access(wiring, configuration, prices, arguments)
        timeout = configuration.timeout
        if let describe = arguments.describe {
            let team = try await Self.team(
                describe, access?.within(TimeLimit(timeout)), catalogue, wiring, model.verbose ? prices : nil)
            advisors = try catalogue.roles(team.advisors)
            storyType = try storyType ?? team.storyType.map(catalogue.storyType)
        }
        filter = try arguments.filter()
        lines = try arguments.selection()
        answers = RuleAnswerStore(home: wiring.home)
        quick = arguments.noQuick ? nil : try wiring.quickPass()
        styles = try quick.flatMap { arguments.noStyles ? nil : try HouseRules($0, named: arguments.styles) }
        let ignored = try Self.ignored(arguments, configuration, quick)
        let muted = quick == nil ? [] : wiring.mutedRules().subtracting(ignored)
        ignoredRules = ignored.union(muted)
        strictRules = try arguments.strictRules()
        setting = ReviewSetting(
            advisors: advisors, storyType: storyType, stage: arguments.stage, prices: prices, mutedRules: muted)
        engine = try access.map { SuggestionEngine(model: $0, prompts: try wiring.prompts()) }
        options = ReviewOptions(
            advisors: advisors, storyType: storyType, stage: arguments.stage, categories: filter.categories,
            minConfidence: filter.minConfidence, maxSuggestions: filter.maximum)
        isVerbose = model.verbose
    }

    private static func access(
        _ wiring: Wiring, _ configuration: TKConfiguration, _ prices: ModelTable, _ arguments: ReviewArguments
    ) async throws -> ModelAccess? {
        do {
            return try await wiring.access(configuration, prices)
        } catch let error as LLMError {
            guard !arguments.noQuick, let absence = wiring.absence(error, configuration, prices) else { throw error }
            Terminal.note("tk: quick pass only: \(absence)")
            return nil
        }
    }

    /// The disabled rules: by flag, else as configured.
    private static func ignored(
        _ arguments: ReviewArguments, _ configuration: TKConfiguration, _ quick: QuickPass?
    ) throws -> Set<String> {
        guard let named = arguments.ignore else { return configuration.ignoredRules }
        let rules = ReviewArguments.list(named)
        try quick?.check(rules)
        return Set(rules)
    }

    /// The advisors for a description (docs/design/advisors.md, "Roles"), and the story type if none is given.
    private static func team(
        _ description: String, _ access: ModelAccess?, _ catalogue: RoleCatalogue, _ wiring: Wiring,
        _ announcing: ModelTable?
    ) async throws -> AdvisorTeam {
        let assembler = TeamAssembler(catalogue: catalogue, prompts: try wiring.prompts(), model: access)
        if let announcing, access != nil {
            Spending.announce("advisors", try assembler.plan(description), announcing)
        }
        let team: AdvisorTeam
        do {
            team = try await assembler.assemble(description)
        } catch let fault as Fault where fault.code == "budget" {
            Terminal.note("tk: the description's words choose the advisors: \(fault.message)")
            team = try await TeamAssembler(catalogue: catalogue, prompts: assembler.prompts).assemble(description)
        }
        if let announcing {
            let setting = ReviewSetting(advisors: catalogue.roles, prices: announcing)
            if !team.calls.isEmpty { Spending.report("advisors", team.calls, setting) }
        }
        for notice in team.notices { Terminal.note("tk: \(notice)") }
        Terminal.note("tk: advisors: \(team.advisors.joined(separator: ", "))")
        return team
    }

    /// Reviews a draft. If no advisor answers, the result contains only the quick pass, and ``ReviewedDraft/failures``
    /// says why. After a failure of the service, further drafts are not sent to it.
    ///
    /// - Parameter arrived: called with the findings of each pass and call as soon as they are there; only if a model is
    ///   asked, and by any thread.
    /// - Throws: with `--no-quick`, `LLMError` if no advisor answered, `Fault` if the budget is used up.
    func review(
        _ given: Draft, arrived: (@Sendable ([Suggestion]) -> Void)? = nil
    ) async throws -> ReviewedDraft {
        let name = given.name
        let draft = given.content
        let selection = try lines.map { try $0.range(in: draft, name) }
        let (words, problems) = quick?.spelling?.words(for: given.path.map { $0.real ?? $0 }) ?? ([], [])
        let hints = quick.map { quickFindings($0, given, words) } ?? []
        var reviewed = ReviewedDraft(name: name, draft: draft, suggestions: [])
        reviewed.stage = options.stage
        let house = styles?.review(draft, given.path, ignoredRules: ignoredRules, knownWords: words)
        for problem in news.of(problems + (house?.problems ?? [])) { Terminal.note("tk: warning: \(problem)") }
        reviewed.notices += news.of(house?.found.notices ?? [])
        if draft.syntax == .unknown {
            reviewed.notices.append(
                "it is in \(draft.syntax.title), so the quick pass skips it, and advisors can only make remarks")
        }
        var found = (hints + (house?.found.suggestions ?? [])).filter { hint in
            selection.map { $0.overlaps(hint.anchor.start..<hint.anchor.end) } ?? true
        }
        if let engine, draft.scalars.contains(where: { !$0.properties.isWhitespace }),
            try follow(Self.journey(of: given), &reviewed)
        {
            var options = options
            (options.selection, options.stage) = (selection, reviewed.stage)
            let limit = TimeLimit(timeout)
            var limited = SuggestionEngine(model: engine.model.within(limit), prompts: engine.prompts)
            limited.arrived = arrived
            arrived?(found)
            do {
                found += try await ask(limited, options, &reviewed)
                reviewed.isOutOfTime = limit.hasPassed
            } catch {
                guard quick != nil, Self.leavesQuickPass(error) else { throw error }
                reviewed.failures = setting.advisors.map { AdvisorFailure(advisorID: $0.id, error: error) }
                reviewed.calls = (error as? LLMError)?.partial.map { [CallSummary($0)] } ?? []
            }
        }
        let merged = SuggestionMerger.merge(found, of: draft)
        reviewed.suggestions = filter.apply(merged, dropped: &reviewed.dropped)
        reviewed.discussions = SuggestionMerger.threads(reviewed.suggestions, of: draft)
        return reviewed
    }

    /// Takes the stage from the draft's journey unless one is named.
    ///
    /// - Returns: whether advisors may be asked: a final text is read by none.
    /// - Throws: `Fault` for a final text if there is no quick pass either.
    private func follow(_ journey: @autoclosure () -> JourneyState?, _ reviewed: inout ReviewedDraft) throws -> Bool {
        guard reviewed.stage == nil, let journey = journey() else { return true }
        reviewed.stage = journey.draftStage
        guard journey.stage == .final else { return true }
        let reason =
            "the text is final, so no advisor is asked; `tk journey back` returns to feedback, `--stage late` asks once"
        guard quick != nil else { throw Fault(.refused, reason) }
        reviewed.notices.append(reason)
        return false
    }

    /// nil without one.
    private static func journey(of draft: Draft) -> JourneyState? {
        guard let path = draft.path?.real else { return nil }
        do {
            return try DraftJourney(of: path).state.journey
        } catch let fault as Fault where fault.kind == .usage {
            // A sidecar, or no file.
            return nil
        } catch {
            Terminal.note("tk: warning: \(explain(error))")
            return nil
        }
    }

    private func quickFindings(_ quick: QuickPass, _ draft: Draft, _ words: Set<String>) -> [Suggestion] {
        var settings = QuickPass.Settings(
            roles: setting.advisors.map(\.id), ignoredRules: ignoredRules, strictRules: strictRules)
        settings.knownWords = words
        let found = quick.review(draft.content, settings: settings)
        for notice in news.of(found.absence.map { [$0] } ?? []) { Terminal.note("tk: \(notice)") }
        return found.suggestions
    }

    private func ask(
        _ engine: SuggestionEngine, _ options: ReviewOptions, _ reviewed: inout ReviewedDraft
    ) async throws -> [Suggestion] {
        guard !outage.hasBegun else {
            throw Fault(.failed, "not asked, because that would fail in the same way", code: Self.notAsked)
        }
        if isVerbose { Spending.announce(reviewed.name, try engine.plan(reviewed.draft, options), setting.prices) }
        do {
            let result = try await engine.review(reviewed.draft, options)
            reviewed.usedModel = true
            reviewed.dropped = result.dropped
            reviewed.isPartial = result.isPartial
            reviewed.failures = result.failures
            reviewed.notices += result.notices
            reviewed.calls = result.calls
            return result.suggestions
        } catch let error as LLMError {
            if Self.concernsTheService(error) { outage.begin() }
            throw error
        }
    }

    private static let notAsked = "not-asked"

    /// Whether an error affects only the advisors, so that the quick pass still counts.
    private static func leavesQuickPass(_ error: any Error) -> Bool {
        error is LLMError || ["budget", notAsked].contains((error as? Fault)?.code)
    }

    /// Whether the next draft would fail too: retries are exhausted, or the user must act first.
    private static func concernsTheService(_ error: LLMError) -> Bool {
        switch error.kind {
        case .keyMissing, .authentication, .billing, .overloaded, .notAvailable, .notAllowed, .network, .server: true
        case .rateLimited, .invalidRequest, .contextTooLong, .refused, .truncated, .timedOut, .malformed: false
        }
    }

    /// Reports failures that did not end the review and, with `--verbose`, usage; on standard error.
    func report(_ draft: ReviewedDraft) {
        if draft.isUnanswered, let failure = draft.failures.first {
            Terminal.noteNever()
            Terminal.note("tk: \(draft.name): quick pass only: \(failure.message)")
        } else {
            Terminal.noteNow()
            for failure in draft.failures {
                let who = setting.name(of: failure.advisorID)
                Terminal.note("tk: warning: \(draft.name): \(who) gave no answer: \(failure.message)")
            }
        }
        for notice in draft.notices { Terminal.note("tk: \(draft.name): \(notice)") }
        if draft.isPartial {
            Terminal.note("tk: warning: \(draft.name): an answer was cut; there may be more to say")
        }
        guard isVerbose else { return }
        if !setting.mutedRules.isEmpty {
            Terminal.note(
                "tk: \(draft.name): muted rules: \(setting.mutedRules.sorted().joined(separator: ", ")) "
                    + "(`tk config unmute RULE`)")
        }
        for reason in draft.dropped.reasons("finding") where !draft.notices.contains(reason) {
            Terminal.note("tk: \(draft.name): \(reason)")
        }
        if !draft.isUnanswered || !draft.calls.isEmpty { Spending.report(draft.name, draft.calls, setting) }
    }
}

extension ReviewedDraft {
    /// Whether advisors were asked and none of them answered.
    var isUnanswered: Bool { !usedModel && !failures.isEmpty }
}

/// Tokens and costs for people, on standard error with `--verbose`.
enum Spending {
    /// Announces the calls and their estimated cost.
    static func announce(_ name: String, _ plan: CallPlan, _ prices: ModelTable) {
        let cost = plan.expectedCost(prices).map { "about \($0)" } ?? "at an unknown price"
        let models = Set(plan.calls.map { "\($0.provider) \($0.model)" }).sorted().joined(separator: ", ")
        Terminal.note(
            "tk: \(name): asking \(models), about \(plan.inputTokens) tokens in \(plan.calls.count) "
                + "call\(plan.calls.count == 1 ? "" : "s"), \(cost)")
    }

    static func report(_ name: String, _ calls: [CallSummary], _ setting: ReviewSetting) {
        guard let first = calls.first else { return Terminal.note("tk: \(name): no model was asked, $0.00") }
        let sum = calls.reduce(LLMUsage()) { $0 + ($1.usage ?? LLMUsage()) }
        let cached = sum.cacheReadTokens > 0 ? " (\(sum.cacheReadTokens) cached)" : ""
        let cost = setting.cost(of: calls).map(\.description) ?? "unknown"
        Terminal.note(
            "tk: \(name): \(first.provider) \(first.model), \(sum.totalInputTokens) tokens in\(cached), "
                + "\(sum.outputTokens) out, cost \(cost)")
    }
}

extension QuickPass {
    /// - Throws: `Fault` (`.usage`) for an unknown rule, with a suggestion.
    func check(_ names: [String]) throws {
        let known = rules.map(\.id)
        // `Style.Rule` is a house rule, unless an advisor has rules of that name.
        let groups = Set(known.filter { $0.contains(".") }.map { $0.prefix { $0 != "." } })
        let isHouseRule = { (name: String) in
            name.contains(".") && !groups.contains(name.prefix { $0 != "." })
        }
        if let wrong = names.first(where: { !known.contains($0) && !isHouseRule($0) }) {
            throw Fault(
                .usage,
                "there is no rule `\(BytePath.escape(wrong.utf8))`; \(NearMiss.hint(for: wrong, among: known))")
        }
    }
}
