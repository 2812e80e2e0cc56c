import Foundation
import Glibc
import Ledger
import Logging
import Platform
import Rules
import Synchronization
import TestSupport

/// A clock that a test sets.
final class MovedClock: Sendable {
    private let time: Mutex<Timestamp>

    init(_ time: Timestamp) { self.time = Mutex(time) }

    var now: Timestamp {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    var clock: WallClock { WallClock { self.now } }

    func advance(_ seconds: Double) { now = now.adding(seconds: seconds) }
}

/// An alarm that only records its settings.
final class NotedAlarm: WallAlarm {
    private let noted = Mutex<Timestamp?>(nil)

    var time: Timestamp? { noted.withLock { $0 } }

    func set(_ time: Timestamp?) { noted.withLock { $0 = time } }

    func bringForward(to time: Timestamp) { noted.withLock { $0 = min($0 ?? time, time) } }
}

let minute = 60.0
let hour = 3_600.0
let day = 86_400.0

/// A bench with a time keeper. Another over the same folder and clock is the next run of the agent.
final class TimeBench: Sendable {
    let bench: Bench
    let clock: MovedClock
    let alarm = NotedAlarm()
    let keeper: TimeKeeper
    private let looked = Mutex<[BytePath]>([])

    /// What the keeper wanted to have judged.
    var wantsJudged: [BytePath] { looked.withLock { $0 } }

    private final class Looks: Sendable {
        let note = Mutex<(@Sendable (BytePath) -> Void)?>(nil)
    }

    init(
        _ folder: BytePath, _ clock: MovedClock, script: Script = Script(), rules: String,
        inspector: (any ContentInspector)? = nil, adding nested: [PlaceInfo] = [], wall: WallClock? = nil,
        more: [ActionDefinition] = []
    ) async throws {
        self.clock = clock
        bench = try Bench(
            folder, script, rules: rules, more: more, clock: wall ?? clock.clock, inspector: inspector, adding: nested)
        let (runner, looks) = (bench.runner, Looks())
        keeper = TimeKeeper(
            ledger: bench.ledger, planner: bench.planner, inWork: bench.inWork, alarm: alarm,
            hooks: TimeKeeper.Hooks(
                submit: { jobs in await runner.submit(jobs.map { ($0.id, $0.place, $0.path) }, areReady: true) },
                look: { _, path in looks.note.withLock { $0 }?(path) }),
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        looks.note.withLock { note in note = { path in self.looked.withLock { $0.append(path) } } }
        let ledger = bench.ledger
        try await ledger.write { transaction in
            for place in Bench.places(folder) + nested {
                _ = try transaction.registerPlace(place.name, root: place.root)
            }
        }
        try await keeper.rulesChanged()
        try await rest()
    }

    /// Fires the alarm if its time has come; returns when everything that follows is done.
    func wake() async throws {
        await keeper.wake()
        try await rest()
    }

    /// Lets this many seconds pass, processing everything due at its time.
    func pass(_ seconds: Double) async throws {
        let end = clock.now.adding(seconds: seconds)
        while let next = alarm.time, next <= end {
            clock.now = max(clock.now, next)
            alarm.set(nil)
            try await wake()
        }
        clock.now = end
    }

    /// The clock jumps to another time, as after a suspend or when it is set.
    func jump(_ seconds: Double) async throws {
        clock.advance(seconds)
        alarm.set(nil)
        try await wake()
    }

    func rest() async throws {
        var timeout = Timeout(seconds: 240)
        while !(await keeper.isIdle) {
            guard try await timeout.pause(milliseconds: 2) else {
                throw TestFailure("the keeper does not come to rest")
            }
        }
        await bench.runner.idle()
    }

    func setRules(_ yaml: String) async throws {
        try bench.setRules(yaml)
        try await keeper.rulesChanged()
        try await wake()
    }

    /// Writes a file whose content was last changed this many seconds before the clock's current time.
    func write(_ path: BytePath, _ text: String = "x", age seconds: Double = 0) throws {
        try bench.write(path, text)
        try setModified(path, clock.now.adding(seconds: -seconds))
    }

    func setModified(_ path: BytePath, _ time: Timestamp) throws {
        let whole = Int(time.nanoseconds / 1_000_000_000)
        // UTIME_OMIT: the access time stays.
        var times = [
            timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2),
            timespec(tv_sec: whole, tv_nsec: Int(time.nanoseconds % 1_000_000_000)),
        ]
        guard utimensat(AT_FDCWD, bench.path(path).text, &times, 0) == 0 else { throw Fault.system("set times") }
    }

    /// What has run: `perform NAME PATH`, in order.
    var ran: [String] { bench.script.lines }

    func due() async throws -> [DueRecord] { try await bench.ledger.read { try $0.comingDue(limit: 100) } }
}
