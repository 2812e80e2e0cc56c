import Synchronization

/// How an operation ended that had a limit.
enum Raced<Value: Sendable>: Sendable {
    /// By itself.
    case finished(Value)
    /// Its time was up.
    case timedOut
    /// Whoever waited for it was cancelled.
    case cancelled
}

/// Runs an operation until it ends, its time is up, or the caller is cancelled, whichever is first.
///
/// The caller goes on at once in each case. The operation is cancelled then; one of a caller's own code that does not
/// heed that runs to its end by itself.
///
/// - Parameters:
///   - limit: How long it may take; nil for as long as it takes.
///   - clock: By what that is measured.
///   - timer: Measures it instead, for many operations at once.
///   - operation: The operation, which runs in a task of its own, with the caller's task-local values.
func race<Value: Sendable>(
    limit: Duration?, clock: any Clock<Duration> = ContinuousClock(), timer: DeadlineTimer? = nil,
    _ operation: @escaping @Sendable () async -> Value
) async -> Raced<Value> {
    if Task.isCancelled { return .cancelled }
    let race = Race<Value>()
    return await withTaskCancellationHandler {
        let task = Task { race.finish(.finished(await operation())) }
        race.hold { task.cancel() }
        if let limit, let timer {
            let id = timer.add(after: limit) { race.finish(.timedOut) }
            race.hold { timer.remove(id) }
        } else if let limit {
            let alarm = Task {
                do {
                    try await clock.sleep(for: limit)
                    race.finish(.timedOut)
                } catch {
                    // Cancelled, as the race is over.
                }
            }
            race.hold { alarm.cancel() }
        }
        return await race.outcome()
    } onCancel: {
        race.finish(.cancelled)
    }
}

private final class Race<Value: Sendable>: Sendable {
    private struct State {
        var outcome: Raced<Value>?
        var continuation: CheckedContinuation<Raced<Value>, Never>?
        var ends: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// Has something called when the race is over.
    func hold(_ end: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.outcome == nil { state.ends.append(end) }
            return state.outcome != nil
        }
        if isOver { end() }
    }

    func finish(_ outcome: Raced<Value>) {
        let before: State? = state.withLock { state in
            guard state.outcome == nil else { return nil }
            defer { state = State(outcome: outcome) }
            return state
        }
        guard let before else { return }
        for end in before.ends { end() }
        before.continuation?.resume(returning: outcome)
    }

    func outcome() async -> Raced<Value> {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.continuation = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }
}
