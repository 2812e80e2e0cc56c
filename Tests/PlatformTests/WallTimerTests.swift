import Platform
import Synchronization
import TestSupport
import Testing

@Suite("Wall-clock timer")
struct WallTimerTests {
    /// Counts, and can be waited for.
    private final class Bell: Sendable {
        private let rung = Mutex<[Timestamp]>([])

        var times: [Timestamp] { rung.withLock { $0 } }

        func ring() { rung.withLock { $0.append(.now()) } }

        func wait(for count: Int) async throws {
            var timeout = Timeout(seconds: 30)
            while times.count < count {
                guard try await timeout.pause(milliseconds: 5) else {
                    throw TestFailure("rang \(times.count) times, not \(count)")
                }
            }
        }
    }

    @Test("It fires at its time and not before, once for each setting")
    func wakes() async throws {
        let bell = Bell()
        let timer = try WallTimer { bell.ring() }
        let first = Timestamp.now().adding(seconds: 0.05)
        timer.set(first)
        try await bell.wait(for: 1)
        #expect(try #require(bell.times.first) >= first)
        timer.set(Timestamp(nanoseconds: 0))
        try await bell.wait(for: 2)
        timer.set(Timestamp.now().adding(seconds: 3_600))
        timer.set(nil)
        timer.stop()
        #expect(bell.times.count == 2)
    }

    @Test("It can be moved earlier but not later")
    func broughtForward() async throws {
        let bell = Bell()
        let timer = try WallTimer { bell.ring() }
        timer.set(Timestamp.now().adding(seconds: 3_600))
        timer.bringForward(to: Timestamp.now().adding(seconds: 7_200))
        let soon = Timestamp.now().adding(seconds: 0.02)
        timer.bringForward(to: soon)
        try await bell.wait(for: 1)
        #expect(try #require(bell.times.first) >= soon)
        // It is disarmed now, so any time is earlier.
        timer.bringForward(to: Timestamp.now().adding(seconds: 0.02))
        try await bell.wait(for: 2)
        timer.stop()
    }

    @Test("It can be set to the latest possible time, and cancelled while waiting")
    func farAway() async throws {
        let bell = Bell()
        let timer = try WallTimer { bell.ring() }
        timer.set(Timestamp(nanoseconds: .max))
        timer.bringForward(to: Timestamp(nanoseconds: .max - 1))
        let soon = Timestamp.now().adding(seconds: 0.02)
        timer.bringForward(to: soon)
        try await bell.wait(for: 1)
        // Neither of the two before has woken it.
        #expect(try #require(bell.times.first) >= soon)
        timer.set(Timestamp(nanoseconds: .max))
        timer.stop()
        #expect(bell.times.count == 1)
    }
}
