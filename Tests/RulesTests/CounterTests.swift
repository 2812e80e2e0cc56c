import Foundation
import Ledger
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import Rules

/// Numbers that never repeat, over a real ledger.
@Suite("Counters") struct CounterTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func rules(_ texts: String...) -> String {
        "- rule: Count\n  in: inbox\n  existing: process\n  do:\n"
            + texts.map { "    - probe: { name: p, text: \"\($0)\" }\n" }.joined()
    }

    private static let four = "{{ counter:invoices | pad: 4 }}"

    private func next(_ bench: Bench, _ name: String = "invoices") async throws -> Int64 {
        try await bench.ledger.read { try $0.nextNumber(of: name) }
    }

    @Test("Each job has its own number, and all its steps see the same one")
    func oneForEach() async throws {
        let bench = try Bench(folder.path, rules: rules(Self.four, "again \(Self.four) {{ counter:invoices }}"))
        for name in ["a", "b"] {
            try bench.write(BytePath("inbox/\(name)"), name)
            try await bench.process(BytePath(name))
        }
        #expect(
            bench.script.lines == [
                "perform p a 0001", "perform p a again 0001 1", "perform p b 0002", "perform p b again 0002 2",
            ])
        #expect(try await next(bench) == 3)
    }

    @Test("Judging a file again draws no number; reprocessing on request gets a new one")
    func judgedAgain() async throws {
        let bench = try Bench(folder.path, rules: rules(Self.four))
        try bench.write("inbox/a", "a")
        try await bench.process("a")
        try await bench.process("a")
        #expect(try await next(bench) == 2)
        let record = try #require(try await bench.ledger.read { try $0.file("inbox", "a") })
        let jobs = try await bench.planner.plan(record, in: try bench.place(), rules: nil, again: true)
        #expect(jobs.count == 1)
        #expect(try await next(bench) == 3)
        #expect(try await bench.planner.plan(record, in: try bench.place(), rules: nil, again: false).isEmpty)
        #expect(try await next(bench) == 3, "a job that is there already draws nothing")
    }

    @Test("A retried step has the same number, even after a restart")
    func triedAgain() async throws {
        let yaml = rules(Self.four)
        let first = try Bench(folder.path, rules: yaml)
        first.script.perform("p") { _, _ in throw Fault(.failed, "broken") }
        try first.write("inbox/a", "a")
        try await first.process("a")
        #expect(try await first.onlyJob().state == .parked)
        try first.ledger.close()

        let second = try Bench(folder.path, rules: yaml)
        try second.write("inbox/b", "b")
        try await second.process("b")
        let parked = try #require(try await second.jobs().first { $0.state == .parked })
        try await second.ledger.write { transaction in
            var ready = parked
            ready.state = .ready
            try transaction.update(ready)
        }
        await second.runner.submit([(parked.id, parked.place, parked.path)])
        await second.runner.idle()
        #expect(second.script.lines.filter { $0.hasPrefix("perform") } == ["perform p b 0002", "perform p a 0001"])
        #expect(try await next(second) == 3)
    }

    @Test("A number whose job is not committed is used for the next one")
    func takenBack() async throws {
        let bench = try Bench(folder.path, rules: rules(Self.four))
        _ = try? await bench.ledger.write { transaction in
            #expect(try transaction.draw("invoices", for: "x") == 1)
            throw Fault(.failed, "cut off")
        }
        #expect(try await next(bench) == 1)
    }

    @Test("Undo returns no number")
    func undone() async throws {
        let bench = try Bench(folder.path, rules: rules(Self.four))
        try bench.write("inbox/a", "a")
        try await bench.process("a")
        _ = try await bench.executor.undo(try await bench.onlyJob().id)
        #expect(try await next(bench) == 2)
    }

    @Test("A file renamed before it was processed keeps its number")
    func renamed() async throws {
        let yaml = "- { rule: R, in: inbox, do: { probe: { name: take, text: \"{{ counter:invoices }}\" } } }"
        let bench = try Bench(folder.path, rules: yaml)
        bench.script.perform("take") { intent, _ in
            guard try FileStatus.of(intent.file) != nil else { throw Fault(.superseded, "is gone") }
            return Receipt("took it")
        }
        try await bench.runner.setPaused(true)
        try bench.write("inbox/a", "a")
        try await bench.process("a")
        #expect(try Durable.renameNew(bench.path("inbox/a"), to: bench.path("inbox/b")))
        await bench.submit(try await bench.see("b"))
        try await bench.runner.setPaused(false)
        await bench.runner.idle()
        try await bench.process("b")
        #expect(bench.script.lines == ["perform take a 1", "perform take b 1"])
        #expect(try await next(bench) == 2)
    }

    @Test("A counter with a period restarts in each, by day of arrival in the agent's time zone")
    func periods() async throws {
        let bench = try Bench(folder.path, rules: rules("{{ counter:invoices@%Y }}-{{ counter:invoices }}"))
        try bench.write("inbox/a", "a")
        try await bench.process("a")
        let arrived = try await bench.onlyJob().arrived
        let year = DateFormat("%Y", timeZone: .gmt).string(arrived)
        #expect(try await next(bench, "invoices@\(year)") == 2)
        #expect(try await next(bench) == 2, "another counter of the same name")
        #expect(bench.script.lines == ["perform p a 1-1"])
        let name = try #require(CounterName(value: "counter:invoices@%Y-%m"))
        let midnight = Timestamp(seconds: 1_798_758_000)
        let berlin = try #require(Zone(identifier: "Europe/Berlin"))
        #expect(name.counter(arrival: midnight, timeZone: .gmt) == "invoices@2026-12")
        #expect(name.counter(arrival: midnight, timeZone: berlin) == "invoices@2027-01")
    }

    @Test("The next number is shown without drawing it")
    func preview() async throws {
        let bench = try Bench(folder.path, rules: rules(Self.four))
        let rule = try #require(bench.planner.ruleSet.rules.first)
        for _ in 0..<3 {
            let values = try await PlannedValues.preview(of: rule, arrival: .now(), bench.ledger)
            #expect(values == ["counter:invoices": .integer(1)])
        }
        #expect(try await PlannedValues.preview(of: rule, arrival: .now(), nil) == ["counter:invoices": .integer(1)])
        #expect(try await next(bench) == 1)
    }

    @Test("Of many files judged concurrently each has its own number")
    func manyAtOnce() async throws {
        let bench = try Bench(folder.path, rules: rules("{{ counter:invoices }}"))
        for number in 0..<60 { try bench.write(BytePath("inbox/\(number)"), "\(number)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask { await bench.submit(try await bench.see(BytePath("\(number)"))) }
            }
            try await group.waitForAll()
        }
        await bench.runner.idle()
        let given = bench.script.lines.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        #expect(given.sorted() == Array(1...60))
    }

    @Test("A job keeps the looked-up values from when it was planned")
    func lookupsStay() async throws {
        let bench = try Bench(
            folder.path,
            rules: "- rule: Look\n  in: inbox\n  values: people.csv\n  do:\n"
                + "    - probe: { name: p, text: \"{{ lookup:people.mail[file.stem] | default: nobody }}\" }\n")
        var rule = try #require(bench.planner.ruleSet.rules.first)
        rule.tables = [
            "people": try LookupTable(Array("id,mail\na,ada@example.org {{ rule }}\n".utf8), isTabbed: false)
        ]
        bench.planner.ruleSet = RuleSet([rule])
        for name in ["a", "b"] { try bench.write(BytePath("inbox/\(name)"), name) }
        let (a, b) = (try await bench.see("a"), try await bench.see("b"))
        rule.tables = [:]
        bench.planner.ruleSet = RuleSet([rule])
        await bench.submit(a)
        await bench.runner.idle()
        await bench.submit(b)
        await bench.runner.idle()
        #expect(bench.script.lines == ["perform p a ada@example.org {{ rule }}", "perform p b nobody"])
    }
}
