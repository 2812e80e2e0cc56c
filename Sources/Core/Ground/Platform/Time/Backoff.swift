/// Exponential backoff: the delay doubles with each failure in a row, up to a cap, with jitter so that callers do not
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
    /// Failures in a row, as counted by ``next(asked:)``.
    private var failures = 0

    package init(
        first: Duration, longest: Duration, jitter: Double = 0,
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.first = first
        self.longest = longest
        self.jitter = jitter
        self.generator = generator
    }

    /// The delay after another failure in a row.
    package mutating func next(asked: Duration? = nil) -> Duration {
        failures += 1
        return delay(failures: failures, asked: asked)
    }

    /// An attempt has succeeded.
    package mutating func reset() { failures = 0 }

    /// The delay before the next attempt, for a caller that counts failures itself.
    ///
    /// - Parameters:
    ///   - failures: How many attempts in a row have failed.
    ///   - asked: The delay that the other side asked for, if any.
    package mutating func delay(failures: Int, asked: Duration? = nil) -> Duration {
        let limit = max(first, longest)
        var delay = first
        for _ in 1..<max(failures, 1) {
            if delay >= limit || delay == .zero { break }
            delay = min(delay * 2, limit)
        }
        return Self.delay(delay, asked: asked, jitter: jitter, using: &generator)
    }

    /// The same in seconds.
    package mutating func seconds(failures: Int, asked: Double? = nil) -> Double {
        delay(failures: failures, asked: asked.map { .seconds($0) }) / .seconds(1)
    }

    /// The rule for every retry: after our own delay, but never sooner than the other side asked for (`Retry-After`).
    /// Jitter then only lengthens it, so that not everyone who was asked comes back at once.
    package static func delay(
        _ own: Duration, asked: Duration?, jitter: Double, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let shortest = asked == nil ? 1 - jitter : 1
        return max(own, asked ?? .zero) * Double.random(in: shortest...(1 + jitter), using: &generator)
    }
}
