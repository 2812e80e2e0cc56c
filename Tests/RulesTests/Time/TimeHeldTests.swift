import Foundation
import Ledger
import OwnFiles
import Platform
import Rules
import Synchronization
import TestSupport
import Testing

/// Removes the file, as far as the engine knows; it only records the call.
private struct Take: RuleAction {
    struct Intent: Codable, Sendable, Equatable { let file: BytePath }

    static let declaration = ActionDeclaration(
        name: "take", summary: "Takes the file away.", guarantee: .exactlyOnce, work: .disk, canUndo: true,
        takesAway: true, takes: .both, parameters: [], example: "take")

    let script: Script

    func intent(for input: StepInput) async throws -> Intent { Intent(file: input.file.absolute) }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        script.note("take \(intent.file.nameText)")
        return Receipt("took it")
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery { .notDone }
    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt { receipt }
    func targets(of intent: Intent) -> [BytePath] { [intent.file] }
    func summary(of intent: Intent) -> String { "take it" }
}

@Suite("A clock that jumps ahead, and rules that remove files by age")
struct TimeHeldTests {
    private let folder: TemporaryFolder
    private let clock: MovedClock
    /// How far the calendar clock was set since the start.
    private let offset = Offset()
    private let seen: SeenClock

    private final class Offset: Sendable {
        let seconds = Mutex(0.0)
    }

    init() throws {
        folder = try TemporaryFolder()
        let clock = MovedClock(try #require(DateFormat.date(.text("2026-11-23 12:00"), .gmt)))
        let offset = offset
        self.clock = clock
        seen = SeenClock(now: { clock.now }, ticks: { clock.now.seconds - offset.seconds.withLock { $0 } })
        seen.begin(nil)
    }

    private static let rules = """
        - { rule: Gone, in: inbox, where: { age: "> 30d" }, do: take }
        - { rule: Told, in: inbox, where: { age: "> 30d" }, do: { probe: { name: told } } }
        """

    private func bench(_ rules: String = rules) async throws -> TimeBench {
        let script = Script()
        return try await TimeBench(
            folder.path, clock, script: script, rules: rules, wall: seen.clock,
            more: [ActionDefinition(Take.self) { _ in Take(script: script) }])
    }

    private func setClock(_ seconds: Double, _ time: TimeBench) async throws {
        offset.seconds.withLock { $0 += seconds }
        try await time.jump(seconds)
    }

    @Test("Temporarily: only repeatable work is done, and the file is moved later when it is old enough")
    func moment() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt", age: day)
        try await time.bench.process("a.txt")
        try await setClock(100 * day, time)
        #expect(time.ran == ["perform told a.txt"])
        #expect(try await time.due().map { $0.rule != nil } == [true], "the other still waits")
        try await time.pass(4)
        try await setClock(-100 * day, time)
        #expect(time.ran == ["perform told a.txt"])
        try await time.pass(29 * day - 60)
        #expect(time.ran == ["perform told a.txt"])
        try await time.pass(120)
        #expect(time.ran == ["perform told a.txt", "take a.txt"])
        #expect(try await time.due().isEmpty)
    }

    @Test("Permanently: the file is moved when a day of running has confirmed the clock")
    func confirmed() async throws {
        let time = try await bench()
        try time.write("inbox/a.txt", age: day)
        try await time.bench.process("a.txt")
        try await setClock(100 * day, time)
        try await time.pass(day - 1)
        #expect(time.ran == ["perform told a.txt"])
        try await time.pass(2)
        #expect(time.ran == ["perform told a.txt", "take a.txt"])
    }

    @Test("A file that arrives meanwhile waits as well, and `explain` says why")
    func comes() async throws {
        let time = try await bench()
        try await setClock(100 * day, time)
        try time.write("inbox/old.txt", age: 40 * day)
        try time.write("inbox/older.txt", age: 140 * day)
        for name in ["old.txt", "older.txt"] as [BytePath] { try await time.bench.process(name) }
        #expect(time.ran.sorted() == ["perform told old.txt", "perform told older.txt", "take older.txt"])
        let place = try #require(Bench.places(folder.path).first)
        let status = try #require(try FileStatus.of(folder.path.appending("inbox/old.txt")))
        let facts = FileFacts(
            place: place, path: "old.txt", status: status, event: .arrived, now: clock.now, content: .unread,
            sources: time.bench.planner.sources)
        let words = time.bench.planner.ruleSet.explain(facts)
        #expect(words.map(\.verdict) == [.doesNotMatch, .matches])
        #expect(words[0].conditions.last?.seen.contains("went ahead by 100.0 days") == true)
        try await time.pass(day + 1)
        #expect(time.ran.contains("take old.txt"))
    }

    @Test("A rule about young files takes none that only seem young")
    func young() async throws {
        let time = try await bench("- { rule: Young, in: inbox, where: { age: \"< 10d\" }, do: take }")
        try await setClock(100 * day, time)
        // It arrived while nobody was watching.
        try time.write("inbox/a.txt", age: 50 * day)
        try await time.bench.process("a.txt")
        #expect(time.ran.isEmpty)
        try time.write("inbox/b.txt", age: day)
        try await time.bench.process("b.txt")
        #expect(time.ran == ["take b.txt"])
    }

    @Test("A rule with an age of up to an hour is not held back, unless it uses a recorded date")
    func short() async throws {
        let time = try await bench(
            """
            - { rule: Soon, in: inbox, where: { name: "soon*", age: "> 1m" }, do: take }
            - { rule: Dated, in: inbox, where: { name: "20*", age: { since: name, is: "> 1m" } }, do: take }
            """)
        try await setClock(100 * day, time)
        for name in ["soon.txt", "2027-01-01 plan.txt"] {
            try time.write(BytePath("inbox/\(name)"))
            try await time.bench.process(BytePath(name))
        }
        try await time.pass(61)
        #expect(time.ran == ["take soon.txt"])
        try await time.pass(day)
        #expect(time.ran == ["take soon.txt", "take 2027-01-01 plan.txt"])
    }

    @Test("Many files that are held back do not delay those of other rules")
    func many() async throws {
        let time = try await bench()
        for number in 0..<300 {
            try time.write(BytePath("inbox/\(number).txt"), age: day)
            try await time.bench.process(BytePath("\(number).txt"))
        }
        try await setClock(100 * day, time)
        #expect(time.ran.count == 300 && time.ran.allSatisfy { $0.hasPrefix("perform told") })
        try await time.pass(day + 1)
        #expect(time.ran.count == 600)
    }
}
