import Metrics
import NoteActions
import TKCore

/// Counts calls to language models, with tokens and costs.
enum ModelMeter {
    /// - Returns: a closure to call for each model call.
    static func telling(_ factory: any MetricsFactory) -> @Sendable (ModelCall) -> Void {
        { call in
            let model = [("provider", call.provider), ("model", call.model)]
            func count(_ label: String, _ more: (String, String), _ amount: Int) {
                Metrics.Counter(label: label, dimensions: model + [more], factory: factory).increment(by: amount)
            }
            count("steward_model_calls_total", ("result", call.isAnswered ? "answered" : "failed"), 1)
            guard let usage = call.usage else { return }
            count("steward_model_tokens_total", ("direction", "read"), usage.totalInputTokens)
            count("steward_model_tokens_total", ("direction", "written"), usage.outputTokens)
            if let cost = call.cost {
                FloatingPointCounter(label: "steward_model_cost_dollars_total", dimensions: model, factory: factory)
                    .increment(by: cost.dollars)
            }
        }
    }
}
