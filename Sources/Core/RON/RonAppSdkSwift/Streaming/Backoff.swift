/// Waits that double from one failure to the next, and vary so that clients do not come back all at once.
struct Backoff: Sendable {
    /// The wait after the first failure.
    var first: Duration
    /// What doubling leads to.
    var longest: Duration
    /// By what part of itself a wait is varied at most, from 0 to 1.
    var jitter: Double
    var generator: any RandomNumberGenerator & Sendable

    /// How long to wait.
    ///
    /// - Parameters:
    ///   - failures: How many there have been in a row.
    ///   - asked: How long the peer asked to be left alone, if it did: a wait is never shorter.
    /// - Returns: The wait.
    mutating func wait(failures: Int, asked: Duration?) -> Duration {
        let limit = max(first, longest)
        var delay = first
        for _ in 1..<max(failures, 1) {
            if delay >= limit || delay == .zero { break }
            delay = min(delay * 2, limit)
        }
        let shortest = asked == nil ? 1 - jitter : 1
        return max(delay, asked ?? .zero) * Double.random(in: shortest...(1 + jitter), using: &generator)
    }
}
