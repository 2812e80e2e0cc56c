/// Exponential backoff: the delay doubles with each failure in a row, up to a cap, with jitter so that clients do not
/// come back all at once.
package struct Backoff: Sendable {
    /// The delay after the first failure.
    package var first: Duration
    /// The cap, without jitter.
    package var longest: Duration
    /// The largest change of a delay, as a part of it, from 0 to 1.
    package var jitter: Double
    /// Where the jitter comes from.
    package var generator: any RandomNumberGenerator & Sendable

    package init(
        first: Duration, longest: Duration, jitter: Double, generator: any RandomNumberGenerator & Sendable
    ) {
        self.first = first
        self.longest = longest
        self.jitter = jitter
        self.generator = generator
    }

    /// The delay before the next attempt.
    ///
    /// - Parameters:
    ///   - failures: How many attempts in a row have failed.
    ///   - asked: The delay that the server asked for (`Retry-After`), if any: a delay is never shorter.
    package mutating func wait(failures: Int, asked: Duration?) -> Duration {
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
