import Platform
import Synchronization

/// Limits how long a start waits for the recovery of earlier work, which may need any file system. It does not wait
/// for calls that hang, nor for longer than a minute in which nothing finishes. Work that is not waited for continues
/// in the background.
final class RecoveryTimeout: Sendable {
    private struct State {
        /// Number of work items that have ended.
        var ended = 0
        /// Whether a wait has timed out and nothing has ended since.
        var hasGivenUp = false
    }

    private let state = Mutex(State())

    private static let pause = Duration.milliseconds(250)
    /// Consecutive polls without progress until the timeout: a minute.
    private static let looks = 240
    /// The same while calls of others hang, since the work may be waiting for them.
    private static let looksBesideHangs = Int(HangWatch.threshold * 4)
    /// The same after a timeout, for the next work item.
    private static let looksOfNext = 4

    /// Begins `work`, and waits until it ends or the wait times out.
    ///
    /// - Parameter whose: the bulkhead of its own calls.
    /// - Returns: whether it has ended.
    func waits(for whose: Bulkhead, _ work: @escaping @Sendable () async -> Void) async -> Bool {
        let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
        Task.detached {
            await work()
            self.state.withLock { state in
                state.ended += 1
                state.hasGivenUp = false
            }
            answer.yield(true)
        }
        let waiting = Task.detached {
            await self.wait(for: whose)
            answer.yield(false)
        }
        defer { waiting.cancel() }
        for await hasEnded in answers { return hasEnded }
        // The agent is stopping.
        return false
    }

    private func wait(for whose: Bulkhead) async {
        var looks = 0
        var seen = state.withLock { $0.ended }
        while !HangWatch.shared.hangs(for: whose) {
            do { try await Task.sleep(for: Self.pause) } catch { return }
            let (ended, hasGivenUp) = state.withLock { ($0.ended, $0.hasGivenUp) }
            looks = ended == seen ? looks + 1 : 0
            seen = ended
            let most =
                hasGivenUp
                ? Self.looksOfNext : HangWatch.shared.hangs.isEmpty ? Self.looks : Self.looksBesideHangs
            guard looks >= most else { continue }
            state.withLock { $0.hasGivenUp = true }
            return
        }
    }
}
