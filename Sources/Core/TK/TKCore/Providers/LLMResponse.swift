/// Token counts of one call, as reported by its server.
public struct LLMUsage: Sendable, Hashable, Codable {
    /// Billed at full price: neither read from a cache nor written to one.
    public var inputTokens: Int
    /// Read from the cache, at a fraction of the price.
    public var cacheReadTokens: Int
    /// Written to the cache, at more than the full price.
    public var cacheWriteTokens: Int
    /// Written by the model, including its reasoning.
    public var outputTokens: Int
    /// The part of ``outputTokens`` that is reasoning; 0 if the server does not report it.
    public var reasoningTokens: Int

    /// The largest plausible count for one call.
    package static let most = 1 << 32

    /// A server's counts; nil if one is implausible, so that the call's cost is unknown.
    package static func counted(
        inputTokens: Int = 0, cacheReadTokens: Int = 0, cacheWriteTokens: Int = 0, outputTokens: Int = 0,
        reasoningTokens: Int = 0
    ) -> LLMUsage? {
        let counts = [inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens]
        guard counts.allSatisfy((0...most).contains) else { return nil }
        return LLMUsage(
            inputTokens: inputTokens, cacheReadTokens: cacheReadTokens, cacheWriteTokens: cacheWriteTokens,
            outputTokens: outputTokens, reasoningTokens: reasoningTokens)
    }

    /// Counts, each 0 by default.
    public init(
        inputTokens: Int = 0, cacheReadTokens: Int = 0, cacheWriteTokens: Int = 0, outputTokens: Int = 0,
        reasoningTokens: Int = 0
    ) {
        self.inputTokens = inputTokens
        self.cacheReadTokens = cacheReadTokens
        self.cacheWriteTokens = cacheWriteTokens
        self.outputTokens = outputTokens
        self.reasoningTokens = reasoningTokens
    }

    /// Everything the model read.
    public var totalInputTokens: Int { inputTokens + cacheReadTokens + cacheWriteTokens }

    /// The sums.
    public static func + (left: LLMUsage, right: LLMUsage) -> LLMUsage {
        LLMUsage(
            inputTokens: left.inputTokens + right.inputTokens,
            cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
            cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
            outputTokens: left.outputTokens + right.outputTokens,
            reasoningTokens: left.reasoningTokens + right.reasoningTokens)
    }
}

/// A model's answer.
public struct LLMResponse: Sendable, Hashable, Codable {
    /// Why the model stopped.
    public enum StopReason: String, Sendable, Hashable, Codable {
        /// The model was done.
        case end
        /// `maxTokens` was reached.
        case length
        /// The model's context was full.
        case context
        /// One of the request's stop texts.
        case stopText
        /// The model or its server declined; ``LLMResponse/refusal`` says more.
        case refusal
        /// The connection ended first. Occurs only in ``LLMError/partial``.
        case interrupted
        /// A value unknown to this version.
        case other
    }

    /// The model's text.
    public var text: String
    /// Nil if the server did not report it: the call's cost is unknown.
    public var usage: LLMUsage?
    /// The server's name for it, which may be more specific than the requested one.
    public var model: String
    /// The name of the provider that answered.
    public var provider: String
    /// Why it stopped.
    public var stopReason: StopReason
    /// The reason for a refusal, if any.
    public var refusal: String?
    /// The server's own request id, for its support.
    public var requestID: String?
    /// Messages for a person about this answer, a sentence each.
    public var warnings: [String]
    /// What ended it, if neither the model nor its limit did: ``StopReason/interrupted``.
    public var interruption: Interruption?

    /// Why an answer broke off.
    public struct Interruption: Sendable, Hashable, Codable {
        /// The error's kind.
        public var kind: LLMError.Kind
        /// For a person: the problem, its place and reason, and the next step.
        public var message: String
    }

    /// A response; see the properties.
    public init(
        text: String, usage: LLMUsage? = nil, model: String, provider: String, stopReason: StopReason = .end,
        refusal: String? = nil, requestID: String? = nil, warnings: [String] = []
    ) {
        self.text = text
        self.usage = usage
        self.model = model
        self.provider = provider
        self.stopReason = stopReason
        self.refusal = refusal
        self.requestID = requestID
        self.warnings = warnings
    }

    /// Whether the model had more to say: JSON in ``text`` then needs ``JSONSalvage``.
    public var isTruncated: Bool {
        switch stopReason {
        case .length, .context, .interrupted: true
        case .end, .stopText, .refusal, .other: false
        }
    }

    /// Whether the model or its server declined.
    public var isRefused: Bool { stopReason == .refusal || refusal != nil }

    /// Itself, or an ``LLMError`` of kind `refused` or `truncated` that carries it: for a caller that needs a complete
    /// answer.
    public func whole() throws -> LLMResponse {
        if isRefused {
            throw LLMError(
                .refused,
                "\(provider): \(model) declined to answer\(refusal.map { ": \($0)" } ?? ""). "
                    + "Reword the request, or use another model.", provider: provider, partial: self)
        }
        if stopReason == .interrupted {
            throw LLMError(
                interruption?.kind ?? .truncated,
                interruption?.message ?? "\(provider): the answer of \(model) broke off. Try again.",
                provider: provider,
                requestID: requestID, partial: self)
        }
        if isTruncated {
            throw LLMError(
                .truncated,
                "\(provider): the answer of \(model) was cut at "
                    + (stopReason == .context
                        ? "the end of its context. Send a shorter text."
                        : "the token limit. Allow more tokens, or ask for less."),
                provider: provider, partial: self)
        }
        return self
    }
}

/// An event of a stream: pieces of text, then the whole response once.
public enum LLMStreamEvent: Sendable, Hashable {
    /// An attempt failed before its first piece of text; the next one follows after a delay.
    case retrying(after: Duration, because: LLMError)
    case text(String)
    case done(LLMResponse)
}

/// A model that a server offers.
public struct LLMModel: Sendable, Hashable, Codable {
    /// The server's id for it.
    public var id: String
    /// Its display name.
    public var displayName: String?
    /// Tokens that fit in one prompt, if reported.
    public var contextTokens: Int?
    /// The maximum answer, if reported.
    public var maxOutputTokens: Int?

    /// A model; see the properties.
    public init(id: String, displayName: String? = nil, contextTokens: Int? = nil, maxOutputTokens: Int? = nil) {
        self.id = id
        self.displayName = displayName
        self.contextTokens = contextTokens
        self.maxOutputTokens = maxOutputTokens
    }
}
