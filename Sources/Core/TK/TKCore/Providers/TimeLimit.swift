import HTTPKit
import Synchronization

/// The deadline of a whole call, including all advisors, parts and attempts. Starts at initialisation.
public final class TimeLimit: Sendable {
    /// From the start.
    public let duration: Duration
    private let deadline: ContinuousClock.Instant
    private let passed = Mutex(false)

    /// A limit that starts now.
    public init(_ duration: Duration) {
        self.duration = duration
        deadline = .now + duration
    }

    /// Whether it has ended a call.
    public var hasPassed: Bool { passed.withLock { $0 } }

    /// The result of work that is cancelled at the deadline; nil then.
    ///
    /// - Parameter waits: whether cancelled work is waited for; see ``withTimeout(_:clock:timer:waits:_:)``.
    package func run<Value: Sendable>(
        waits: Bool = false, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        let value = try await withTimeout(deadline - .now, waits: waits, work)
        if value == nil { passed.withLock { $0 = true } }
        return value
    }
}

extension ModelAccess {
    /// The same model, whose calls end with ``LLMError/Kind/timedOut`` at the deadline. The text received by then is in
    /// ``LLMError/partial``, as for a broken connection.
    public func within(_ limit: TimeLimit) -> ModelAccess { with(LimitedProvider(provider: provider, limit: limit)) }
}

/// A provider whose calls respect the deadline.
private struct LimitedProvider: LLMProvider {
    let provider: any LLMProvider
    let limit: TimeLimit

    var name: String { provider.name }
    var modelID: String { provider.modelID }
    var isLocal: Bool { provider.isLocal }
    var server: String? { provider.server }

    private final class Written: Sendable {
        private let text = Mutex("")

        func add(_ piece: String) { text.withLock { $0 += piece } }
        var all: String { text.withLock { $0 } }
    }

    func stream(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                let written = Written()
                do {
                    let ended: Void? = try await limit.run {
                        for try await event in provider.stream(request) {
                            if case .text(let piece) = event { written.add(piece) }
                            continuation.yield(event)
                        }
                    }
                    if ended == nil { throw timedOut(written.all) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func timedOut(_ text: String) -> LLMError {
        var error = LLMError(
            .timedOut,
            "\(name): \(modelID) had not answered to the end within \(limit.duration.components.seconds) s. Give it more "
                + "time with --timeout or `tk config set timeout`, or ask for less.", provider: name)
        if !text.isEmpty {
            error.partial = LLMResponse(text: text, model: modelID, provider: name, stopReason: .interrupted)
        }
        return error
    }

    func models() async throws -> [LLMModel] { try await provider.models() }
    func checkHealth() async throws -> String { try await provider.checkHealth() }
}
