import Foundation
import Platform

/// Makes the providers for a configuration, in the order in which they are tried
/// (docs/design/advisors.md, "Providers").
package struct ModelChoice: Sendable {
    private let configuration: TKConfiguration
    private let secrets: SecretChain
    private let models: ModelTable
    private let environment: [String: String]
    private let transport: HTTPTransport
    private let timeout: Duration

    /// - Parameters:
    ///   - environment: names the proxies and `OLLAMA_HOST`.
    ///   - timeout: the timeout of a fallback provider's health check.
    package init(
        _ configuration: TKConfiguration, secrets: SecretChain, models: ModelTable, environment: [String: String],
        timeout: Duration = .seconds(3)
    ) {
        (self.timeout, self.configuration, self.secrets) = (timeout, configuration, secrets)
        (self.models, self.environment) = (models, environment)
        transport = HTTPTransport(environment: environment, allowsAnyLocalServer: configuration.allowsAnyLocalServer)
    }

    /// The configured provider with its fallbacks, if any of them can be used now.
    ///
    /// A cloud provider counts as available if there is a key; a server on this machine is checked.
    ///
    /// - Parameter onFallback: called with a sentence for each provider that is skipped during a request, saying where
    ///   the draft goes instead.
    /// - Throws: `LLMError` (`keyMissing`, `notAvailable`) with the reason for each, or (`notAllowed`) for a server on
    ///   this machine that was not asked; `Fault` for a key that must not be used.
    package func provider(onFallback: @escaping @Sendable (String) -> Void) async throws -> any LLMProvider {
        // The order depends on which providers have keys.
        let (preferred, chain, hasKey) = try await ServerEndpoint.pool.run {
            () -> (any LLMProvider, [any LLMProvider], Bool) in
            let preferred = try provider(ModelProvider(named: configuration.provider), isPreferred: true)
            return (preferred, try fallbacks(), try isReady(preferred))
        }
        let manager = ProviderManager(
            preferred: preferred, chain: chain,
            cloudAfterLocal: configuration[.fallback] == FallbackPolicy.any.rawValue,
            healthTimeout: timeout
        ) { attempt in
            if let reason = attempt.reason {
                onFallback("\(reason.message) Going on without it.")
            } else {
                onFallback("Asking \(Self.place(attempt.provider, attempt.server)) instead.")
            }
        }
        if hasKey { return await resolved(preferred, manager) }
        // Without a key the preferred provider cannot answer; its reason is reported if all others fail too.
        let (chosen, passedOver) = try await manager.find()
        let reasons = passedOver.compactMap(\.reason)
        let refusal = reasons.first { $0.kind == .notAllowed }
        guard let chosen else {
            guard var refusal else { throw ProviderManager.nobody(passedOver) }
            if refusal.provider != preferred.name { refusal.message = "\(lack(reasons)), and \(refusal.message)" }
            throw refusal
        }
        if let refusal { onFallback(refusal.message) }
        if !reasons.isEmpty {
            onFallback("\(lack(reasons)). Asking \(Self.place(chosen.name, chosen.server)) instead.")
        }
        return await resolved(chosen, chosen)
    }

    /// Why no provider can be asked, in one line; nil for an unrelated error.
    ///
    /// - Parameter error: an error from ``provider(onFallback:)``.
    package func absence(_ error: LLMError) -> String? {
        switch error.kind {
        case .notAllowed: error.message
        case .keyMissing, .notAvailable:
            "\(lack([])) and there is no local model (`tk config set api_key --stdin`, or install Ollama)"
        default: nil
        }
    }

    /// Why the configured provider cannot answer.
    private func lack(_ reasons: [LLMError]) -> String {
        let name = configuration.provider
        if reasons.first?.kind == .notAllowed { return "\(name) was not asked" }
        return configuration.usesOwnModel ? "\(name) is not available" : "\(name) has no key"
    }

    /// The table entry for a provider's model.
    package func entry(_ provider: any LLMProvider) -> ModelEntry? {
        models.entry(provider: provider.name, model: provider.modelID)
    }

    /// The source of the key in force; nil if there is none.
    package func keyOrigin() throws -> String? { try secrets.origin(for: configuration.provider) }

    private func isReady(_ preferred: any LLMProvider) throws -> Bool {
        switch try ModelProvider(named: configuration.provider) {
        case .ollama: false
        // A self-hosted server may need no key.
        case .anthropic, .openai: try secrets.origin(for: configuration.provider) != nil || preferred.isLocal
        }
    }

    /// Fills in the model's name if it was left open, because prices and plans depend on it.
    private func resolved(_ chosen: any LLMProvider, _ provider: any LLMProvider) async -> any LLMProvider {
        guard let open = chosen as? FirstOllamaModel else { return provider }
        do {
            return try await open.found()
        } catch {
            // The first call asks again, and then reports the reason.
            return open
        }
    }

    private static func place(_ provider: String, _ server: String?) -> String {
        server.map { "\(provider) at \($0)" } ?? provider
    }

    /// Local providers come first. Ollama need not be local: `OLLAMA_HOST` may name another machine.
    private func fallbacks() throws -> [any LLMProvider] {
        guard configuration.fallback != .none else { return [] }
        let clouds = try ModelProvider.allCases.filter { try !$0.isOwn && secrets.origin(for: $0.rawValue) != nil }
        let others = try (ModelProvider.allCases.filter(\.isOwn) + clouds)
            .filter { $0.rawValue != configuration.provider }.map { try provider($0, isPreferred: false) }
        let local = others.filter(\.isLocal)
        return configuration.fallback == .any ? local + others.filter { !$0.isLocal } : local
    }

    private func provider(_ kind: ModelProvider, isPreferred: Bool) throws -> any LLMProvider {
        let name = kind.rawValue
        let model = (isPreferred ? configuration.model : nil) ?? models.defaults[name]
        let base = isPreferred ? configuration.baseURL : nil
        switch kind {
        case .ollama:
            let endpoint = try OllamaProvider.endpoint(host: base ?? environment["OLLAMA_HOST"])
            guard let model else { return FirstOllamaModel(endpoint: endpoint, transport: transport) }
            return OllamaProvider(model: model, endpoint: endpoint, transport: transport)
        case .openai:
            return OpenAIProvider(
                model: model ?? "gpt-4o", endpoint: try endpoint(name, base ?? OpenAIProvider.defaultBaseURL),
                transport: transport)
        case .anthropic:
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
