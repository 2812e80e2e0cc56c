import RonAppSdkSwift

/// Repeats a call as long as that makes sense. The delay doubles each time, and is never shorter than the server asks
/// for. Jitter changes it by up to half, or only lengthens it if the server asked, so that clients do not all return at
/// once.
///
/// A write needs a constant idempotency key: its answer may be lost after the server has done the work.
///
/// - Parameters:
///   - attempts: the maximum number of attempts.
///   - wait: the delay before the second attempt, in milliseconds.
///   - call: makes the call.
/// - Returns: the last answer.
/// - Throws: `CancellationError` if the task is cancelled while it waits.
func retrying<T>(
    attempts: Int = 5, wait: Double = 200, _ call: () async -> AppResponse<T>
) async throws -> AppResponse<T> {
    var wait = wait
    for _ in 1..<attempts {
        let answer = await call()
        guard let problem = answer.problem, problem.retryable == true else { return answer }
        let asked = problem.retryAfterMs.map { Double($0) }
        let jitter = Double.random(in: asked == nil ? 0.5...1.5 : 1...1.5)
        try await Task.sleep(for: .milliseconds(max(wait, asked ?? 0) * jitter))
        wait *= 2
    }
    return await call()
}
