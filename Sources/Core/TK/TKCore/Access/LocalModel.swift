import Foundation

/// Ollama with any model it has, for a user who configured none: the first in its list.
struct FirstOllamaModel: LLMProvider {
    let name = "ollama"
    /// The model's name is unknown until the server has been asked.
    let modelID = "(the first model)"
    private let endpoint: ServerEndpoint
    private let transport: HTTPTransport

    init(endpoint: ServerEndpoint, transport: HTTPTransport) {
        self.endpoint = endpoint
        self.transport = transport
    }

    var isLocal: Bool { endpoint.isLoopback }
    var server: String? { endpoint.baseURL.absoluteString }

    func stream(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    for try await event in try await found().stream(request) { continuation.yield(event) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    func models() async throws -> [LLMModel] {
        try await OllamaProvider(model: modelID, endpoint: endpoint, transport: transport, retry: .never).models()
    }

    func checkHealth() async throws -> String { try await found().checkHealth() }

    /// The provider with the model's name.
    func found() async throws -> OllamaProvider {
        guard let model = try await models().first?.id else {
            throw LLMError(
                .notAvailable,
                "ollama: no model has been pulled. Run `ollama pull llama3.2`, or choose another provider.",
                provider: name)
        }
        return OllamaProvider(model: model, endpoint: endpoint, transport: transport)
    }
}
