import Foundation
import Ledger
import Platform
import Rules
import TestSupport
import Testing

@Suite("Rules that were in force briefly")
struct RuleTermTests {
    private static let one =
        "- { rule: One, in: inbox, on: [arrived, changed], where: { name: \"*.txt\" }, do: { probe: {} } }\n"
    private static let two = "- { rule: Two, in: inbox, on: [arrived, changed], do: { probe: {} } }\n"

    private let folder: TemporaryFolder
    private let bench: Bench
    private let since = Timestamp.now()

    init() async throws {
        folder = try TemporaryFolder()
        bench = try Bench(folder.path, rules: Self.one)
        try await registerRuleSet()
    }

    private func registerRuleSet() async throws {
        let rules = bench.planner.ruleSet
        try await bench.ledger.write { try $0.registerRuleSet(rules.id, rules: rules.arrivalIdentities) }
    }

    private func planned() async throws -> [String] {
        try await bench.jobs().map { "\($0.rule) \($0.event) \($0.path)" }.sorted()
    }

    /// Puts both rules in force, and plans for files judged by the first alone; returns their paths.
    private func putBothInForce(_ since: Timestamp) async throws -> [BytePath] {
        let before = bench.planner.ruleSet
        try bench.setRules(Self.one + Self.two)
        try await registerRuleSet()
        let place = try bench.place()
        let files = try await bench.ledger.read { try $0.files("inbox", judgedBy: before.id, since: since) }
        for _ in 0..<2 {
            for file in files {
                _ = try await bench.planner.planMissed(file, in: place, under: PassingRules(before, since: since))
            }
        }
        for file in files { try await bench.see(file.path) }
        return files.map(\.path).sorted()
    }

    @Test("Files that came meanwhile arrive for rules that have not had them, and nothing is planned twice")
    func arrived() async throws {
        for name in ["a.txt", "b.bin"] as [BytePath] {
            try bench.write(BytePath("inbox").appending(name), name.text)
            try await bench.see(name)
        }
        #expect(try await planned() == ["One arrived a.txt"])
        #expect(try await putBothInForce(since) == ["a.txt", "b.bin"])
        #expect(try await planned() == ["One arrived a.txt", "Two arrived a.txt", "Two arrived b.bin"])
    }

    @Test("An edited rule does not run again on files it has had")
    func edited() async throws {
        try bench.write("inbox/a.txt", "a")
        try await bench.see("a.txt")
        let before = bench.planner.ruleSet
        try bench.setRules(Self.one.replacing("probe: {}", with: "probe: { name: other }") + Self.two)
        let place = try bench.place()
        for file in try await bench.ledger.read({ try $0.files("inbox", judgedBy: before.id, since: since) }) {
            _ = try await bench.planner.planMissed(file, in: place, under: PassingRules(before, since: since))
        }
        #expect(try await planned() == ["One arrived a.txt", "Two arrived a.txt"])
    }

    @Test("Known files changed meanwhile are changes for them, and unchanged ones are left alone")
    func changed() async throws {
        for name in ["a.txt", "b.txt"] as [BytePath] {
            try bench.write(BytePath("inbox").appending(name), name.text)
            try await bench.see(name)
        }
        let since = Timestamp.now()
        try bench.write("inbox/a.txt", "changed")
        try await bench.see("a.txt")
        #expect(try await putBothInForce(since) == ["a.txt"])
        #expect(
            try await planned() == [
                "One arrived a.txt", "One arrived b.txt", "One changed a.txt", "Two changed a.txt",
            ])
    }

    @Test("A judgement begun under the previous rules is not committed under the next ones")
    func inFlight() async throws {
        let script = Script()
        let other = try TemporaryFolder()
        let bench = try Bench(other.path, script, rules: "- { rule: One, in: notes, do: { probe: {} } }\n")
        try bench.write("notes/a.md", "text\n")
        script.onBlocks = {
            script.onBlocks = nil
            try? bench.setRules("- { rule: Two, in: notes, do: { probe: {} } }\n")
        }
        #expect(try await bench.see("a.md", in: "notes") == .again)
        #expect(Bench.rules(try await bench.see("a.md", in: "notes")) == ["Two"])
        #expect(try await bench.jobs().map(\.rule) == ["Two"])
    }
}
