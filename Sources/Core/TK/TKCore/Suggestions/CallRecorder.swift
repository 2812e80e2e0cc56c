/// A call to a model that is about to be made.
public struct PlannedCall: Sendable, Hashable, Codable {
    /// What it is for.
    public enum Purpose: String, Sendable, Hashable, Codable, CaseIterable {
        case suggestions, council, synthesis, question, team, intent, merge
    }

    /// What it is for.
    public var purpose: Purpose
    /// The ids of the advisors that speak in it.
    public var advisors: [String]
    /// The provider and the model that were chosen; after a fallback, another one answers.
    public var provider: String
    /// The model, as it was asked for.
    public var model: String
    /// Names the request: equal requests to the same provider and model have the same key, whenever they are made.
    /// 64 hexadecimal digits.
    public var key: String
    /// Guessed: words × 1.3.
    public var inputTokens: Int
    /// The longest answer that is allowed.
    public var maxOutputTokens: Int

    /// A call with its key and its size.
    public init(
        purpose: Purpose, advisors: [String], provider: String, model: String, key: String, inputTokens: Int,
        maxOutputTokens: Int
    ) {
        self.purpose = purpose
        self.advisors = advisors
        self.provider = provider
        self.model = model
        self.key = key
        self.inputTokens = inputTokens
        self.maxOutputTokens = maxOutputTokens
    }
}

/// What became of a call.
public enum CallOutcome: Sendable {
    /// Whole, truncated or refused: it is paid for.
    case answered(LLMResponse)
    /// What had arrived is in ``LLMError/partial``. Without that it is unknown whether the call was billed.
    case failed(any Error)
}

/// Hears of every call to a model, before and after it: keeps usage, watches a budget, stores answers before they are
/// used. Called from several tasks at once.
public protocol CallRecorder: Sendable {
    /// Returns the answer to an equal call if there is one already: then nothing is sent, and ``after(_:_:)`` is not
    /// called. An error that it throws stops the call before it costs anything, and reaches the caller as it is.
    func before(_ call: PlannedCall) async throws -> LLMResponse?

    /// Called before anything is done with the answer. An error that it throws reaches the caller instead of the answer.
    func after(_ call: PlannedCall, _ outcome: CallOutcome) async throws
}

/// Several recorders as one: the first that has an answer gives it, and all hear of what comes. One that has answers goes
/// before one that opens an account in ``CallRecorder/before(_:)``, since the rest is not asked then.
public struct CallRecorders: CallRecorder {
    private let all: [any CallRecorder]

    /// Asked in this order.
    public init(_ all: [any CallRecorder]) { self.all = all }

    /// The first answer that one of them has.
    public func before(_ call: PlannedCall) async throws -> LLMResponse? {
        for recorder in all {
            if let answer = try await recorder.before(call) { return answer }
        }
        return nil
    }

    /// Tells all of them; then throws the first error.
    public func after(_ call: PlannedCall, _ outcome: CallOutcome) async throws {
        var failure: (any Error)?
        for recorder in all {
            do {
                try await recorder.after(call, outcome)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}
