import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Files that meet a rule through time alone")
struct TimeDueTests {
    private let folder: TemporaryFolder
    private let clock: MovedClock

    init() throws {
        folder = try TemporaryFolder()
        clock = MovedClock(try #require(DateFormat.date(.text("2026-11-23 12:00"), .gmt)))
    }

    private static let old = "- { rule: Old, in: inbox, where: { age: \"> 30d\" }, do: { probe: { name: old } } }"

    private func bench(_ rules: String = old) async throws -> TimeBench {
        try await TimeBench(folder.path, clock, rules: rules)
    }

    @Test("An unchanged file runs the rule once, when it is as old as the rule says")
    func becomesOld() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt", age: 10 * day)
        try await time.bench.process("a.txt")
        #expect(try await time.due().map(\.path) == ["a.txt"])
        #expect(time.alarm.time == Timestamp(nanoseconds: clock.now.adding(seconds: 20 * day).nanoseconds + 1))
        try await time.pass(20 * day - 1)
        #expect(time.ran == [])
        try await time.pass(2)
        #expect(time.ran == ["perform old a.txt"])
        #expect(try await time.due().isEmpty)
        try await time.pass(400 * day)
        #expect(time.ran == ["perform old a.txt"], "a file arrives once")
        #expect(try await time.bench.jobs().map(\.event) == ["arrived"])
    }

    @Test("A file is not read before it is due, if no rule wants it yet")
    func notRead() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        #expect(try await time.bench.ledger.read { try $0.file("inbox", "a.txt") }?.hash == nil)
        try await time.pass(31 * day)
        #expect(time.ran == ["perform old a.txt"])
        #expect(try await time.bench.onlyJob().hash == ContentHash(of: Array("x".utf8)))
    }

    @Test("A file whose name can never match has nothing due")
    func never() async throws {
        let time = try await bench(
            """
            - { rule: Pdf, in: inbox, where: { extension: pdf, age: "> 1d" }, do: { probe: { name: pdf } } }
            - { rule: Named, in: inbox, where: { name: "b*", any: [{ age: "> 2d" }, { name: "c*" }] }, do: { probe: {} } }
            """)
        for name in ["a.txt", "c.txt"] as [BytePath] {
            try time.write(BytePath("inbox").appending(name))
            try await time.bench.process(name)
        }
        #expect(try await time.due().isEmpty)
        try time.write("inbox/b.pdf")
        try await time.bench.process("b.pdf")
        #expect(try await time.due().count == 2)
    }

    @Test("A change before it is due restarts the time")
    func changedBefore() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        try await time.pass(20 * day)
        try time.write("inbox/a.txt", "other")
        try await time.bench.process("a.txt")
        try await time.pass(29 * day)
        #expect(time.ran == [])
        try await time.pass(2 * day)
        #expect(time.ran == ["perform old a.txt"])
    }

    @Test("Setting a file's times restarts the time too, or ends it")
    func touched() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        try await time.pass(29 * day)
        try time.setModified("inbox/a.txt", clock.now)
        try await time.bench.process("a.txt")
        try await time.wake()
        try await time.pass(5 * day)
        #expect(time.ran == [])
        try time.setModified("inbox/a.txt", clock.now.adding(seconds: -40 * day))
        try await time.bench.process("a.txt")
        try await time.wake()
        #expect(time.ran == ["perform old a.txt"])
    }

    @Test("A change not yet seen is judged before anything is done")
    func unseenChange() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        try await time.pass(29 * day)
        try time.write("inbox/a.txt", "other", age: 0)
        try await time.jump(2 * day)
        #expect(time.ran == [])
        #expect(time.wantsJudged == ["a.txt"])
        try await time.bench.process("a.txt")
        try await time.pass(31 * day)
        #expect(time.ran == ["perform old a.txt"])
    }

    @Test("A rename is followed, unless the rule does not match the new name")
    func renamed() async throws {
        let time = try await bench(
            "- { rule: Old, in: inbox, where: { extension: txt, age: \"> 30d\" }, do: { probe: { name: old } } }")
        for name in ["a.txt", "b.txt"] as [BytePath] {
            try time.write(BytePath("inbox").appending(name))
            try await time.bench.process(name)
        }
        #expect(try Durable.renameNew(time.bench.path("inbox/a.txt"), to: time.bench.path("inbox/a2.txt")))
        #expect(try Durable.renameNew(time.bench.path("inbox/b.txt"), to: time.bench.path("inbox/b.pdf")))
        for name in ["a2.txt", "a.txt", "b.pdf", "b.txt"] as [BytePath] { try await time.bench.process(name) }
        #expect(try await time.due().map(\.path) == ["a2.txt"])
        try await time.pass(31 * day)
        #expect(time.ran == ["perform old a2.txt"])
    }

    @Test("A removed file has nothing due, whether the removal was seen or not")
    func removed() async throws {
        let time = try await bench()
        for name in ["a.txt", "b.txt"] as [BytePath] {
            try time.write(BytePath("inbox").appending(name))
            try await time.bench.process(name)
            try Durable.remove(time.bench.path("inbox").appending(name))
        }
        try await time.bench.process("a.txt")
        #expect(try await time.due().map(\.path) == ["b.txt"])
        try await time.jump(31 * day)
        #expect(time.ran == [])
        #expect(time.wantsJudged == ["b.txt"])
        try await time.bench.process("b.txt")
        #expect(try await time.due().isEmpty)
    }

    @Test("A changed or new rule applies to existing files, except those that already meet it")
    func rulesChanged() async throws {
        let time = try await bench()
        try time.write("inbox/young.txt")
        try time.write("inbox/older.txt", age: 8 * day)
        for name in ["young.txt", "older.txt"] as [BytePath] { try await time.bench.process(name) }
        try await time.setRules(
            "- { rule: Week, in: inbox, where: { age: \"> 7d\" }, do: { probe: { name: week } }, existing: skip }")
        #expect(try await time.due().map(\.path) == ["young.txt"])
        try await time.pass(8 * day)
        #expect(time.ran == ["perform week young.txt"])
        try await time.setRules("- { rule: None, in: inbox, where: { extension: pdf }, do: { probe: {} } }")
        try await time.pass(90 * day)
        #expect(time.ran == ["perform week young.txt"])
        #expect(try await time.due().isEmpty)
    }

    @Test("Runs that became due while the agent was off are done once at its start")
    func restart() async throws {
        let script = Script()
        do {
            let time = try await TimeBench(folder.path, clock, script: script, rules: Self.old)
            try time.write("inbox/a.txt")
            try await time.bench.process("a.txt")
            await time.keeper.stop()
            try time.bench.ledger.close()
        }
        clock.advance(400 * day)
        for _ in 0..<3 {
            let time = try await TimeBench(folder.path, clock, script: script, rules: Self.old)
            try await time.wake()
            #expect(script.lines == ["perform old a.txt"])
            await time.keeper.stop()
            try time.bench.ledger.close()
        }
    }

    @Test("A clock change makes each rule run once", arguments: [1.0, 3_653.0], [true, false])
    func jumps(days: Double, isForwardFirst: Bool) async throws {
        let time = try await bench(
            "- { rule: Hour, in: inbox, where: { age: \"> 1h\" }, do: { probe: { name: hour } } }")
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        try await time.jump(isForwardFirst ? days * day : -days * day)
        #expect(time.ran.count == (isForwardFirst ? 1 : 0))
        try await time.jump(isForwardFirst ? -days * day : days * day)
        try await time.pass(2 * hour)
        #expect(time.ran == ["perform hour a.txt"])
        try await time.jump(days * day)
        try await time.jump(-days * day)
        #expect(time.ran == ["perform hour a.txt"])
    }

    @Test("A file that changes after it was due and before its turn is due again once it is old enough")
    func superseded() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        try await time.bench.runner.setPaused(true)
        try await time.pass(31 * day)
        try time.write("inbox/a.txt", "other")
        #expect(Bench.rules(try await time.bench.see("a.txt")) == [])
        time.bench.script.decide("old") { input in
            if input.file.hash == ContentHash(of: Array("x".utf8)) { throw Fault(.superseded, "has changed") }
        }
        try await time.bench.runner.setPaused(false)
        await time.bench.runner.idle()
        #expect(time.ran == [])
        try await time.wake()
        try await time.pass(31 * day)
        #expect(time.ran == ["perform old a.txt"])
    }

    @Test("A file made by the agent becomes due for other rules, and never for the one that made it")
    func ownProducts() async throws {
        let time = try await bench(
            """
            - { rule: Make, in: inbox, where: { age: "> 1h" }, do: { probe: { name: make } } }
            - { rule: Other, in: inbox, where: { age: "> 1d" }, do: { probe: { name: other } } }
            """)
        let bench = time.bench
        time.bench.script.perform("make") { intent, _ in
            let to = intent.file.parent.appending(name: Array("made.txt".utf8))
            guard rename(intent.file.text, to.text) == 0 else { throw Fault.system("rename", to) }
            let file = try Descriptor(to)
            // Young again, so that it becomes older than an hour a second time.
            try time.setModified("inbox/made.txt", time.clock.now)
            return Receipt(
                "made",
                effects: [
                    .moved(intent.file, to: to, try file.status().fingerprint, try ContentHash.of(file))
                ])
        }
        try time.write("inbox/a.txt")
        try await bench.process("a.txt")
        try await time.pass(2 * hour)
        #expect(time.ran == ["perform make a.txt"])
        try await time.pass(10 * day)
        #expect(time.ran == ["perform make a.txt", "perform other made.txt"])
    }

    @Test("While its place is away a file waits, and is processed when the place is back")
    func away() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        let (root, aside) = (time.bench.path("inbox"), time.bench.path("aside"))
        _ = try time.bench.journal.presence.look(at: time.bench.place())
        #expect(rename(root.text, aside.text) == 0)
        try await time.jump(31 * day)
        #expect(time.ran == [] && time.wantsJudged == [])
        #expect(try await time.due().map(\.path) == ["a.txt"])
        #expect(rename(aside.text, root.text) == 0)
        try await time.wake()
        #expect(time.ran == ["perform old a.txt"])
    }

    @Test("`then: stop` hides due files from later rules, just like arrivals")
    func stops() async throws {
        let time = try await bench(
            """
            - { rule: First, in: inbox, where: { extension: txt }, do: { probe: { name: first } }, then: stop }
            - { rule: Old, in: inbox, where: { age: "> 30d" }, do: { probe: { name: old } } }
            """)
        for name in ["a.txt", "b.pdf"] as [BytePath] {
            try time.write(BytePath("inbox").appending(name))
            try await time.bench.process(name)
        }
        #expect(try await time.due().map(\.path) == ["b.pdf"])
        try await time.pass(31 * day)
        #expect(time.ran == ["perform first a.txt", "perform old b.pdf"])
    }

    @Test(
        "Age is measured from where the rule says",
        arguments: [
            ("arrived", "a.txt", 1.0), ("name", "2026-11-23 scan.txt", 0.5), ("name", "scan_20261123.txt", 0.5),
            ("name", "2026-02-30 20261123 x.txt", 0.5), ("front-matter:due", "due.md", 0.25),
        ])
    func since(_ since: String, _ name: String, _ days: Double) async throws {
        let time = try await bench(
            """
            - { rule: Old, in: inbox, where: { age: { since: "\(since)", is: "> 1d" } }, do: { probe: { name: old } } }
            """)
        let path = BytePath(name)
        try time.write(BytePath("inbox").appending(path), "---\ndue: 2026-11-22 18:00\n---\nText\n", age: 90 * day)
        try await time.bench.process(path)
        try await time.pass(days * day - minute)
        #expect(time.ran == [])
        try await time.pass(2 * minute)
        #expect(time.ran == ["perform old \(name)"])
    }

    @Test("A picture's age can be measured from when it was taken")
    func taken() async throws {
        let inspector = KnownFindings(
            ContentFindings(values: ["photo.taken": .date(clock.now.adding(seconds: -0.5 * day))]))
        let time = try await TimeBench(
            folder.path, clock,
            rules:
                "- { rule: Old, in: inbox, where: { age: { since: taken, is: \"> 1d\" } }, do: { probe: { name: old } } }",
            inspector: inspector)
        try folder.write("inbox/a.jpg", [0xFF, 0xD8, 0xFF, 0xE0])
        try time.write("inbox/a.txt", age: 90 * day)
        for name in ["a.jpg", "a.txt"] as [BytePath] { try await time.bench.process(name) }
        try await time.pass(0.5 * day - minute)
        #expect(time.ran == [])
        try await time.pass(90 * day)
        #expect(time.ran == ["perform old a.jpg"])
    }

    @Test("A file without such a date never reaches that age")
    func noDate() async throws {
        let time = try await bench(
            "- { rule: Old, in: inbox, where: { age: { since: name, is: \"> 1d\" } }, do: { probe: { name: old } } }")
        for name in ["123456789.txt", "2026-13-01.txt", "x.txt"] as [BytePath] {
            try time.write(BytePath("inbox").appending(name), age: 900 * day)
            try await time.bench.process(name)
        }
        #expect(try await time.due().isEmpty)
        #expect(time.ran == [])
    }

    @Test("Rows of missing files and of present ones are handled once each")
    func many() async throws {
        let time = try await bench()
        let ledger = time.bench.ledger
        let identity = try #require(time.bench.planner.ruleSet.timedIdentities.first)
        let start = clock.now
        for number in 0..<20 {
            let name = BytePath("f\(number).txt")
            try time.write(BytePath("inbox").appending(name), age: Double(number) * day)
            try await time.bench.process(name)
        }
        try await ledger.write { transaction in
            for number in 0..<1_000 {
                try transaction.setDue("inbox", BytePath("gone\(number)"), [identity: start.adding(seconds: day)])
            }
        }
        try await time.pass(15.5 * day)
        #expect(Set(time.ran) == Set((15..<20).map { "perform old f\($0).txt" }))
        #expect(time.ran.count == 5)
        try await time.pass(30 * day)
        #expect(time.ran.count == 20)
        #expect(try await time.due().isEmpty)
    }
}
