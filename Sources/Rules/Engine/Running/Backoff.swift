/// Exponential backoff: the delay doubles from one second up to ten minutes. It has 20% jitter, so that jobs that
/// failed together do not retry together.
package enum Backoff {
    /// Upper bound of the delay, in seconds.
    package static let longest = 720.0

    package static func seconds(attempt: Int, using generator: inout some RandomNumberGenerator) -> Double {
        let base = min(600, 1.0 * Double(1 << min(max(0, attempt - 1), 10)))
        return base * Double.random(in: 0.8...1.2, using: &generator)
    }
}
