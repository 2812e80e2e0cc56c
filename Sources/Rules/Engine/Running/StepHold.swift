import Platform
import Synchronization

/// Keeps steps from beginning for a while, so that ledger and stores can be copied between two steps.
package final class StepHold: Sendable {
    private struct State {
        /// Number of active holds.
        var holders = 0
        var atWork = 0
        /// Steps waiting for the end of the hold.
        var steps: [CheckedContinuation<Void, Never>] = []
        var isOver = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Waits while steps are held, then counts the caller as a running step.
    func enter() async {
        while true {
            let isIn = state.withLock { state in
                if state.holders == 0 || state.isOver { state.atWork += 1 }
                return state.holders == 0 || state.isOver
            }
            if isIn { return }
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    guard state.holders > 0, !state.isOver else { return true }
                    state.steps.append(continuation)
                    return false
                }
                if goesOn { continuation.resume() }
            }
        }
    }

    /// Ends a step.
    func leave() { state.withLock { $0.atWork -= 1 } }

    /// Keeps steps from beginning until ``release()``, which must follow.
    ///
    /// - Parameter timeout: how long to wait for running steps.
    /// - Returns: whether no step is running any more.
    package func hold(waiting timeout: Duration) async -> Bool {
        state.withLock { $0.holders += 1 }
        let end = ContinuousClock.now + timeout
        while ContinuousClock.now < end {
            if state.withLock({ $0.atWork == 0 }) { return true }
            // Steps mostly end within milliseconds; a notification would cost every step more than this polling does.
            do { try await Task.sleep(for: .milliseconds(5)) } catch { return false }
        }
        return state.withLock { $0.atWork == 0 }
    }

    package func release() {
        state.withLock { $0.holders -= 1 }
        wake()
    }

    /// The agent is stopping; nothing waits here any more.
    func end() {
        state.withLock { $0.isOver = true }
        wake()
    }

    private func wake() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.holders == 0 || state.isOver else { return [] }
            defer { state.steps = [] }
            return state.steps
        }
        for step in waiting { step.resume() }
    }
}
