import Platform
import TestSupport
import Testing

/// Counters and tables in the agent itself.
@Suite("Counters and tables, end to end", .ownThreads)
struct RuleValueTests {
    private static let rule = """
        - rule: Number
          in: drafts
          settle: 50ms
          values: people.csv
          do:
            - append-block:
                note: log
                text: "<{{ counter:papers | pad: 3 }} {{ file.stem }} {{ lookup:people.name[file.stem] | default: nobody }}>"
        """

    /// The numbers in the note, in order.
    private func numbers(_ steward: AgentFixture) throws -> [Int] {
        try steward.notes().matches(of: #/<(\d{3}) /#).compactMap { Int($0.output.1) }
    }

    private func fixture(mayBeKilled: Bool = false) throws -> AgentFixture {
        let steward = try mayBeKilled ? AgentFixture() : .inside()
        try steward.table("id,name\na,Ada\n")
        try steward.rule(Self.rule)
        return steward
    }

    @Test("However often the agent is killed, each file has one number, and no number is used twice")
    func killed() async throws {
        let steward = try fixture(mayBeKilled: true)
        var random = SeededGenerator(for: "Counters")
        for round in 0..<5 {
            try await steward.start()
            for file in 0..<6 { try steward.drop(BytePath("drafts/\(round)-\(file).md"), "x\n") }
            let wanted = Int.random(in: 1...5, using: &random) + round * 6
            try await steward.until("\(wanted) numbers") { try numbers(steward).count >= wanted }
            try await steward.kill9()
        }
        try await steward.start()
        try steward.wait()
        let given = try numbers(steward)
        #expect(given.count == 30)
        #expect(Set(given).count == 30)
        let next = try #require(try steward.json(["counters"]).items.first)
        #expect(next["name"].text == "papers")
        #expect(next["next"].number == Double((given.max() ?? 0) + 1))
    }

    @Test("`explain` shows the next number without using it; a changed table is reread automatically")
    func explained() async throws {
        let steward = try fixture()
        try await steward.start()
        try steward.drop("drafts/a.md", "x\n")
        try steward.wait()
        #expect(try steward.notes().contains("<001 a Ada>"))
        for _ in 0..<2 {
            let text = try steward.run(["explain", steward.path("drafts/a.md").text, "--event", "arrived"]).check()
                .output
            #expect(text.contains("002"), "\(text)")
        }
        try steward.table("id,name\na,Ada\nb,Grace\n")
        try await steward.until("the rules to be reloaded") { try steward.log().contains("rules reloaded") }
        try steward.drop("drafts/b.md", "x\n")
        try steward.wait()
        #expect(try steward.notes().contains("<002 b Grace>"))

        try steward.table("id,name\na,Ada\na,Grace\n")
        let check = try steward.run(["check"])
        #expect(check.status != 0)
        #expect((check.output + check.errors).contains("people.csv:3:1"))
    }

    @Test("Counters are set by the daemon or without one, and lowered only by force")
    func commands() async throws {
        let steward = try fixture()
        #expect(try steward.run(["counters"]).check().output == "no rule has drawn a number yet\n")
        try await steward.start()
        #expect(
            try steward.run(["counters", "set", "papers", "41"]).check().output == "the next number of papers is 41\n")
        try steward.drop("drafts/a.md", "x\n")
        try steward.wait()
        #expect(try steward.notes().contains("<041 a Ada>"))
        let refused = try steward.run(["counters", "set", "papers", "41"])
        #expect(refused.status == 64)
        #expect(refused.errors.contains("has used numbers up to 41"))
        #expect(try steward.run(["counters", "set", "a b", "1"]).status == 64)
        #expect(try steward.run(["counters", "set", "papers", "1", "--force"]).status == 0)
        try await steward.stop()
        #expect(try steward.run(["counters", "set", "papers", "7", "--force"]).status == 0)
        let line = try #require(try steward.json(["counters", "list"]).items.first)
        #expect(line["next"].number == 7)
        #expect(line["highest"].number == 41)
        #expect(try steward.run(["log"]).check().output.contains("papers was set from 1 to 7"))
    }
}

extension AgentFixture {
    fileprivate func table(_ text: String) throws {
        try home.write(".config/steward/rules.d/people.csv", text)
    }
}
