import Platform

/// Asks advisors for suggestions about a draft (docs/design/advisors.md).
///
/// Several advisors are asked in one call. If that gives no usable answer, each is asked separately. A draft that is
/// too long for the model is sent in pieces. A model's output counts only as remarks about the draft: every quote is
/// located in the text that was sent, which gives its position, and quotes that are not there are dropped and counted.
public struct SuggestionEngine: Sendable {
    /// The model that plays the advisors.
    public let model: ModelAccess
    /// Builds the prompts.
    public let prompts: PromptEngine
    /// Called with the suggestions of each call when it returns, by any thread: for a person who waits. The result has
    /// them too.
    package var arrived: (@Sendable ([Suggestion]) -> Void)?

    /// An engine for this model.
    public init(model: ModelAccess, prompts: PromptEngine) {
        self.model = model
        self.prompts = prompts
    }

    /// The suggestions of all advisors.
    ///
    /// - Throws: ``LLMError`` with the first reason if no advisor answered, errors from the recorder, and
    ///   `CancellationError`. An advisor that fails while others answer is in ``ReviewResult/failures``.
    public func review(_ draft: DraftText, _ options: ReviewOptions) async throws -> ReviewResult {
        guard !options.advisors.isEmpty else {
            throw Fault(.usage, "a review needs an advisor (`tk roles list` shows them)")
        }
        let mask = DraftMask(draft)
        let jobs = try jobs(draft, options)
        let limit = model.concurrency
        let answers = try await inParallel(jobs, limit: limit) { job in
            try await self.answers(to: job, draft, mask)
        }
        var result = ReviewResult()
        var failures: [(any Error)] = []
        for (job, answer) in zip(jobs, answers) {
            switch answer {
            case .success(let part): Self.add(part, to: &result)
            case .failure(let error):
                guard error is LLMError else { throw error }
                failures.append(error)
                result.failures += job.options.advisors.map { AdvisorFailure(advisorID: $0.id, error: error) }
            }
        }
        if result.calls.isEmpty, let first = failures.first { throw first }
        if jobs.count > 1, options.parts == nil {
            result.notices.append(
                "the draft is longer than \(model.provider.modelID) reads at once; it went in \(jobs.count) parts")
        }
        finish(&result, draft, options)
        return result
    }

    /// The calls that ``review(_:_:)`` will make if nothing goes wrong, for a cost estimate.
    public func plan(_ draft: DraftText, _ options: ReviewOptions) throws -> CallPlan {
        CallPlan(
            try jobs(draft, options).map {
                model.plan(.suggestions, advisors: $0.options.advisors.map(\.id), try request($0, draft).request)
            })
    }

    // MARK: Jobs

    /// Scalars of context on each side of a part.
    private static let company = 800

    /// One call: a piece of the draft, and the advisors that read it.
    private struct Job: Sendable {
        var piece: Range<Int>
        var part: Int
        var parts: Int
        var options: ReviewOptions
    }

    private func jobs(_ draft: DraftText, _ options: ReviewOptions) throws -> [Job] {
        let system = prompts.systemPrompt(for: options.advisors, storyType: options.storyType, stage: options.stage)
        let task = SuggestionPrompt.task(options, part: (1, 1), hasSelection: false) + prompts.sections.data
        let used = ModelAccess.mostTokens(system) + ModelAccess.mostTokens(task) + model.maxOutputTokens + 256
        let left = model.contextTokens - used
        guard left >= 256 else {
            throw LLMError(
                .contextTooLong,
                "\(model.provider.name): the instructions for \(options.advisors.count) advisors take \(used) of the "
                    + "\(model.contextTokens) tokens that \(model.provider.modelID) reads at once. Ask fewer advisors, or "
                    + "use another model.", provider: model.provider.name)
        }
        if let parts = options.parts {
            let limit = max(left * 3 - 2 * Self.company * 4, 768)
            let pieces = parts.flatMap { part in
                DraftPieces.cut(DraftText(draft[part], syntax: draft.syntax), limit: limit).map {
                    part.lowerBound + $0.lowerBound..<part.lowerBound + $0.upperBound
                }
            }
            return pieces.map { Job(piece: $0, part: 1, parts: 1, options: options) }
        }
        // A selection is sent a second time.
        let pieces = DraftPieces.cut(draft, limit: left * 3 / (options.selection == nil ? 1 : 2))
        let wanted = pieces.enumerated().filter { _, piece in
            options.selection.map { FindingResolver.touches($0, piece) } ?? true
        }
        return wanted.map { Job(piece: $0.element, part: $0.offset + 1, parts: pieces.count, options: options) }
    }

    private func request(_ job: Job, _ draft: DraftText) throws -> (request: LLMRequest, boundary: String) {
        if job.options.parts != nil {
            let around = draft.graphemeRange(
                around: job.piece.lowerBound - Self.company..<job.piece.upperBound + Self.company)
            return try SuggestionPrompt.request(
                piece: draft[job.piece], before: draft[around.lowerBound..<job.piece.lowerBound],
                after: draft[job.piece.upperBound..<around.upperBound], options: job.options, engine: prompts,
                maxTokens: model.maxOutputTokens)
        }
        let selected = job.options.selection.map { $0.clamped(to: job.piece) }.flatMap { $0.isEmpty ? nil : $0 }
        return try SuggestionPrompt.request(
            piece: draft[job.piece], selection: selected.map { draft[$0] },
            part: job.parts > 1 ? (job.part, job.parts) : nil, options: job.options, engine: prompts,
            maxTokens: model.maxOutputTokens)
    }

    // MARK: Answers

    /// The result of one job.
    private struct Part: Sendable {
        var suggestions: [Suggestion] = []
        var dropped = DroppedFindings()
        var isPartial = false
        var failures: [AdvisorFailure] = []
        var notices: [String] = []
        var calls: [CallSummary] = []
    }

    private func answers(to job: Job, _ draft: DraftText, _ mask: DraftMask) async throws -> Part {
        guard job.options.advisors.count > 1 else { return try await answer(to: job, draft, mask) }
        var part: Part
        var missing: [Role]
        do {
            part = try await answer(to: job, draft, mask)
            if part.suggestions.isEmpty, part.dropped.unknownAdvisor > 0 {
                // The findings cannot be attributed; a single advisor needs no name.
                part.dropped = DroppedFindings()
                part.isPartial = false
                part.notices.append(
                    "one call for all advisors gave findings that name none of them; each was asked alone")
                missing = job.options.advisors
            } else {
                guard part.isPartial else { return part }
                // The answer was cut off: the advisors without findings are asked separately.
                missing = job.options.advisors.filter { role in
                    !part.suggestions.contains { $0.advisorID == role.id }
                }
                guard !missing.isEmpty else { return part }
            }
        } catch let error as LLMError where Self.mayHelpAlone(error) {
            part = Part()
            if let partial = error.partial { part.calls.append(CallSummary(partial)) }
            part.notices.append(
                "one call for all advisors gave no answer (\(error.kind.rawValue)); each was asked alone")
            missing = job.options.advisors
        }
        let alone = missing.map { role in
            var single = job
            single.options.advisors = [role]
            return single
        }
        // The pieces of a long draft are already sent concurrently.
        let limit = job.parts > 1 ? 1 : model.concurrency
        let results = try await inParallel(alone, limit: limit) { try await self.answer(to: $0, draft, mask) }
        var first: (any Error)?
        for (role, result) in zip(missing, results) {
            switch result {
            case .success(let own):
                part.suggestions += own.suggestions
                part.dropped += own.dropped
                part.isPartial = part.isPartial || own.isPartial
                part.notices += own.notices
                part.calls += own.calls
            case .failure(let error):
                guard error is LLMError else { throw error }
                first = first ?? error
                part.failures.append(AdvisorFailure(advisorID: role.id, error: error))
            }
        }
        if part.failures.count == job.options.advisors.count, let first { throw first }
        return part
    }

    /// Whether a call for fewer advisors may succeed after one for all failed. Not if the service itself is at fault.
    private static func mayHelpAlone(_ error: LLMError) -> Bool {
        switch error.kind {
        case .malformed, .refused, .truncated, .contextTooLong, .invalidRequest, .server: true
        case .keyMissing, .authentication, .billing, .rateLimited, .overloaded, .notAvailable, .notAllowed, .network,
            .timedOut:
            false
        }
    }

    /// One call and its findings. Throws ``LLMError`` for a refusal, and for an answer without a readable list.
    private func answer(to job: Job, _ draft: DraftText, _ mask: DraftMask) async throws -> Part {
        let (request, boundary) = try request(job, draft)
        let ids = job.options.advisors.map(\.id)
        let response = try await model.answer(.suggestions, advisors: ids, request)
        let piece = draft[job.piece]
        guard !response.isRefused else { return try Self.unusable(response) }
        guard let read = AnswerItems.read(FindingItem.self, key: "suggestions", from: response.text, draft: piece)
        else {
            return try Self.unusable(response)
        }
        var part = Part()
        part.calls = [CallSummary(response)]
        part.isPartial = read.isPartial || response.isTruncated
        part.notices = response.warnings
        part.dropped.unreadable = read.unreadable
        part.dropped.echoed = read.echoed
        let resolver = FindingResolver(
            draft: draft, mask: mask, piece: job.piece, boundary: boundary, options: job.options)
        part.suggestions = resolver.suggestions(
            from: read.items, advisor: ids.count == 1 ? job.options.advisors.first : nil, dropped: &part.dropped)
        arrived?(part.suggestions)
        return part
    }

    private static func unusable(_ response: LLMResponse) throws -> Part {
        _ = try response.whole()
        throw LLMError(
            .malformed,
            "\(response.provider): \(response.model) did not answer in the form that was asked for. Try again, or use "
                + "another model.", provider: response.provider, requestID: response.requestID, partial: response)
    }

    private static func add(_ part: Part, to result: inout ReviewResult) {
        result.suggestions += part.suggestions
        result.dropped += part.dropped
        result.isPartial = result.isPartial || part.isPartial
        result.failures += part.failures
        result.notices += part.notices.filter { !result.notices.contains($0) }
        result.calls += part.calls
    }

    /// Reports large losses, limits the number of findings, sorts by position, and makes ids unique.
    private func finish(_ result: inout ReviewResult, _ draft: DraftText, _ options: ReviewOptions) {
        // More was lost than found: that reflects on the model.
        if result.dropped.faulty > result.suggestions.count { result.notices += result.dropped.reasons("finding") }
        if let most = options.maxSuggestions, result.suggestions.count > max(0, most) {
            let ranked = result.suggestions.sorted(by: SuggestionOrder.byImportance)
            result.dropped.beyondMaximum += ranked.count - max(0, most)
            result.suggestions = Array(ranked.prefix(max(0, most)))
        }
        result.suggestions = SuggestionOrder.withUniqueIDs(result.suggestions)
    }
}

/// The orders in which suggestions are listed and chosen.
public enum SuggestionOrder {
    /// Most important first: priority, then confidence, then position.
    public static func byImportance(_ one: Suggestion, _ other: Suggestion) -> Bool {
        (one.priority, -one.confidence, one.anchor.start, one.anchor.end, one.id)
            < (other.priority, -other.confidence, other.anchor.start, other.anchor.end, other.id)
    }

    /// In text order.
    public static func byPosition(_ one: Suggestion, _ other: Suggestion) -> Bool {
        (one.anchor.start, one.anchor.end, one.priority, one.advisorID, one.suggestedText)
            < (other.anchor.start, other.anchor.end, other.priority, other.advisorID, other.suggestedText)
    }

    /// By position; of findings with equal ids, all but the first get a number.
    static func withUniqueIDs(_ suggestions: [Suggestion]) -> [Suggestion] {
        var seen: [String: Int] = [:]
        return suggestions.sorted(by: byPosition).map { suggestion in
            let occurrence = seen[suggestion.id, default: 0]
            seen[suggestion.id] = occurrence + 1
            guard occurrence > 0 else { return suggestion }
            var renamed = suggestion
            renamed.id = FindingIdentity.id(
                maker: suggestion.advisorID, quote: suggestion.originalText, before: suggestion.anchor.prefix,
                after: suggestion.anchor.suffix, occurrence: occurrence)
            return renamed
        }
    }
}
