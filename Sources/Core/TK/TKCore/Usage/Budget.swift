import Foundation
import Platform

/// How much of a month's budget is spent.
public struct BudgetState: Sendable, Hashable {
    /// Nil if there is no budget.
    public var budget: Cost?
    /// The cost of this month's calls, with estimates for calls in flight and those with an unknown cost or outcome.
    public var spent: Cost
    /// `2026-11`.
    public var month: String

    /// A state with these values.
    public init(budget: Cost?, spent: Cost, month: String) {
        (self.budget, self.spent, self.month) = (budget, spent, month)
    }

    /// The spent part, 1 for all of it; nil without a budget.
    public var fraction: Double? {
        budget.map { $0 <= .zero ? 1 : spent.dollars / $0.dollars }
    }

    /// A sentence once half of the budget is spent; nil before.
    public var warning: String? {
        guard let budget, let fraction, fraction >= 0.5 else { return nil }
        let share = fraction >= 1 ? "all" : "\(Int((fraction * 100).rounded(.down))) %"
        return "\(share) of the budget of \(budget) for \(month) is spent (\(spent))"
    }

    /// Throws if the call would exceed the budget. Free calls are always allowed.
    ///
    /// - Parameter estimate: nil if the price is unknown: then only an exhausted budget stops the call.
    func allow(_ estimate: Cost?) throws {
        guard let budget, estimate != .zero else { return }
        let next = spent + (estimate ?? .zero)
        if next > budget || spent >= budget {
            let guess = estimate.map { "this call would cost about \($0)" } ?? "the price of this call is not known"
            throw Fault(
                .failed,
                "the budget of \(budget) for \(month) stops this call: \(spent) is spent, and \(guess). Raise it with "
                    + "`tk config set monthly_budget`, use a local model, or wait for the next month.", code: "budget")
        }
    }
}

/// The grouping of calls in a summary.
public enum UsageGrouping: String, Sendable, CaseIterable, Codable {
    case day, month, model, provider, purpose
}

/// A summary of some calls.
public struct UsageSummary: Sendable, Hashable, Codable {
    /// `2026-11-21`, `2026-11`, `anthropic/claude-sonnet-4-6`, `anthropic`, `suggestions`.
    public var key: String
    /// All that were sent, with any outcome.
    public var calls: Int
    /// Refused or unreachable, and not billed.
    public var failedCalls: Int
    /// Interrupted: whether and how much they cost is unknown.
    public var unknownCalls: Int
    /// Answered, at an unknown price or without a token count.
    public var unpricedCalls: Int
    /// Read at full price: neither from the server's cache nor written to it.
    public var inputTokens: Int
    /// Read from the server's cache.
    public var cacheReadTokens: Int
    /// Written to the server's cache.
    public var cacheWriteTokens: Int
    /// Written by the model.
    public var outputTokens: Int
    /// Of the calls whose cost is known.
    public var cost: Cost
    /// The estimated cost of the unknown and the unpriced calls.
    public var unknownCost: Cost

    init(key: String) {
        self.key = key
        calls = 0
        failedCalls = 0
        unknownCalls = 0
        unpricedCalls = 0
        inputTokens = 0
        cacheReadTokens = 0
        cacheWriteTokens = 0
        outputTokens = 0
        cost = .zero
        unknownCost = .zero
    }
}
