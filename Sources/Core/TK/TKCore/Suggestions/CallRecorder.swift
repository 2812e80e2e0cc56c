/// A call to a model, before it is made.
public struct PlannedCall: Sendable, Hashable, Codable {
    /// The purpose of a call.
    public enum Purpose: String, Sendable, Hashable, Codable, CaseIterable {
        case suggestions, council, synthesis, question, team, intent, merge
    }

    /// Its purpose.
    public var purpose: Purpose
    /// The ids of the advisors in it.
    public var advisors: [String]
    /// The chosen provider and model; after a fallback, another one answers.
    public var provider: String
    /// The requested model.
    public var model: String
    /// Identifies the request: equal requests to the same provider and model always have the same key. 64 hexadecimal
    /// digits.
    public var key: String
    /// Estimated: words × 1.3.
    public var inputTokens: Int
    /// The maximum answer.
    public var maxOutputTokens: Int

    /// A call with its key and its size.
    public init(
        purpose: Purpose, advisors: [String], provider: String, model: String, key: String, inputTokens: Int,
        maxOutputTokens: Int
    ) {
        (self.purpose, self.advisors, self.provider, self.model) = (purpose, advisors, provider, model)
        (self.key, self.inputTokens, self.maxOutputTokens) = (key, inputTokens, maxOutputTokens)
    }
}

/// The outcome of a call.
public enum CallOutcome: Sendable {
    /// Complete, truncated or refused: it is billed.
    case answered(LLMResponse)
    /// The received text is in ``LLMError/partial``. Without that it is unknown whether the call was billed.
    case failed(any Error)
}

/// Observes every call to a model: records usage, enforces a budget, stores answers before they are used. Called from
/// several tasks concurrently.
public protocol CallRecorder: Sendable {
    /// Returns a stored answer to an equal call, if any: then nothing is sent, and ``after(_:_:)`` is not called. An
    /// error stops the call before it costs anything, and reaches the caller unchanged.
    func before(_ call: PlannedCall) async throws -> LLMResponse?

    /// Called before the answer is used. An error reaches the caller instead of the answer.
    func after(_ call: PlannedCall, _ outcome: CallOutcome) async throws
}

/// Several recorders as one: the first stored answer wins, and all observe the outcome. A recorder that stores answers
/// must come before one that opens an entry in ``CallRecorder/before(_:)``, because the rest are not called after an
/// answer.
public struct CallRecorders: CallRecorder {
    private let all: [any CallRecorder]

    /// Called in this order.
    public init(_ all: [any CallRecorder]) { self.all = all }

    /// The first stored answer, if any.
    public func before(_ call: PlannedCall) async throws -> LLMResponse? {
        for recorder in all {
            if let answer = try await recorder.before(call) { return answer }
        }
        return nil
    }

    /// Calls all of them; then throws the first error.
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
