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
    /// - Parameter onFallback: hears a sentence for each provider that is passed over while answers are asked for, and
    ///   where the draft goes instead.
    /// - Throws: `LLMError` (`keyMissing`, `notAvailable`) that says what each lacks; `Fault` for a key that must
    ///   not be used.
    package func provider(onFallback: @escaping @Sendable (String) -> Void) async throws -> any LLMProvider {
        let preferred = try provider(configuration.provider, isPreferred: true)
        let chain = try fallbacks()
        let manager = ProviderManager(
            preferred: preferred, chain: chain, cloudAfterLocal: configuration[.fallback] == FallbackPolicy.any.rawValue
        ) { attempt in
            if let reason = attempt.reason {
                onFallback("\(reason.message) Going on without it.")
            } else {
                onFallback("Asking \(Self.place(attempt.provider, attempt.server)) instead.")
            }
        }
        if try isReady(preferred) { return await resolved(preferred, manager) }
        // Without a key the preferred one cannot answer; the reason is told if nobody else can.
        let selection = try await manager.select()
        if let reason = selection.passedOver.first?.reason {
            let lack = reason.kind == .keyMissing ? "has no key" : "is not available"
            let other = Self.place(selection.provider.name, selection.provider.server)
            onFallback("\(preferred.name) \(lack). Asking \(other) instead.")
        }
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

    private static func place(_ provider: String, _ server: String?) -> String {
        server.map { "\(provider) at \($0)" } ?? provider
    }

    /// What is on this machine goes first. Ollama need not be: `OLLAMA_HOST` may name another one.
    private func fallbacks() throws -> [any LLMProvider] {
        guard configuration.fallback != .none else { return [] }
        let clouds = try ["anthropic", "openai"].filter { try secrets.origin(for: $0) != nil }
        let others = try (["apple", "ollama"] + clouds).filter { $0 != configuration.provider }
            .map { try provider($0, isPreferred: false) }
        let local = others.filter(\.isLocal)
        return configuration.fallback == .any ? local + others.filter { !$0.isLocal } : local
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
