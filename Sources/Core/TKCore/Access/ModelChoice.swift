import Foundation
import Platform

/// Makes the providers that a configuration means, in the order in which they are asked (seed 001, ProviderManager).
package struct ModelChoice: Sendable {
    private let configuration: TKConfiguration
    private let secrets: SecretChain
    private let models: ModelTable
    private let environment: [String: String]
    private let transport: HTTPTransport

    /// - Parameter environment: names the proxies and `OLLAMA_HOST`.
    package init(
        _ configuration: TKConfiguration, secrets: SecretChain, models: ModelTable, environment: [String: String]
    ) {
        self.configuration = configuration
        self.secrets = secrets
        self.models = models
        self.environment = environment
        transport = HTTPTransport(environment: environment)
    }

    /// The configured provider with what may answer in its place, if any of them can be used now.
    ///
    /// A cloud is taken at its word that there is a key; what runs on this machine is asked whether it is there.
    ///
    /// - Parameter onFallback: hears a sentence for each provider that is passed over while answers are asked for.
    /// - Throws: `LLMError` (`keyMissing`, `notAvailable`) that says what each lacks; `Fault` for a key that must
    ///   not be used.
    package func provider(onFallback: @escaping @Sendable (String) -> Void) async throws -> any LLMProvider {
        let preferred = try provider(configuration.provider, isPreferred: true)
        let chain = try fallbacks()
        let manager = ProviderManager(
            preferred: preferred, chain: chain, cloudAfterLocal: configuration[.fallback] == FallbackPolicy.any.rawValue
        ) { attempt in
            if let reason = attempt.reason { onFallback("\(reason.message) Going on without it.") }
        }
        if try isReady(preferred) { return await resolved(preferred, manager) }
        // Without a key the preferred one cannot answer; the reason is told if nobody else can.
        let selection = try await manager.select()
        return await resolved(selection.provider, selection.provider)
    }

    /// What is known of the model of a provider.
    package func entry(_ provider: any LLMProvider) -> ModelEntry? {
        models.entry(provider: provider.name, model: provider.modelID)
    }

    /// Where the key in force comes from; nil where there is none.
    package func keyOrigin() throws -> String? { try secrets.origin(for: configuration.provider) }

    private func isReady(_ preferred: any LLMProvider) throws -> Bool {
        switch configuration.provider {
        case "ollama", "apple": false
        // A server of one's own may want no key.
        default: try secrets.origin(for: configuration.provider) != nil || preferred.isLocal
        }
    }

    /// Names the model where that was left open, because prices and plans go by it.
    private func resolved(_ chosen: any LLMProvider, _ provider: any LLMProvider) async -> any LLMProvider {
        guard let open = chosen as? FirstOllamaModel else { return provider }
        do {
            return try await open.found()
        } catch {
            // It is asked again with the first call, and then says why.
            return open
        }
    }

    private func fallbacks() throws -> [any LLMProvider] {
        let local = ["apple", "ollama"]
        let names: [String]
        switch configuration.fallback {
        case .none: names = []
        case .local: names = local
        case .any: names = try local + ["anthropic", "openai"].filter { try secrets.origin(for: $0) != nil }
        }
        return try names.filter { $0 != configuration.provider }.map { try provider($0, isPreferred: false) }
    }

    private func provider(_ name: String, isPreferred: Bool) throws -> any LLMProvider {
        let model = (isPreferred ? configuration.model : nil) ?? models.defaults[name]
        let base = isPreferred ? configuration.baseURL : nil
        switch name {
        case "apple": return AppleIntelligenceProvider()
        case "ollama":
            let endpoint = try OllamaProvider.endpoint(host: base ?? environment["OLLAMA_HOST"])
            guard let model else { return FirstOllamaModel(endpoint: endpoint, transport: transport) }
            return OllamaProvider(model: model, endpoint: endpoint, transport: transport)
        case "openai":
            return OpenAIProvider(
                model: model ?? "gpt-4o", endpoint: try endpoint(name, base ?? OpenAIProvider.defaultBaseURL),
                transport: transport)
        default:
            return AnthropicProvider(
                model: model ?? "claude-sonnet-4-6",
                endpoint: try endpoint(name, base ?? AnthropicProvider.defaultBaseURL),
                transport: transport)
        }
    }

    private func endpoint(_ provider: String, _ base: String) throws -> ServerEndpoint {
        let secrets = secrets
        guard try secrets.origin(for: provider) != nil || base.hasPrefix("https://api.") else {
            return try ServerEndpoint(base)
        }
        return try ServerEndpoint(base, key: { try secrets.secret(for: provider) })
    }
}
