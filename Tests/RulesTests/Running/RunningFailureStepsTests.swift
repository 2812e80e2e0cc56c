import Foundation
import Ledger
import Platform
import Rules
import TestSupport
import Testing

@Suite("Steps after unmet conditions or a failure")
struct RunningFailureStepsTests {
    let folder: TemporaryFolder
    let script = Script()

    init() throws { folder = try TemporaryFolder("failure-steps") }

    private func bench(_ yaml: String) throws -> Bench { try Bench(folder.path, script, rules: yaml) }

    private static let failing = """
        - rule: R
          in: inbox
          do: [{ probe: { name: a } }, { probe: { name: b } }]
          on-failure: [{ probe: { name: f, text: "{{ failure.step }}: {{ failure.message }} ({{ file.name }})" } }]
        """

    private func process(_ bench: Bench, _ name: String, _ text: String = "X") async throws {
        try bench.write(BytePath("inbox").appending(name), text)
        try await bench.process(BytePath(name))
    }

    @Test("`otherwise` steps run for files that do not meet the conditions, and for no others")
    func otherwise() async throws {
        let bench = try bench(
            """
            - rule: R
              in: inbox
              where: { extension: pdf }
              then: stop
              do: { probe: { name: pdf } }
              otherwise: { probe: { name: other } }
            - { rule: S, in: inbox, do: { probe: { name: next } } }
            """)
        try await process(bench, "a.pdf")
        try await process(bench, "b.txt")
        #expect(script.lines.sorted() == ["perform next b.txt", "perform other b.txt", "perform pdf a.pdf"])
        #expect(try await bench.jobs().map(\.rule) == ["R", "R, otherwise", "S"])
    }

    @Test("`otherwise` steps run once for a file, however often it is examined")
    func otherwiseOnce() async throws {
        let yaml = "- { rule: R, in: inbox, where: { size: 1 }, do: probe, otherwise: { probe: { name: o } } }"
        for _ in 0..<2 {
            let bench = try bench(yaml)
            try await bench.runner.start()
            if script.lines.isEmpty { try bench.write("inbox/x", "long") }
            try await bench.process("x")
        }
        #expect(script.lines == ["perform o x"])
    }

    @Test("A rule whose `otherwise` steps could never run, or could not know their block, is rejected")
    func otherwiseRefused() {
        let never = complaints("- { rule: R, in: comics, do: trash, otherwise: trash }\n")
        #expect(never.first?.contains("would never run: without `where` every file is meant") == true)
        let blocks = complaints(
            "- { rule: R, in: notes, on: changed, where: { anchor: x }, do: trash, otherwise: trash }\n")
        #expect(blocks.first?.contains("`anchor` asks for blocks") == true)
    }

    @Test("After a permanent failure the following steps get the reason; the failed job stays for a person")
    func failed() async throws {
        let bench = try bench(Self.failing)
        script.perform("b") { _, _ in throw Fault(.failed, "no ink") }
        try await process(bench, "x")
        #expect(script.lines == ["perform a x", "perform b x", "perform f x probe: no ink (x)"])
        let jobs = try await bench.jobs()
        #expect(jobs.map(\.rule) == ["R", "R, on failure"])
        #expect(jobs.map(\.state) == [.handled, .done], "nobody has to look")
        #expect(jobs.first?.problem == "no ink")
    }

    @Test("If the steps after a failure fail as well, both jobs wait for a person")
    func failedTwice() async throws {
        let bench = try bench(Self.failing)
        script.perform("b") { _, _ in throw Fault(.failed, "no ink") }
        script.perform("f") { _, _ in throw Fault(.failed, "no paper") }
        try await process(bench, "x")
        #expect(try await bench.jobs().map(\.state) == [.parked, .parked])
    }

    @Test("A file refused by a step stays in place for the following steps")
    func refused() async throws {
        let bench = try bench(Self.failing)
        script.decide("a") { _ in throw Fault(.refused, "not a comic") }
        try await process(bench, "x")
        #expect(script.lines == ["perform f x probe: not a comic (x)"])
        #expect(try await bench.jobs().map(\.state) == [.refused, .done])
        #expect(try bench.read("inbox/x") == "X")
    }

    @Test("Steps after a failure run once, however often the job is retried")
    func once() async throws {
        let bench = try bench(Self.failing)
        script.perform("b") { _, _ in throw Fault(.failed, "no ink") }
        try await process(bench, "x")
        let job = try #require(try await bench.jobs().first)
        try await bench.ledger.write { transaction in
            var again = job
            again.state = .ready
            try transaction.update(again)
        }
        await bench.runner.submit([(job.id, job.place, job.path)])
        await bench.runner.idle()
        #expect(script.lines.count { $0.contains("perform f") } == 1)
        #expect(try await bench.jobs().map(\.state) == [.parked, .done])
    }

    @Test("Nothing follows a transient failure, or a success")
    func noFailure() async throws {
        let bench = try bench(Self.failing)
        try await process(bench, "well")
        script.decide("a") { _ in throw Fault(.transient, "disk full") }
        try await process(bench, "later")
        #expect(!script.lines.contains { $0.contains("perform f") })
        #expect(try await bench.jobs().map(\.state) == [.done, .waiting])
    }

    @Test("If the next start finds the failure, the following steps run then")
    func afterCrash() async throws {
        let first = try bench(Self.failing)
        try first.write("inbox/x", "X")
        try await first.see("x")
        let job = try await first.onlyJob()
        let intent = Probe.Intent(name: "a", text: "", file: first.path("inbox/x"), hash: job.hash)
        let text = String(decoding: try JSONEncoder().encode(intent), as: UTF8.self)
        try await first.ledger.write { try $0.setIntent(try #require(try $0.steps(of: job.id).first), text) }
        script.recover("a") { _, _ in .unknown("cut off") }
        let second = try bench(Self.failing)
        try await second.runner.start()
        await second.runner.idle()
        #expect(script.lines.first == "recover a x")
        #expect(script.lines.last?.hasPrefix("perform f x probe: outcome unknown: cut off") == true)
        #expect(try await second.jobs().map(\.state) == [.handled, .done])
    }
}
