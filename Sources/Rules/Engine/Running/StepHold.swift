import Platform
import Synchronization

/// Has no step begin for a while, so that ledger and stores can be looked at as they are between two steps.
package final class StepHold: Sendable {
    private struct State {
        /// Those who hold.
        var holders = 0
        var atWork = 0
        /// Steps that wait for the end of the hold.
        var steps: [CheckedContinuation<Void, Never>] = []
        var isOver = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Waits while steps are held, and counts as one at work from then on.
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

    /// The step has ended.
    func leave() { state.withLock { $0.atWork -= 1 } }

    /// From now on no step begins, until ``release()``, which has to follow.
    ///
    /// - Parameter patience: how long steps are waited for that have begun.
    /// - Returns: whether none is at work any more.
    package func hold(waiting patience: Duration) async -> Bool {
        state.withLock { $0.holders += 1 }
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            if state.withLock({ $0.atWork == 0 }) { return true }
            // Steps end by themselves, mostly in milliseconds; being told would cost each of them more than this does.
            do { try await Task.sleep(for: .milliseconds(5)) } catch { return false }
        }
        return state.withLock { $0.atWork == 0 }
    }

    package func release() {
        state.withLock { $0.holders -= 1 }
        wake()
    }

    /// The agent stops: nobody waits here any more.
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
