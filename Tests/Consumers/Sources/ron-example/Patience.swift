import RonAppSdkSwift

/// Makes a call again while that makes sense: as late as the server asks for, else twice as late each time, by chance up to
/// half of it earlier or later, so that not everybody comes back at once.
///
/// A write needs an idempotency key that stays the same: an answer may be lost after the server has done its work.
///
/// - Parameters:
///   - attempts: how often in all.
///   - wait: before the second attempt, in milliseconds.
///   - call: makes it.
/// - Returns: the last answer.
/// - Throws: `CancellationError` where the task is cancelled while it waits.
func patiently<T>(
    attempts: Int = 5, wait: Double = 200, _ call: () async -> AppResponse<T>
) async throws -> AppResponse<T> {
    var wait = wait
    for _ in 1..<attempts {
        let answer = await call()
        guard let problem = answer.problem, problem.retryable == true else { return answer }
        let asked = problem.retryAfterMs.map { Double($0) } ?? wait * .random(in: 0.5...1.5)
        try await Task.sleep(for: .milliseconds(asked))
        wait *= 2
    }
    return await call()
}
