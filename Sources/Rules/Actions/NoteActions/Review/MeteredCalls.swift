import TKCore

/// A call made to a model, for metering.
package struct ModelCall: Sendable {
    /// The provider that answered or was meant to.
    package let provider: String
    package let model: String
    package let isAnswered: Bool
    /// nil if the server did not report it.
    package let usage: LLMUsage?
    /// nil if usage or price is unknown.
    package let cost: Cost?
}

/// Reports every call that is made. Cached answers cost nothing and are not reported.
struct MeteredCalls: CallRecorder {
    let prices: ModelTable
    let tell: @Sendable (ModelCall) -> Void

    func before(_ call: PlannedCall) async throws -> LLMResponse? { nil }

    func after(_ call: PlannedCall, _ outcome: CallOutcome) async throws {
        switch outcome {
        case .answered(let response): tell(made(response, isAnswered: true))
        case .failed(let error):
            if let partial = (error as? LLMError)?.partial { return tell(made(partial, isAnswered: false)) }
            tell(ModelCall(provider: call.provider, model: call.model, isAnswered: false, usage: nil, cost: nil))
        }
    }

    private func made(_ response: LLMResponse, isAnswered: Bool) -> ModelCall {
        let cost = response.usage.flatMap { prices.cost(provider: response.provider, model: response.model, $0) }
        return ModelCall(
            provider: response.provider, model: response.model, isAnswered: isAnswered, usage: response.usage,
            cost: cost)
    }
}
