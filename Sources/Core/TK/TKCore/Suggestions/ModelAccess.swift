import Platform

/// A model with what is known of it, and who hears of its calls.
public struct ModelAccess: Sendable {
    /// Where nothing is known of a model.
    public static let usualContext = 32_768
    /// The longest answer, unless the model or the caller allows less.
    public static let usualAnswer = 8_192
    /// What servers that have a cache keep at the least, where nothing else is known.
    private static let usualMinimum = 1_024

    /// Where calls go.
    public let provider: any LLMProvider
    /// Hears of every call.
    public let recorder: (any CallRecorder)?
    /// Tokens that fit into prompt and answer together.
    public let contextTokens: Int
    /// The longest answer that is asked for.
    public let maxOutputTokens: Int
    /// So many calls run at once.
    public let concurrency: Int
    /// The server keeps a beginning of at least so many tokens for other calls; nil where it keeps none, or for nothing.
    let keptTokens: Int?

    /// - Parameters:
    ///   - entry: what the table of models says; without one, a context of ``usualContext`` is assumed.
    ///   - contextTokens: overrides the table, e.g. for Ollama, whose longest context is a setting.
    public init(
        provider: any LLMProvider, recorder: (any CallRecorder)? = nil, entry: ModelEntry? = nil,
        contextTokens: Int? = nil, maxOutputTokens: Int? = nil, concurrency: Int = 4
    ) {
        self.provider = provider
        self.recorder = recorder
        let context = max(contextTokens ?? entry?.contextTokens ?? Self.usualContext, 1_024)
        self.contextTokens = context
        let answer = maxOutputTokens ?? min(entry?.maxOutputTokens ?? Self.usualAnswer, Self.usualAnswer)
        self.maxOutputTokens = max(64, min(answer, context / 4))
        self.concurrency = max(1, concurrency)
        keptTokens = entry.flatMap { $0.minimumCachedTokens ?? ($0.cacheRead == nil ? nil : Self.usualMinimum) }
    }

    /// The same, by way of another provider.
    func with(_ provider: any LLMProvider) -> ModelAccess { ModelAccess(self, provider) }

    private init(_ other: ModelAccess, _ provider: any LLMProvider) {
        self.provider = provider
        recorder = other.recorder
        contextTokens = other.contextTokens
        maxOutputTokens = other.maxOutputTokens
        concurrency = other.concurrency
        keptTokens = other.keptTokens
    }

    /// Tokens that a text takes up at most, as good as always: more than ``TokenEstimate``, which is for prices, because
    /// a prompt that does not fit is lost.
    static func mostTokens(_ text: String) -> Int { text.utf8.count / 3 + 1 }

    /// The call as it will be made.
    func plan(_ purpose: PlannedCall.Purpose, advisors: [String], _ request: LLMRequest) -> PlannedCall {
        var key = "\(provider.name)\u{0}\(provider.modelID)\u{0}\(request.maxTokens)\u{0}\(request.schema?.json ?? "")"
        var tokens = 0
        for block in request.system {
            key += "\u{0}s\(block.text.utf8.count):\(block.text)"
            tokens += TokenEstimate.tokens(block.text)
        }
        for message in request.messages {
            key += "\u{0}\(message.role.rawValue)\(message.whole.utf8.count):\(message.whole)"
            tokens += TokenEstimate.tokens(message.whole)
        }
        return PlannedCall(
            purpose: purpose, advisors: advisors, provider: provider.name, model: provider.modelID,
            key: ContentHash(of: key.utf8).description, inputTokens: tokens, maxOutputTokens: request.maxTokens)
    }

    /// Makes a call, or takes the answer that the recorder has. A truncated or refused answer is returned as it is; one
    /// that broke off is returned as far as it came, marked as interrupted.
    ///
    /// - Parameter onText: hears of the answer as it is written; not of one that the recorder has.
    func answer(
        _ purpose: PlannedCall.Purpose, advisors: [String], _ request: LLMRequest,
        onText: (@Sendable (String) -> Void)? = nil
    ) async throws -> LLMResponse {
        let call = plan(purpose, advisors: advisors, request)
        if let known = try await recorder?.before(call) { return known }
        let response: LLMResponse
        do {
            response = try await receive(request, onText)
        } catch {
            try await recorder?.after(call, .failed(error))
            guard let error = error as? LLMError, var partial = error.partial, !partial.text.isEmpty else {
                throw error
            }
            // Whoever cannot use so much of it says why there is no more.
            partial.interruption = LLMResponse.Interruption(kind: error.kind, message: error.message)
            if !partial.warnings.contains(error.message) { partial.warnings.append(error.message) }
            return partial
        }
        try await recorder?.after(call, .answered(response))
        return response
    }

    private func receive(_ request: LLMRequest, _ onText: (@Sendable (String) -> Void)?) async throws -> LLMResponse {
        guard let onText else { return try await provider.generate(request) }
        for try await event in provider.stream(request) {
            switch event {
            case .retrying: continue
            case .text(let piece): onText(piece)
            case .done(let response): return response
            }
        }
        try Task.checkCancellation()
        throw LLMError(
            .truncated,
            "\(provider.name): the answer of \(provider.modelID) ended without a word about why. Try again.",
            provider: provider.name)
    }
}

/// What a call was, for those who asked for it.
public struct CallSummary: Sendable, Hashable, Codable {
    /// Who answered.
    public var provider: String
    /// As the server names it.
    public var model: String
    /// Nil where the server did not say.
    public var usage: LLMUsage?

    package init(_ response: LLMResponse) {
        provider = response.provider
        model = response.model
        usage = response.usage
    }
}

/// An advisor that gave no answer, and why.
public struct AdvisorFailure: Codable, Sendable, Hashable {
    /// Who.
    public var advisorID: String
    /// For a person: what, why, what to do.
    public var message: String
    /// The provider's kind of error, where it was the provider.
    public var kind: LLMError.Kind?

    package init(advisorID: String, error: any Error) {
        self.advisorID = advisorID
        kind = (error as? LLMError)?.kind
        message = (error as? LLMError)?.message ?? "\(error)"
    }
}
