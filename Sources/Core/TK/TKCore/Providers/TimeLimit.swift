import Synchronization

/// How long a whole call may take, all advisors, parts and tries together. Begins when it is made.
public final class TimeLimit: Sendable {
    /// From the beginning.
    public let duration: Duration
    private let clock: any Clock<Duration>
    private let isOver: @Sendable () async throws -> Void
    private let passed = Mutex(false)

    /// A limit that begins now.
    public convenience init(_ duration: Duration) { self.init(duration, clock: ContinuousClock()) }

    package init<C: Clock<Duration>>(_ duration: Duration, clock: C) {
        self.duration = duration
        self.clock = clock
        let deadline = clock.now.advanced(by: duration)
        isOver = { try await clock.sleep(until: deadline, tolerance: nil) }
    }

    /// Whether it has ended a call.
    public var hasPassed: Bool { passed.withLock { $0 } }

    /// Returns when the time is up; throws `CancellationError`.
    fileprivate func wait() async throws { try await isOver() }

    fileprivate func pass() { passed.withLock { $0 = true } }
}

extension ModelAccess {
    /// The same model, whose calls end with ``LLMError/Kind/timedOut`` when the time is up. What had arrived by then is in
    /// ``LLMError/partial``, as where a connection broke off.
    public func within(_ limit: TimeLimit) -> ModelAccess { with(LimitedProvider(provider: provider, limit: limit)) }
}

/// A provider whose calls end in time.
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

    private enum End { case answer, time }

    func stream(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                let written = Written()
                do {
                    let end = try await withThrowingTaskGroup(of: End.self) { group in
                        group.addTask {
                            for try await event in provider.stream(request) {
                                if case .text(let piece) = event { written.add(piece) }
                                continuation.yield(event)
                            }
                            return .answer
                        }
                        group.addTask {
                            try await limit.wait()
                            return .time
                        }
                        defer { group.cancelAll() }
                        return try await group.next() ?? .answer
                    }
                    if end == .time { throw timedOut(written.all) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func timedOut(_ text: String) -> LLMError {
        limit.pass()
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
