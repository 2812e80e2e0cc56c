import Platform

/// A question to an advisor and its answer, for storage.
public struct QuestionExchange: Codable, Sendable, Hashable {
    /// The writer's.
    public var question: String
    /// The advisor's.
    public var answer: String

    /// One turn of a conversation.
    public init(question: String, answer: String) {
        self.question = question
        self.answer = answer
    }
}

/// An advisor's answer to a question.
public struct QuestionAnswer: Sendable, Hashable {
    /// As the advisor wrote it, without control characters.
    public var text: String
    /// The advisor.
    public var advisorID: String
    /// The answer was cut off.
    public var isPartial: Bool
    /// Messages for a person, a sentence each.
    public var notices: [String]
    /// The call that was made.
    public var call: CallSummary
}

/// Asks an advisor questions, about a draft or about writing.
public struct QuestionEngine: Sendable {
    /// The model that plays the advisor.
    public let model: ModelAccess
    /// Builds the prompts.
    public let prompts: PromptEngine

    /// A stateless engine: the conversation is passed with each question.
    public init(model: ModelAccess, prompts: PromptEngine) {
        self.model = model
        self.prompts = prompts
    }

    /// Asks.
    ///
    /// - Parameters:
    ///   - draft: the subject of the question; if it is too long, its end is left out, and the answer says so.
    ///   - history: earlier questions to the same advisor, oldest first; those that do not fit are left out.
    ///   - onText: receives the answer as it is written.
    /// - Throws: `Fault` (`.usage`) for an empty question, ``LLMError``, errors from the recorder, `CancellationError`.
    public func ask(
        _ question: String, _ role: Role, draft: DraftText? = nil, storyType: StoryType? = nil,
        stage: DraftStage? = nil,
        history: [QuestionExchange] = [], onText: (@Sendable (String) -> Void)? = nil
    ) async throws -> QuestionAnswer {
        let prepared = try prepare(question, role, draft, storyType, stage, history)
        var listener: (@Sendable (String) -> Void)?
        if let onText { listener = { piece in onText(FindingResolver.printable(piece)) } }
        let response = try await model.answer(
            .question, advisors: [role.id], prepared.request, onText: listener)
        let isEmpty = response.text.allSatisfy { $0.isWhitespace }
        if response.isRefused || isEmpty {
            _ = try response.whole()
            throw LLMError(
                .malformed,
                "\(response.provider): \(response.model) gave an empty answer. Ask again, or in other words.",
                provider: response.provider, requestID: response.requestID, partial: response)
        }
        return QuestionAnswer(
            text: FindingResolver.printable(response.text), advisorID: role.id, isPartial: response.isTruncated,
            notices: prepared.notices + response.warnings, call: CallSummary(response))
    }

    /// The call that ``ask(_:_:draft:storyType:stage:history:onText:)`` will make.
    public func plan(
        _ question: String, _ role: Role, draft: DraftText? = nil, storyType: StoryType? = nil,
        stage: DraftStage? = nil,
        history: [QuestionExchange] = []
    ) throws -> CallPlan {
        let request = try prepare(question, role, draft, storyType, stage, history).request
        return CallPlan([model.plan(.question, advisors: [role.id], request)])
    }

    private func prepare(
        _ question: String, _ role: Role, _ draft: DraftText?, _ storyType: StoryType?, _ stage: DraftStage?,
        _ history: [QuestionExchange]
    ) throws -> (request: LLMRequest, notices: [String]) {
        guard question.contains(where: { !$0.isWhitespace }) else {
            throw Fault(.usage, "the question is empty; ask like `tk ask \"How should I begin?\"`")
        }
        let system = instructions(role, storyType, stage)
        var left =
            model.contextTokens - model.maxOutputTokens - ModelAccess.mostTokens(system)
            - ModelAccess.mostTokens(question + prompts.sections.data) - 256
        guard left > 0 else {
            throw LLMError(
                .contextTooLong,
                "\(model.provider.name): the question is longer than \(model.provider.modelID) reads at once. Shorten it, "
                    + "or use another model.", provider: model.provider.name)
        }
        var notices: [String] = []
        var message = question
        if let draft, draft.count > 0 {
            let piece = DraftPieces.cut(draft, limit: max(left, 1) * 3).first ?? 0..<draft.count
            if piece.count < draft.count {
                notices.append(
                    "the draft is longer than \(model.provider.modelID) reads at once; the advisor saw lines 1 to "
                        + "\(draft.line(at: piece.upperBound - 1)) of \(draft.lineCount)")
            }
            let text = draft[piece]
            left -= ModelAccess.mostTokens(text)
            message = prompts.userMessage(task: "The writer asks about the draft below:\n\(question)", draft: text)
        }
        var messages: [LLMRequest.Message] = []
        for exchange in history.reversed() {
            left -= ModelAccess.mostTokens(exchange.question) + ModelAccess.mostTokens(exchange.answer)
            guard left > 0 else {
                notices.append("earlier questions did not fit and were left out")
                break
            }
            messages.append(.assistant(exchange.answer))
            messages.append(.user(exchange.question))
        }
        messages.reverse()
        messages.append(.user(message))
        return (
            LLMRequest(system: [.init(system, cached: true)], messages: messages, maxTokens: model.maxOutputTokens),
            notices
        )
    }

    /// Voice, focus and genre, without the sections about the form of suggestions.
    private func instructions(_ role: Role, _ storyType: StoryType?, _ stage: DraftStage?) -> String {
        [
            "VOICE AND TONE:\n\(role.voiceAndTone)", prompts.sections.constraints, PromptEngine.focus(of: role),
            storyType.map { "GENRE CONTEXT:\n\($0.genreContext)" } ?? "",
            stage.flatMap { prompts.sections.stages[$0] } ?? "",
            "ANSWER:\nAnswer the writer's question directly and in plain prose. Where it is about a draft, point to the "
                + "words that you mean by quoting them. Say so if you cannot know.",
        ].filter { !$0.isEmpty }.joined(separator: "\n\n")
    }
}
