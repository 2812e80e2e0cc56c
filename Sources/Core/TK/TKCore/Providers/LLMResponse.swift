/// Tokens of one call as its server counted them.
public struct LLMUsage: Sendable, Hashable, Codable {
    /// Read at the full price: neither taken from a cache nor written to one.
    public var inputTokens: Int
    /// Read from the cache, at a small part of the price.
    public var cacheReadTokens: Int
    /// Written to the cache, at more than the full price.
    public var cacheWriteTokens: Int
    /// Written by the model, its reasoning included.
    public var outputTokens: Int
    /// The part of ``outputTokens`` that is reasoning, 0 where the server does not say.
    public var reasoningTokens: Int

    /// More tokens than this in one call are no count: nobody has read or written so many.
    package static let most = 1 << 32

    /// As a server counts; nil where a number cannot be one, so that what the call cost is not known.
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

    /// Counts, each 0 unless given.
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
        /// The connection ended first. Only ``LLMError/partial`` holds such a response.
        case interrupted
        /// A word that this version does not know.
        case other
    }

    /// What the model wrote.
    public var text: String
    /// Nil where the server did not say: what the call cost is unknown.
    public var usage: LLMUsage?
    /// As the server names it, which may be more exact than what was asked for.
    public var model: String
    /// The name of the provider that answered.
    public var provider: String
    /// Why it stopped.
    public var stopReason: StopReason
    /// Why it declined, if it did.
    public var refusal: String?
    /// The server's own id of the call, for its support.
    public var requestID: String?
    /// What a person should know about this answer, a sentence each.
    public var warnings: [String]
    /// What ended it, where that was neither the model nor its limit: ``StopReason/interrupted``.
    public var interruption: Interruption?

    /// Why an answer broke off.
    public struct Interruption: Sendable, Hashable, Codable {
        /// As of the error.
        public var kind: LLMError.Kind
        /// For a person: what, where, why, and what to do next.
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

    /// Whether the model had more to say: JSON in ``text`` then wants ``JSONSalvage``.
    public var isTruncated: Bool {
        switch stopReason {
        case .length, .context, .interrupted: true
        case .end, .stopText, .refusal, .other: false
        }
    }

    /// Whether the model or its server declined.
    public var isRefused: Bool { stopReason == .refusal || refusal != nil }

    /// Itself, or an ``LLMError`` of kind `refused` or `truncated` that carries it: for a caller who can use whole
    /// answers only.
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

/// What a stream yields: pieces of text, then once the whole response.
public enum LLMStreamEvent: Sendable, Hashable {
    /// A try failed before its first piece of text; the next one follows after a pause.
    case retrying(after: Duration, because: LLMError)
    case text(String)
    case done(LLMResponse)
}

/// A model that a server offers.
public struct LLMModel: Sendable, Hashable, Codable {
    /// The server's name for it.
    public var id: String
    /// Its name for people.
    public var displayName: String?
    /// Tokens that fit into one prompt, where the server says so.
    public var contextTokens: Int?
    /// The longest answer, where the server says so.
    public var maxOutputTokens: Int?

    /// A model; see the properties.
    public init(id: String, displayName: String? = nil, contextTokens: Int? = nil, maxOutputTokens: Int? = nil) {
        self.id = id
        self.displayName = displayName
        self.contextTokens = contextTokens
        self.maxOutputTokens = maxOutputTokens
    }
}
