/// A deadline that only makes a failing wait end: time in which the waiting task was not scheduled, on a loaded
/// machine, does not count.
package struct Timeout {
    private var left: Duration
    private var last = ContinuousClock.now

    package init(seconds: Double = 60) { left = .seconds(seconds) }

    /// Pauses for a moment; false once the time is used up.
    package mutating func pause(milliseconds: Int = 5) async throws -> Bool {
        guard left > .zero else { return false }
        try await Task.sleep(for: .milliseconds(milliseconds))
        let now = ContinuousClock.now
        left -= min(now - last, .milliseconds(max(milliseconds, 50)))
        last = now
        return true
    }
}

/// Polls until `condition` holds; for conditions brought about by another thread or process.
package func waitUntil(
    _ what: String, seconds: Double = 60, _ condition: () async throws -> Bool
) async throws {
    var timeout = Timeout(seconds: seconds)
    while try await !condition() {
        guard try await timeout.pause() else { throw TestFailure("waited \(seconds) s in vain until \(what)") }
    }
}
