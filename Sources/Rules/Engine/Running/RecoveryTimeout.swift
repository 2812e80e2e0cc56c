import Platform
import Synchronization

/// For how long a start waits for what an earlier life had begun and that may need any file system: not for a call that
/// hangs, and where nothing comes to its end for no longer than a minute. What is not waited for goes on by itself.
final class RecoveryTimeout: Sendable {
    private struct State {
        /// How much has come to its end.
        var ended = 0
        /// Whether something was not waited for any longer, and nothing has come to its end since.
        var hasGivenUp = false
    }

    private let state = Mutex(State())

    private static let pause = Duration.milliseconds(250)
    /// Looks in a row in which nothing has come to its end, after which nothing is waited for: a minute.
    private static let looks = 240
    /// The same while calls hang on behalf of others, which may be what is waited for.
    private static let looksBesideHangs = Int(HangWatch.threshold * 4)
    /// The same after that, for what comes next.
    private static let looksOfNext = 4

    /// Begins `work`, and waits until it has ended, or is not worth waiting for.
    ///
    /// - Parameter whose: on whose behalf its own calls are made.
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
        // The agent is told to stop.
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
