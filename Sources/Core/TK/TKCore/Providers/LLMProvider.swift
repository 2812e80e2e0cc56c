/// A service that runs language models (docs/design/advisors.md, "Providers").
///
/// Errors are ``LLMError``, or `CancellationError` when the calling task was cancelled. Costs are not a provider's
/// business: they follow from ``LLMResponse/usage``, provider and model by the table of prices.
public protocol LLMProvider: Sendable {
    /// `anthropic`, `openai`, `ollama`: as in the configuration.
    var name: String { get }
    var modelID: String { get }
    /// Whether the draft stays on this machine.
    var isLocal: Bool { get }
    /// The address that the draft is sent to, for people; nil where there is none.
    var server: String? { get }

    /// The answer as it is written. Ending the iteration, or cancelling its task, ends the call.
    ///
    /// A failure before the first piece of text is retried by the provider's policy; one behind it is thrown with what
    /// had arrived in ``LLMError/partial``, because a second try may be billed again.
    func stream(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error>

    /// The whole answer. Check ``LLMResponse/isTruncated`` and ``LLMResponse/isRefused``, or call ``LLMResponse/whole()``.
    func generate(_ request: LLMRequest) async throws -> LLMResponse

    /// What the server offers, in its order.
    func models() async throws -> [LLMModel]

    /// Returns what answered, in a few words (`Ollama 0.6.3, 2 models`), or throws why this provider cannot be used
    /// now. Costs nothing and is not retried; the caller limits the time.
    func checkHealth() async throws -> String
}

extension LLMProvider {
    /// None.
    public var server: String? { nil }

    /// Gathers the stream, so that silence of the server is noticed and a cancelled call stops being written.
    public func generate(_ request: LLMRequest) async throws -> LLMResponse {
        for try await event in stream(request) {
            if case .done(let response) = event { return response }
        }
        try Task.checkCancellation()
        throw LLMError(
            .truncated, "\(name): the answer of \(modelID) ended without a word about why. Try again.", provider: name)
    }
}
