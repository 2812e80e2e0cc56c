import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Scheduled rules")
struct TimeRunTests {
    private let folder: TemporaryFolder
    private let clock: MovedClock

    init() throws {
        folder = try TemporaryFolder()
        // A Monday.
        clock = MovedClock(try #require(DateFormat.date(.text("2026-11-23 12:00"), .gmt)))
    }

    private static let nightly =
        "- { rule: Night, in: inbox, at: \"every day 03:00\", where: { extension: txt }, do: { probe: { name: night } } }"

    private func bench(_ rules: String = nightly) async throws -> TimeBench {
        try await TimeBench(folder.path, clock, rules: rules)
    }

    @Test("At its time a rule runs on all files that meet its conditions, once each, and on no other occasion")
    func nightly() async throws {
        let time = try await bench()
        for name in ["a.txt", "b.txt", "c.pdf", "deep/d.txt"] as [BytePath] {
            try time.write(BytePath("inbox").appending(name))
            try await time.bench.process(name)
        }
        #expect(time.ran == [], "an arrival does not start it")
        try await time.pass(15 * hour - 1)
        #expect(time.ran == [])
        try await time.pass(2)
        #expect(time.ran.sorted() == ["perform night a.txt", "perform night b.txt", "perform night d.txt"])
        try await time.pass(23 * hour)
        #expect(time.ran.count == 3)
        try await time.pass(2 * hour)
        #expect(time.ran.count == 6)
        #expect(try await time.bench.jobs().map(\.event) == Array(repeating: "scheduled", count: 6))
    }

    @Test("A file with an additional name, or another mode, has its turn with all the others")
    func furtherName() async throws {
        for rules in [Self.nightly, Self.nightly + "\n- { rule: Read, in: inbox, do: { probe: { name: read } } }"] {
            let (own, clock) = (try TemporaryFolder(), MovedClock(clock.now))
            let time = try await TimeBench(own.path, clock, rules: rules)
            for name in ["a.txt", "b.txt"] as [BytePath] {
                try time.write(BytePath("inbox").appending(name))
                try await time.bench.process(name)
            }
            // A link created elsewhere causes no event.
            #expect(link(time.bench.path("inbox/a.txt").text, time.bench.path("elsewhere").text) == 0)
            #expect(chmod(time.bench.path("inbox/b.txt").text, 0o640) == 0)
            try await time.pass(15 * hour + 1)
            #expect(
                time.ran.filter { $0.contains("night") }.sorted() == ["perform night a.txt", "perform night b.txt"])
            #expect(time.wantsJudged == [])
        }
    }

    @Test("With `on` it is also started by events")
    func alsoArrivals() async throws {
        let time = try await bench(
            "- { rule: Both, in: inbox, on: arrived, at: \"every day 03:00\", do: { probe: { name: both } } }")
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        #expect(time.ran.count == 1)
        try await time.pass(day)
        #expect(time.ran.count == 2)
        #expect(try await time.bench.jobs().map(\.event) == ["arrived", "scheduled"])
    }

    @Test(
        "Several times, and an interval, each count",
        arguments: [
            ("at: [\"every day 03:00\", \"every monday 04:00\", \"every month 1 05:00\"]", 30 + 4 + 1),
            ("every: 7d", 4),
            ("every: 12h", 60),
        ])
    func several(_ schedule: String, _ runs: Int) async throws {
        let time = try await bench("- { rule: R, in: inbox, \(schedule), do: { probe: { name: r } } }")
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        try await time.pass(30 * day + 1)
        #expect(time.ran.count == runs)
    }

    @Test(
        "Missed runs are made up for once: after suspend, and after the agent was off",
        arguments: [true, false])
    func missed(isOff: Bool) async throws {
        let script = Script()
        var time = try await TimeBench(folder.path, clock, script: script, rules: Self.nightly)
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        try await time.pass(day)
        #expect(time.ran.count == 1)
        if isOff {
            await time.keeper.stop()
            try time.bench.ledger.close()
            clock.advance(100 * day)
            time = try await TimeBench(folder.path, clock, script: script, rules: Self.nightly)
            try await time.wake()
        } else {
            try await time.jump(100 * day)
        }
        #expect(time.ran.count == 2)
        try await time.pass(day)
        #expect(time.ran.count == 3)
    }

    @Test(
        "A clock that jumps ahead and back neither repeats a run nor loses the next ones",
        arguments: [1.0, 3_653.0])
    func jumps(days: Double) async throws {
        let time = try await bench()
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        try await time.jump(days * day)
        #expect(time.ran.count == 1)
        try await time.jump(-days * day)
        #expect(time.ran.count == 1)
        // The wrong clock has already run this day's schedule, so there is no second run.
        try await time.pass(3 * day)
        #expect(time.ran.count == (days == 1 ? 3 : 4))
        try await time.jump(-days * day)
        let before = time.ran.count
        try await time.pass(3 * day)
        #expect(time.ran.count - before == (days == 1 ? 2 : 3))
        let jobs = try await time.bench.jobs()
        #expect(Set(jobs.map(\.id)).count == jobs.count)
        #expect(jobs.count == time.ran.count)
    }

    @Test(
        "Each day of a year with clock changes has one run",
        arguments: [
            "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Santiago",
        ])
    func daylightSaving(_ zone: String) async throws {
        let timeZone = try #require(Zone(identifier: zone))
        let schedule = [
            try #require(Schedule(at: "every day 02:15", timeZone: timeZone)),
            try #require(Schedule(at: "every day 00:30", timeZone: timeZone)),
        ]
        var time = clock.now
        let end = time.adding(seconds: 365 * day)
        var last = time
        var runs = 0
        // Like the keeper: woken at the next time, it asks for the latest that is due.
        while time < end {
            time = try #require(schedule.next(after: last, anchor: clock.now))
            let due = try #require(schedule.latest(upTo: time, anchor: clock.now))
            #expect(due == time && due > last)
            last = due
            runs += 1
        }
        #expect(abs(runs - 730) <= 1)
    }

    @Test("Products of the rule are not among the files of the same run")
    func products() async throws {
        let time = try await bench(
            "- { rule: Mark, in: inbox, at: \"every day 03:00\", do: { probe: { name: mark } } }")
        time.bench.script.perform("mark") { intent, _ in
            let to = intent.file.parent.appending(name: Array("z".utf8) + intent.file.name)
            guard try Durable.renameNew(intent.file, to: to) else { throw Fault(.failed, "there is one") }
            let file = try Descriptor(to)
            return Receipt(
                "marked",
                effects: [.moved(intent.file, to: to, try file.status().fingerprint, try ContentHash.of(file))])
        }
        for name in ["a", "b"] as [BytePath] {
            try time.write(BytePath("inbox").appending(name))
            try await time.bench.process(name)
        }
        try await time.pass(day)
        #expect(time.ran.sorted() == ["perform mark a", "perform mark b"])
        try await time.pass(day)
        #expect(time.ran.count == 4)
    }

    @Test("A file renamed before its turn keeps it under the new name, and a second name loses none")
    func renamed() async throws {
        let time = try await bench()
        let paths = ["a.txt", "b.txt", "c.txt", "d.txt"].map { time.bench.path("inbox").appending(BytePath($0)) }
        for name in ["a.txt", "b.txt"] as [BytePath] {
            try time.write(BytePath("inbox").appending(name))
            try await time.bench.process(name)
        }
        time.bench.inWork.begin([paths[0], paths[1]])
        try await time.pass(15 * hour + 1)
        time.bench.inWork.end([paths[0], paths[1]])
        #expect(time.ran == [])
        #expect(try Durable.renameNew(paths[0], to: paths[2]))
        #expect(link(paths[1].text, paths[3].text) == 0)
        for name in ["c.txt", "d.txt", "b.txt", "a.txt"] as [BytePath] { try await time.bench.process(name) }
        try await time.pass(minute)
        #expect(time.ran.sorted() == ["perform night b.txt", "perform night c.txt"])
    }

    @Test("A new or changed schedule begins with its next time")
    func changed() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        try await time.setRules(
            "- { rule: Night, in: inbox, at: \"every day 11:00\", do: { probe: { name: night } } }")
        #expect(time.ran == [])
        try await time.pass(22 * hour)
        #expect(time.ran == [])
        try await time.pass(2 * hour)
        #expect(time.ran.count == 1)
        try await time.setRules("- { rule: Other, in: inbox, do: { probe: { name: other } } }")
        #expect(try await time.bench.ledger.read { try $0.schedules() }.isEmpty)
        try await time.pass(10 * day)
        #expect(time.ran.count == 1)
    }

    @Test("An interval is not repeated if the machine boots with its clock far behind and it is then set")
    func bootsBehind() async throws {
        let time = try await bench("- { rule: R, in: inbox, every: 7d, do: { probe: { name: r } } }")
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        try await time.pass(8 * day)
        #expect(time.ran.count == 1)
        for boot in 1...3 {
            let now = clock.now
            // A different version gives a different job.
            try time.write("inbox/a.txt", "version \(boot)")
            try await time.bench.process("a.txt")
            clock.now = Timestamp(nanoseconds: Int64(boot) * 777_000_000_000)
            try await time.wake()
            clock.now = now.adding(seconds: day)
            try await time.wake()
            #expect(time.ran.count == 1)
        }
        try await time.pass(17 * day)
        #expect(time.ran.count == 4)
    }

    @Test("A clock that was years ahead loses no runs from when the agent was off, once it is right")
    func wasAhead() async throws {
        let (script, start) = (Script(), clock.now)
        var time = try await TimeBench(folder.path, clock, script: script, rules: Self.nightly)
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        try await time.jump(3_653 * day)
        #expect(time.ran.count == 1)
        for boot in 0..<3 {
            await time.keeper.stop()
            try time.bench.ledger.close()
            clock.now = start.adding(seconds: Double(boot) * day)
            time = try await TimeBench(folder.path, clock, script: script, rules: Self.nightly)
            try await time.wake()
            #expect(time.ran.count == 1 + boot)
        }
    }

    @Test("A rule edited during a run continues with the remaining files, in its new form")
    func edited() async throws {
        let time = try await bench()
        for name in ["a.txt", "b.txt"] as [BytePath] {
            try time.write(BytePath("inbox").appending(name))
            try await time.bench.process(name)
        }
        let (root, aside) = (time.bench.path("inbox"), time.bench.path("aside"))
        _ = try time.bench.journal.presence.look(at: time.bench.place())
        #expect(rename(root.text, aside.text) == 0)
        try await time.pass(day)
        try await time.setRules(Self.nightly.replacingOccurrences(of: "name: night", with: "name: anew"))
        #expect(rename(aside.text, root.text) == 0)
        try await time.wake()
        #expect(time.ran.sorted() == ["perform anew a.txt", "perform anew b.txt"])
        try await time.pass(day)
        #expect(time.ran.count == 4)
    }

    @Test("A rule edited while its files are entered is entered in its new form")
    func editedAtEntry() async throws {
        let time = try await bench()
        for number in 0..<40 { try time.write(BytePath("inbox/\(number).txt")) }
        for number in 0..<40 { try await time.bench.process(BytePath("\(number).txt")) }
        let keeper = time.keeper
        clock.advance(day)
        async let wake: Void = keeper.wake()
        for number in 0..<5 {
            try time.bench.setRules(Self.nightly.replacingOccurrences(of: "name: night", with: "name: n\(number)"))
            try await keeper.rulesChanged()
        }
        await wake
        try await time.wake()
        // One being processed just as the rule was edited is retried after half a minute.
        try await time.jump(60)
        #expect(time.ran.count == 40)
        #expect(Set(time.ran.compactMap { $0.split(separator: " ").last }).count == 40)
        #expect(try await time.due().isEmpty)
    }

    @Test("A rule with a changed schedule runs neither at the old times nor before the new one is in force")
    func anotherSchedule() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        clock.advance(day)
        try time.bench.setRules(
            Self.nightly.replacingOccurrences(of: "every day", with: "every monday")
                .replacingOccurrences(of: "name: night", with: "name: other"))
        try await time.wake()
        #expect(time.ran.isEmpty)
        try await time.keeper.rulesChanged()
        try await time.wake()
        #expect(time.ran.isEmpty)
        try await time.pass(7 * day)
        #expect(time.ran == ["perform other a.txt"])
    }

    @Test("Files with visible names do not wait for hidden ones")
    func besideHiddenOnes() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        time.bench.ledger.names.expect(in: "inbox")
        try await time.pass(day)
        #expect(time.ran == ["perform night a.txt"])
    }

    @Test("Files of a place that is away run once when it is back, however many times were missed")
    func away() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        let (root, aside) = (time.bench.path("inbox"), time.bench.path("aside"))
        _ = try time.bench.journal.presence.look(at: time.bench.place())
        #expect(rename(root.text, aside.text) == 0)
        try await time.pass(5 * day)
        #expect(time.ran == [])
        #expect(rename(aside.text, root.text) == 0)
        try await time.wake()
        #expect(time.ran.count == 1)
    }

    @Test("A rule with only a schedule can be run by name")
    func reprocess() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        let record = try #require(try await time.bench.ledger.read { try $0.file("inbox", "a.txt") })
        let jobs = try await time.bench.planner.plan(record, in: time.bench.place(), rules: ["Night"], again: true)
        #expect(jobs.map(\.rule) == ["Night"])
    }

    @Test(
        "Errors in a schedule are reported at their position",
        arguments: [
            ("at: \"every dya 03:00\"", "`at` must be such as"), ("every: 7", "`every` must be a duration"),
            ("every: 5s", "`every` must be a minute at least"),
            ("on: aged", "`aged` is not an event of a file"),
            ("on: scheduled", "`scheduled` is not an event"), ("where: { age: { is: 7 } }", "`age` must be a"),
            ("where: { age: { since: made, is: \"> 7d\" } }", "`since` must be one of"),
            ("where: { age: { since: arrived } }", "`age` needs `is`"),
        ])
    func complaint(_ line: String, _ expected: String) {
        let found = complaints("- { rule: R, in: comics, do: trash, \(line) }")
        #expect(found.count == 1 && found.first?.contains(expected) == true, "\(found)")
    }
}
