import Synchronization

/// Runs an operation with a time limit.
///
/// The operation runs in its own task, with the caller's task-local values. When the time is up or the caller is
/// cancelled, it is cancelled and the caller resumes at once, unless `waits` is set. An operation that ignores
/// cancellation runs to its end, and its result is dropped.
///
/// - Parameters:
///   - limit: How long it may take; nil for no limit.
///   - clock: Measures the limit.
///   - timer: Measures the limit instead of `clock`; cheaper for many concurrent operations.
///   - waits: Whether the caller resumes only after a cancelled operation has ended, so that nothing it uses is closed
///     under it.
/// - Returns: The operation's result; nil if the time was up first.
/// - Throws: Any error of the operation, and `CancellationError` if the caller is cancelled.
package func withTimeout<Value: Sendable>(
    _ limit: Duration?, clock: any Clock<Duration> = ContinuousClock(), timer: DeadlineTimer? = nil,
    waits: Bool = false,
    _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    try Task.checkCancellation()
    let race = Race<Value>()
    return try await withTaskCancellationHandler {
        let task = Task {
            do { race.finish(.success(try await operation())) } catch { race.finish(.failure(error)) }
        }
        race.onFinish { task.cancel() }
        if let limit, let timer {
            let id = timer.add(after: limit) { race.finish(.success(nil)) }
            race.onFinish { timer.remove(id) }
        } else if let limit {
            let alarm = Task {
                do {
                    try await clock.sleep(for: limit)
                    race.finish(.success(nil))
                } catch {
                    // Cancelled because the race is over.
                }
            }
            race.onFinish { alarm.cancel() }
        }
        let result: Result<Value?, any Error>
        do { result = .success(try await race.result()) } catch { result = .failure(error) }
        if waits { await task.value }
        return try result.get()
    } onCancel: {
        race.finish(.failure(CancellationError()))
    }
}

/// The first result wins.
private final class Race<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value?, any Error>?
        var continuation: CheckedContinuation<Value?, any Error>?
        var handlers: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// Calls the handler when the race is over; at once if it already is.
    func onFinish(_ handler: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.result == nil { state.handlers.append(handler) }
            return state.result != nil
        }
        if isOver { handler() }
    }

    func finish(_ result: Result<Value?, any Error>) {
        let before: State? = state.withLock { state in
            guard state.result == nil else { return nil }
            defer { state = State(result: result) }
            return state
        }
        guard let before else { return }
        for handler in before.handlers { handler() }
        before.continuation?.resume(with: result)
    }

    func result() async throws -> Value? {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.continuation = continuation }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
