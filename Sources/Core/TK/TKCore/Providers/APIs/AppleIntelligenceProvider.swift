/// Apple's models on the device, which there are on Apple's systems alone: always answers that it is not available, so
/// that the chain goes on (docs/design/advisors.md, "Providers").
public struct AppleIntelligenceProvider: LLMProvider {
    /// As in the configuration.
    public let name = "apple"
    /// The one that the system has.
    public let modelID = "apple-intelligence"
    /// Would stay on the device.
    public let isLocal = true

    /// Needs nothing.
    public init() {}

    private var refusal: LLMError {
        LLMError(
            .notAvailable,
            "apple: Apple Intelligence is not available on this system. Use `--provider ollama` for a "
                + "local model.", provider: name)
    }

    /// Throws ``LLMError`` with kind `notAvailable`.
    public func stream(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
        let error = refusal
        return AsyncThrowingStream { throw error }
    }

    /// Throws ``LLMError`` with kind `notAvailable`.
    public func models() async throws -> [LLMModel] { throw refusal }

    /// Throws ``LLMError`` with kind `notAvailable`.
    public func checkHealth() async throws -> String { throw refusal }
}
