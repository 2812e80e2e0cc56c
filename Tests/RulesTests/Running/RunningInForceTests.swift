import Foundation
import Ledger
import Platform
import Rules
import TestSupport
import Testing

/// A job's next step follows the rule files and the configuration at the time it runs. The ledger only says which step
/// of which rule it is.
@Suite("Steps follow the rules in force")
struct RunningInForceTests {
    let folder: TemporaryFolder
    let script = Script()

    init() throws { folder = try TemporaryFolder("in-force") }

    private static func rule(_ steps: String, more: String = "") -> String {
        "- { rule: R, in: inbox, do: [\(steps)]\(more) }"
    }

    private static let first = rule("{ probe: { name: a, text: \"one {{ file.name }}\" } }")

    private func bench(_ yaml: String) throws -> Bench { try Bench(folder.path, script, rules: yaml) }

    /// A waiting job, planned by a rule.
    private func wait(_ yaml: String) async throws -> Bench {
        let bench = try bench(yaml)
        try bench.write("inbox/x", "X")
        try await bench.see("x")
        return bench
    }

    /// Changes the ledger as anyone with a backup can.
    private func forge(_ sql: String) throws {
        let path = folder.path.appending("state/ledger.sqlite")
        let result = try runProgram(["sqlite3", path.text, sql], in: folder.path)
        guard result.status == 0 else { throw TestFailure(result.errors) }
    }

    /// Begins the next run, with these rules.
    private func next(_ yaml: String) async throws -> Bench {
        let bench = try bench(yaml)
        try await bench.runner.start()
        await bench.runner.idle()
        return bench
    }

    private func tryAgain(_ bench: Bench) async throws {
        try await bench.ledger.write { transaction in
            for var job in try transaction.jobs(in: [.parked]) {
                job.state = .ready
                try transaction.update(job)
            }
        }
        await bench.runner.submit(try await bench.jobs().map { ($0.id, $0.place, $0.path) })
        await bench.runner.idle()
    }

    @Test("Changes made to a waiting step by others are ignored: the rule's step runs")
    func forged() async throws {
        _ = try await wait(Self.first)
        try forge("UPDATE step SET arguments = replace(arguments, 'one', 'evil'), repeatSafe = 1")
        #expect(try await next(Self.first).onlyJob().state == .done)
        #expect(script.lines == ["perform a x one x"])
    }

    @Test("Another action in a waiting step, or a step its rule does not have, is parked")
    func forgedAction() async throws {
        for (sql, name) in [
            ("UPDATE step SET action = 'for-each'", "for-each"), ("UPDATE step SET arguments = '7 {}'", "probe"),
            ("UPDATE step SET arguments = '{}', number = 3", "probe"),
        ] {
            let (own, script) = (try TemporaryFolder("in-force"), Script())
            let before = try Bench(own.path, script, rules: Self.first)
            try before.write("inbox/x", "X")
            try await before.see("x")
            try await before.ledger.write { _ in }
            let path = own.path.appending("state/ledger.sqlite")
            let done = try runProgram(["sqlite3", path.text, sql], in: own.path)
            try #require(done.status == 0, "\(done.errors)")
            let after = try Bench(own.path, script, rules: Self.first)
            try await after.runner.start()
            await after.runner.idle()
            let job = try await after.onlyJob()
            #expect(job.state == .parked, "\(sql)")
            #expect(job.problem?.contains("has no step `\(name)` any more") == true, "\(job.problem ?? "")")
            #expect(script.lines.isEmpty)
        }
    }

    @Test("A step planned by an earlier version of steward is found in its rule")
    func earlierVersion() async throws {
        _ = try await wait(Self.rule("{ probe: { name: a } }, { probe: { name: b, text: two } }"))
        // In that version's format: the arguments alone.
        try forge("UPDATE step SET arguments = substr(arguments, instr(arguments, ' ') + 1)")
        let bench = try await next(Self.rule("{ probe: { name: a } }, { probe: { name: b, text: two } }"))
        #expect(try await bench.onlyJob().state == .done)
        #expect(script.lines == ["perform a x", "perform b x two"])
    }

    @Test("A changed rule is followed in its current form; values stay as read when the job was planned")
    func changed() async throws {
        _ = try await wait(Self.first)
        let bench = try await next(Self.rule("{ probe: { name: a, text: \"two {{ file.name }}\" } }"))
        #expect(try await bench.onlyJob().state == .done)
        #expect(script.lines == ["perform a x two x"])
    }

    @Test("A job whose rule is gone is parked with that reason, and continues when the rule is back")
    func gone() async throws {
        _ = try await wait(Self.first)
        let bench = try await next("- { rule: Other, in: inbox, do: probe }")
        let job = try #require(try await bench.jobs().first { $0.rule == "R" })
        #expect(job.state == .parked && job.problem?.contains("the rule \"R\" is in no rule file any more") == true)
        try bench.setRules(Self.first)
        try await tryAgain(bench)
        #expect(script.lines.filter { $0.contains("one") } == ["perform a x one x"])
    }

    @Test("A job is parked if the rule's next step is another one, or needs values that were not read")
    func anotherStep() async throws {
        let cases: [(String, String)] = [
            (Self.rule("{ probe: { name: a, text: \"{{ file.size }}\" } }"), "uses `file.size` now"),
            (
                Self.rule("{ for-each: { of: lines, do: [{ probe: { name: b } }] } }, { probe: { name: a } }"),
                "has no step `probe` any more"
            ),
        ]
        for (yaml, problem) in cases {
            let (own, script) = (try TemporaryFolder("in-force"), Script())
            let before = try Bench(own.path, script, rules: Self.first)
            try before.write("inbox/x", "X")
            try await before.see("x")
            let after = try Bench(own.path, script, rules: yaml)
            try await after.runner.start()
            await after.runner.idle()
            let job = try await after.onlyJob()
            #expect(job.state == .parked && job.problem?.contains(problem) == true, "\(job.problem ?? "")")
            #expect(script.lines.isEmpty)
        }
    }

    @Test("A waiting job's file is searched where its place is now, whatever the ledger says")
    func anotherPlace() async throws {
        _ = try await wait(Self.first)
        // In the format of earlier versions, with a folder chosen by somebody else.
        try forge("UPDATE job SET file = replace(file, '\"place\":', '\"root\":\"/tmp/evil\",\"place\":')")
        let bench = try await next(Self.first)
        #expect(try await bench.onlyJob().state == .done)
        #expect(script.lines == ["perform a x one x"])
    }

    @Test("A job whose place is no longer configured is parked with that reason")
    func placeGone() async throws {
        _ = try await wait(Self.first)
        try forge("UPDATE job SET file = replace(file, '\"inbox\"', '\"attic\"')")
        let bench = try await next(Self.first)
        let job = try await bench.onlyJob()
        #expect(job.state == .parked && job.problem?.contains("`attic` is no longer in the configuration") == true)
        #expect(script.lines.isEmpty)
    }

    @Test("A step can be undone even if its rule is gone")
    func undone() async throws {
        let bench = try await wait(Self.first)
        try await bench.runner.start()
        await bench.runner.idle()
        try bench.setRules("- { rule: Other, in: inbox, do: probe }")
        _ = try await bench.executor.undo(bench.onlyJob().id)
        #expect(script.lines.last == "undo a")
    }

    @Test("While the rules are unknown nothing is begun, and nothing waits for it")
    func unread() async throws {
        _ = try await wait(Self.first)
        let bench = try bench(Self.first)
        let rules = bench.planner.ruleSet
        bench.planner.ruleSet = .notYetRead
        try await bench.runner.start()
        await bench.runner.idle()
        #expect(try await bench.onlyJob().state == .ready)
        bench.planner.ruleSet = rules
        await bench.runner.rulesChanged()
        await bench.runner.idle()
        #expect(script.lines == ["perform a x one x"])
    }
}
