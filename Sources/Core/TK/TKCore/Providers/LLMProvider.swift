/// A service that runs language models (docs/design/advisors.md, "Providers").
///
/// Errors are ``LLMError``, or `CancellationError` when the calling task was cancelled. Providers do not compute costs:
/// those follow from ``LLMResponse/usage``, provider and model by the price table.
public protocol LLMProvider: Sendable {
    /// `anthropic`, `openai`, `ollama`: as in the configuration.
    var name: String { get }
    var modelID: String { get }
    /// Whether the draft stays on this machine.
    var isLocal: Bool { get }
    /// The address to which the draft is sent, for display; nil if there is none.
    var server: String? { get }

    /// The answer as it is written. Ending the iteration, or cancelling its task, ends the call.
    ///
    /// A failure before the first piece of text is retried by the provider's policy; a later one is thrown with the
    /// received text in ``LLMError/partial``, because a retry may be billed again.
    func stream(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error>

    /// The whole answer. Check ``LLMResponse/isTruncated`` and ``LLMResponse/isRefused``, or call
    /// ``LLMResponse/whole()``.
    func generate(_ request: LLMRequest) async throws -> LLMResponse

    /// The models that the server offers, in its order.
    func models() async throws -> [LLMModel]

    /// Returns a short description of the server (`Ollama 0.6.3, 2 models`), or throws why this provider cannot be used
    /// now. Costs nothing and is not retried; the caller sets the timeout.
    func checkHealth() async throws -> String
}

extension LLMProvider {
    /// None.
    public var server: String? { nil }

    /// Collects the stream, so that a stalled server is detected and a cancelled call stops.
    public func generate(_ request: LLMRequest) async throws -> LLMResponse {
        for try await event in stream(request) {
            if case .done(let response) = event { return response }
        }
        try Task.checkCancellation()
        throw LLMError(
            .truncated, "\(name): the answer of \(modelID) ended without a word about why. Try again.", provider: name)
    }
}
