/// The calls of an operation, and their estimated cost (docs/design/advisors.md, "Cost").
public struct CallPlan: Sendable, Hashable {
    /// In the order in which they are made.
    public var calls: [PlannedCall]

    /// A plan of these calls.
    public init(_ calls: [PlannedCall]) { self.calls = calls }

    /// The total input.
    public var inputTokens: Int { calls.reduce(0) { $0 + $1.inputTokens } }
    /// The maximum output.
    public var maxOutputTokens: Int { calls.reduce(0) { $0 + $1.maxOutputTokens } }

    /// An estimate: the output is a third of the input, within the limit. Nil if a price is unknown.
    public func expectedCost(_ table: ModelTable) -> Cost? {
        var sum = Cost.zero
        for call in calls {
            let output = min(call.maxOutputTokens, (call.inputTokens + 2) / 3)
            let usage = LLMUsage(inputTokens: call.inputTokens, outputTokens: output)
            guard let cost = table.cost(provider: call.provider, model: call.model, usage) else { return nil }
            sum = sum + cost
        }
        return sum
    }
}
