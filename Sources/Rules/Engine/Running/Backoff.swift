/// How long to wait before the next try: doubled each time from one second to ten minutes, with a fifth of jitter so
/// that what failed together does not come back together.
package enum Backoff {
    /// No wait is longer.
    package static let longest = 720.0

    package static func seconds(attempt: Int, using generator: inout some RandomNumberGenerator) -> Double {
        let base = min(600, 1.0 * Double(1 << min(max(0, attempt - 1), 10)))
        return base * Double.random(in: 0.8...1.2, using: &generator)
    }
}
