/// The calls that something will make, and what they will cost (docs/design/advisors.md, "Cost").
public struct CallPlan: Sendable, Hashable {
    /// In the order in which they are made.
    public var calls: [PlannedCall]

    /// A plan of these calls.
    public init(_ calls: [PlannedCall]) { self.calls = calls }

    /// What is read in all.
    public var inputTokens: Int { calls.reduce(0) { $0 + $1.inputTokens } }
    /// The most that can be written.
    public var maxOutputTokens: Int { calls.reduce(0) { $0 + $1.maxOutputTokens } }

    /// A guess: a third of what is read is written, and not more than is allowed. Nil where a price is not known.
    public func expectedCost(_ table: ModelTable) -> Cost? {
        cost(table) { min($0.maxOutputTokens, ($0.inputTokens + 2) / 3) }
    }

    /// What it costs if every answer is as long as is allowed. Nil where a price is not known.
    public func highestCost(_ table: ModelTable) -> Cost? { cost(table, \.maxOutputTokens) }

    private func cost(_ table: ModelTable, _ output: (PlannedCall) -> Int) -> Cost? {
        var sum = Cost.zero
        for call in calls {
            let usage = LLMUsage(inputTokens: call.inputTokens, outputTokens: output(call))
            guard let cost = table.cost(provider: call.provider, model: call.model, usage) else { return nil }
            sum = sum + cost
        }
        return sum
    }
}
