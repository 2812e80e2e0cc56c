import HTTPKit

/// Chooses the provider that answers: the configured one, then Ollama and the cloud
/// (docs/design/advisors.md, "Providers").
///
/// It falls back only if a provider has no key, or is not available, not allowed or unreachable, and only before the
/// first piece of text; a wrong key, an exhausted account, an overloaded server or a refused request is reported to the
/// user. A draft meant for a local model is not sent to a cloud unless ``cloudAfterLocal`` permits it.
public struct ProviderManager: LLMProvider {
    /// The outcome for one provider.
    public struct Attempt: Sendable, Hashable {
        /// Its name.
        public var provider: String
        /// Its model.
        public var model: String
        /// Its address, as in ``LLMProvider/server``.
        public var server: String?
        /// Nil for the chosen one.
        public var reason: LLMError?

        init(_ provider: any LLMProvider, _ reason: LLMError?) {
            self.provider = provider.name
            model = provider.modelID
            server = provider.server
            self.reason = reason
        }
    }

    /// The chosen provider, and those before it with their reasons.
    public struct Selection: Sendable {
        /// The healthy one.
        public var provider: any LLMProvider
        /// Those before it.
        public var passedOver: [Attempt]
    }

    private let candidates: [any LLMProvider]
    private let hasPreferred: Bool
    private let healthTimeout: Duration
    private let clock: any Clock<Duration>
    private let onFallback: @Sendable (Attempt) -> Void

    /// `preferred` is tried without a health check; each of `chain`, in order, after one with a timeout of
    /// `healthTimeout`. `onFallback` is called for every skipped provider, and for the next one before the request goes
    /// to it.
    public init(
        preferred: (any LLMProvider)?, chain: [any LLMProvider], cloudAfterLocal: Bool = false,
        healthTimeout: Duration = .seconds(3), clock: any Clock<Duration> = ContinuousClock(),
        onFallback: @escaping @Sendable (Attempt) -> Void = { _ in }
    ) {
        let rest = chain.filter { candidate in
            if let preferred, candidate.name == preferred.name, candidate.modelID == preferred.modelID { return false }
            return candidate.isLocal || cloudAfterLocal || preferred?.isLocal != true
        }
        candidates = (preferred.map { [$0] } ?? []) + rest
        hasPreferred = preferred != nil
        self.healthTimeout = healthTimeout
        self.clock = clock
        self.onFallback = onFallback
    }

    /// The name of the first candidate; the one that answered is in ``LLMResponse/provider``.
    public var name: String { candidates.first?.name ?? "none" }
    /// The model of the first candidate.
    public var modelID: String { candidates.first?.modelID ?? "none" }
    /// Whether all candidates are local.
    public var isLocal: Bool { candidates.allSatisfy(\.isLocal) }
    /// The address of the first candidate.
    public var server: String? { candidates.first?.server }

    /// The first provider whose health check passes, including the preferred one. Throws ``LLMError`` (`notAvailable`)
    /// that names all and their reasons.
    public func select() async throws -> Selection {
        let (provider, passed) = try await find()
        guard let provider else { throw Self.nobody(passed) }
        return Selection(provider: provider, passedOver: passed)
    }

    /// The first provider whose health check passes, if any, and those before it with their reasons.
    func find() async throws -> (provider: (any LLMProvider)?, passedOver: [Attempt]) {
        var passed: [Attempt] = []
        for candidate in candidates {
            do {
                try await check(candidate)
                return (candidate, passed)
            } catch let error as LLMError {
                passed.append(Attempt(candidate, error))
            }
        }
        return (nil, passed)
    }

    /// The stream of the first provider that answers.
    public func stream(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    try await run(request) { continuation.yield($0) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func run(_ request: LLMRequest, yield: (LLMStreamEvent) -> Void) async throws {
        var passed: [Attempt] = []
        for (index, candidate) in candidates.enumerated() {
            var mayMoveOn = false
            do {
                if index > 0 || !hasPreferred {
                    // An unhealthy member of the chain has not been sent anything yet, so any reason allows a fallback.
                    mayMoveOn = true
                    try await check(candidate)
                }
                mayMoveOn = false
                if !passed.isEmpty { onFallback(Attempt(candidate, nil)) }
                var hasText = false
                do {
                    for try await event in candidate.stream(request) {
                        if case .text = event { hasText = true }
                        yield(event)
                    }
                } catch let error as LLMError {
                    mayMoveOn = !hasText && error.allowsFallback
                    throw error
                }
                try Task.checkCancellation()
                return
            } catch let error as LLMError {
                try Task.checkCancellation()
                guard mayMoveOn else { throw error }
                let attempt = Attempt(candidate, error)
                passed.append(attempt)
                onFallback(attempt)
            }
        }
        throw Self.nobody(passed)
    }

    /// The models of the first healthy provider.
    public func models() async throws -> [LLMModel] { try await select().provider.models() }

    /// Names the first healthy provider.
    public func checkHealth() async throws -> String {
        let provider = try await select().provider
        return "\(provider.name) with \(provider.modelID)"
    }

    /// Checks its health within the time limit. Throws ``LLMError``.
    private func check(_ candidate: any LLMProvider) async throws {
        let health = try await withTimeout(healthTimeout, clock: clock) { try await candidate.checkHealth() }
        if health == nil {
            throw LLMError(
                .notAvailable, "\(candidate.name): no answer to the health check within \(healthTimeout)",
                provider: candidate.name)
        }
    }

    /// The error if all were skipped: a single reason verbatim, several as a list.
    static func nobody(_ passed: [Attempt]) -> LLMError {
        if passed.count == 1, let reason = passed[0].reason { return reason }
        let reasons = passed.compactMap { $0.reason?.message }
        return LLMError(
            .notAvailable,
            reasons.isEmpty
                ? "no language model is configured. Set a key with `tk config set api_key --stdin`, or install Ollama."
                : "no language model can be used:\n  " + reasons.joined(separator: "\n  "))
    }
}
