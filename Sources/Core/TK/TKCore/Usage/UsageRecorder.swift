import Platform
import Synchronization

/// Records every call to a model in the usage ledger, and stops calls that would exceed the budget.
public final class UsageRecorder: CallRecorder {
    private let ledger: UsageLedger
    private let onWarning: (@Sendable (String) -> Void)?
    /// Equal calls may be in flight concurrently.
    private let open = Mutex<[String: [Int64]]>([:])
    /// The last month in which ``onWarning`` was called.
    private let warned = Mutex("")

    /// - Parameter onWarning: called once a month, when half of the budget is spent.
    public init(_ ledger: UsageLedger, onWarning: (@Sendable (String) -> Void)? = nil) {
        self.ledger = ledger
        self.onWarning = onWarning
    }

    /// Never returns an answer; throws if the budget stops the call.
    public func before(_ call: PlannedCall) async throws -> LLMResponse? {
        let estimate = ledger.prices.cost(
            provider: call.provider, model: call.model,
            LLMUsage(
                inputTokens: call.inputTokens, outputTokens: min(call.maxOutputTokens, (call.inputTokens + 2) / 3)))
        let (id, state) = try await ledger.begin(
            provider: call.provider, model: call.model, purpose: call.purpose.rawValue, estimate: estimate)
        open.withLock { $0[call.key, default: []].append(id) }
        warn(state)
        return nil
    }

    private func warn(_ state: BudgetState) {
        guard let onWarning, let warning = state.warning else { return }
        let isFirst = warned.withLock { month in
            defer { month = state.month }
            return month != state.month
        }
        if isFirst { onWarning(warning) }
    }

    /// Records the outcome of the call.
    public func after(_ call: PlannedCall, _ outcome: CallOutcome) async throws {
        let opened = open.withLock { open -> Int64? in
            defer { if open[call.key]?.isEmpty == true { open[call.key] = nil } }
            return open[call.key]?.popLast()
        }
        guard let id = opened else { return }
        try await record(id, outcome)
        // This call may have crossed the half.
        guard let onWarning else { return }
        do {
            warn(try await ledger.budgetState())
        } catch {
            // The answer is billed and recorded: a failed warning must not withhold it.
            onWarning("the spent part of the budget cannot be determined: \(explain(error))")
        }
    }

    private func record(_ id: Int64, _ outcome: CallOutcome) async throws {
        switch outcome {
        case .answered(let response):
            try await ledger.finish(
                id, provider: response.provider, model: response.model, usage: response.usage)
        case .failed(let error):
            guard let error = error as? LLMError else { return try await ledger.fail(id, mayBeBilled: true) }
            if let partial = error.partial, var usage = partial.usage {
                // The output count comes last, and is missing here.
                usage.outputTokens = max(usage.outputTokens, TokenEstimate.tokens(partial.text))
                try await ledger.finish(id, provider: partial.provider, model: partial.model, usage: usage)
            } else {
                try await ledger.fail(id, mayBeBilled: Self.mayBeBilled(error))
            }
        }
    }

    /// Whether the server may have begun to work before the call failed.
    private static func mayBeBilled(_ error: LLMError) -> Bool {
        if error.partial != nil { return true }
        switch error.kind {
        case .keyMissing, .authentication, .billing, .rateLimited, .overloaded, .invalidRequest, .contextTooLong,
            .notAvailable, .notAllowed:
            return false
        case .refused, .truncated, .network, .timedOut, .server, .malformed: return true
        }
    }
}
