import TKCore

/// A call to a model that was made, for whoever counts them.
package struct ModelCall: Sendable {
    /// Who has answered, or was to.
    package let provider: String
    package let model: String
    package let isAnswered: Bool
    /// Nil where the server did not say.
    package let usage: LLMUsage?
    /// Nil where that, or the price, is not known.
    package let cost: Cost?
}

/// Tells of every call that is made; answers that are kept already cost nothing, and are none.
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
