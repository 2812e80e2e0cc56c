import Foundation
import Platform
import Synchronization
import Testing

@Suite("Observed time")
struct SeenTimeTests {
    private static let hour = 3_600.0
    private static let day = 86_400.0
    private let start = Timestamp(seconds: 1_800_000_000)

    /// How the clock moved between two looks, and how much of that time was observed.
    struct Look: Sendable {
        let clock: Double
        let elapsed: Double

        /// Observed time.
        static func run(_ seconds: Double) -> Look { Look(clock: seconds, elapsed: seconds) }
        /// Unobserved time, or a change of the clock.
        static func jump(_ seconds: Double) -> Look { Look(clock: seconds, elapsed: 0) }
    }

    private static func often(_ count: Int, _ looks: Look...) -> [Look] {
        Array(repeatElement(looks, count: count).joined())
    }

    private static let cases: [(what: String, looks: [Look], held: Double)] = [
        ("a year of running", [.run(365 * day)], 0),
        ("asleep for a week, by a clock that goes on", [.run(7 * day)], 0),
        ("half a day off, each day", often(10, .run(12 * hour), .jump(12 * hour)), 0),
        ("a hundred days at once", [.jump(100 * day)], 100),
        ("a hundred days for four seconds", [.jump(100 * day), .run(4), .jump(-100 * day)], 0),
        ("and restarts meanwhile", [.jump(100 * day), .run(4), .jump(60), .run(4), .jump(60), .run(4)], 100),
        ("a hundred days, confirmed", [.jump(100 * day), .run(day)], 0),
        ("not quite confirmed", [.jump(100 * day), .run(day - 1)], 100),
        (
            "a week off, run for eight hours on three days",
            [.jump(7 * day)] + often(3, .run(8 * hour), .jump(16 * hour)), 0
        ),
        (
            "the same on two days", [.jump(7 * day)] + often(2, .run(8 * hour), .jump(16 * hour)),
            7
        ),
        (
            "an hour every other day, for a year",
            often(180, .run(hour), .jump(2 * day)), 2 * 24
        ),
        (
            "another jump just before the first is confirmed",
            [.jump(2 * day), .run(day - 1), .jump(1000 * day), .run(2)], 1000
        ),
        ("set right by and by", [.jump(100 * day), .jump(-40 * day), .jump(-59.5 * day)], 0),
        ("behind at boot, then set right", [.jump(-20_000 * day), .run(30), .jump(20_000 * day)], 0),
        ("behind at boot after a week off", [.jump(-20_000 * day), .run(30), .jump(20_007 * day)], 7),
        (
            "wrong for days, set right, and wrong again",
            [.jump(100 * day), .run(2 * day), .jump(-100 * day), .run(2 * day), .jump(50 * day)], 50
        ),
    ]

    @Test("A clock that jumps ahead counts only after a day of running", arguments: cases.indices)
    func looks(_ number: Int) throws {
        let (what, looks, held) = Self.cases[number]
        var seen = SeenTime(start)
        for look in looks {
            seen.look(seen.clock.adding(seconds: look.clock), elapsed: look.elapsed)
            #expect(seen.time <= seen.clock, "\(what)")
            // As in the next process.
            seen = try JSONDecoder().decode(SeenTime.self, from: JSONEncoder().encode(seen))
        }
        #expect(((seen.clock.seconds - seen.time.seconds) / Self.day).rounded() == held, "\(what)")
        #expect((seen.held == nil) == (held == 0), "\(what)")
        if let held = seen.held { #expect(held.next > seen.clock && held.last >= held.next, "\(what)") }
    }

    @Test("The value of an earlier process is continued, and intervals are measured by the monotonic clock")
    func clock() {
        let now = Mutex(start)
        let ticks = Mutex(50.0)
        let clock = SeenClock(now: { now.withLock { $0 } }, ticks: { ticks.withLock { $0 } })
        #expect(clock.look().held == nil, "before it has begun the clock is believed")
        clock.begin(SeenTime(start.adding(seconds: -10 * Self.day)))
        #expect(clock.clock.held()?.safe == start.adding(seconds: -10 * Self.day))
        now.withLock { $0 = $0.adding(seconds: Self.day) }
        ticks.withLock { $0 += Self.day }
        #expect(clock.clock.held() == nil)
        #expect(clock.look().time == start.adding(seconds: Self.day))
    }
}
