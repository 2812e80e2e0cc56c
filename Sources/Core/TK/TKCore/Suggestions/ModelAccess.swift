import Platform

/// A model with its limits and its call recorder.
public struct ModelAccess: Sendable {
    /// The default for an unknown model.
    public static let usualContext = 32_768
    /// The maximum answer, unless the model or the caller allows less.
    public static let usualAnswer = 8_192
    /// The minimum prefix that servers cache, by default.
    private static let usualMinimum = 1_024

    /// The destination of calls.
    public let provider: any LLMProvider
    /// Observes every call.
    public let recorder: (any CallRecorder)?
    /// Tokens that fit in prompt and answer together.
    public let contextTokens: Int
    /// The maximum answer to request.
    public let maxOutputTokens: Int
    /// The maximum number of calls in flight.
    public let concurrency: Int
    /// The minimum length in tokens of a prefix that the server caches; nil if it does not cache, or at no benefit.
    let keptTokens: Int?

    /// - Parameters:
    ///   - entry: from the table of models; without one, a context of ``usualContext`` is assumed.
    ///   - contextTokens: overrides the table, e.g. for Ollama, whose maximum context is a setting.
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

    /// The same, through another provider.
    func with(_ provider: any LLMProvider) -> ModelAccess { ModelAccess(self, provider) }

    private init(_ other: ModelAccess, _ provider: any LLMProvider) {
        self.provider = provider
        recorder = other.recorder
        contextTokens = other.contextTokens
        maxOutputTokens = other.maxOutputTokens
        concurrency = other.concurrency
        keptTokens = other.keptTokens
    }

    /// A practical upper bound for a text's tokens: higher than ``TokenEstimate``, which is for prices, because a
    /// prompt that does not fit is lost.
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

    /// Makes a call, or uses the recorder's stored answer. A truncated or refused answer is returned unchanged; an
    /// interrupted one is returned as far as it was received, marked as interrupted.
    ///
    /// - Parameter onText: receives the answer as it is written; not called for a stored one.
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
            // A caller for which this is not enough reports the reason.
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

/// A summary of a call, for the caller.
public struct CallSummary: Sendable, Hashable, Codable {
    /// The provider that answered.
    public var provider: String
    /// The server's name for it.
    public var model: String
    /// Nil if the server did not report it.
    public var usage: LLMUsage?

    package init(_ response: LLMResponse) {
        provider = response.provider
        model = response.model
        usage = response.usage
    }
}

/// An advisor that gave no answer, and why.
public struct AdvisorFailure: Codable, Sendable, Hashable {
    /// The advisor.
    public var advisorID: String
    /// For a person: the problem, the reason and the remedy.
    public var message: String
    /// The provider's kind of error, if it was the provider's.
    public var kind: LLMError.Kind?

    package init(advisorID: String, error: any Error) {
        self.advisorID = advisorID
        kind = (error as? LLMError)?.kind
        message = (error as? LLMError)?.message ?? "\(error)"
    }
}
