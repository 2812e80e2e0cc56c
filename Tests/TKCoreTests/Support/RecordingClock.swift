import Synchronization

/// A clock on which sleeping takes no time, and which records each duration.
final class RecordingClock: Clock, Sendable {
    typealias Instant = ContinuousClock.Instant
    typealias Duration = Swift.Duration

    private let recorded = Mutex<[Duration]>([])
    private let start = ContinuousClock.now

    var pauses: [Duration] { recorded.withLock { $0 } }
    var now: Instant { recorded.withLock { start.advanced(by: $0.reduce(.zero, +)) } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        recorded.withLock { pauses in
            pauses.append(deadline - start.advanced(by: pauses.reduce(.zero, +)))
        }
        await Task.yield()
    }
}

/// A clock on which no sleep ever ends.
struct StoppedClock: Clock {
    typealias Instant = ContinuousClock.Instant
    typealias Duration = Swift.Duration

    var now: Instant { ContinuousClock.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(for: .seconds(86_400))
    }
}
