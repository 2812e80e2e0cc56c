import Platform
import TestSupport
import Testing

@Suite("Rules that feed themselves and each other", .ownThreads)
struct RuleCircleTests {
    @Test("A rule that writes into its own place runs once for a file, and `check` warns of it")
    func ownPlace() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Echo
              in: drafts
              on: [arrived, changed, renamed]
              settle: 100ms
              do:
                - copy: { folder: copies }
                - write-note: { place: drafts, name: "About {{ file.stem }}", text: "{{ file.name }}" }
                - rename: { name: "seen {{ file.name }}" }
            """)
        let check = try steward.run(["check"]).check().output
        #expect(
            check.contains("warning: `Echo` puts what `write-note` makes into `drafts`, a place that it watches itself")
        )
        try await steward.start()
        try steward.drop("drafts/a.txt", "text\n")
        try steward.wait()
        let expected = ["About a.md", "a.txt", "seen a.txt"]
        #expect(try steward.files("drafts").map(\.nameText).sorted() == expected)
        try await steward.stop()
        try await steward.start()
        try steward.wait()
        #expect(try steward.files("drafts").map(\.nameText).sorted() == expected, "nor after a restart")
        try steward.drop("drafts/b.txt", "another\n")
        try steward.wait()
        #expect(try steward.files("drafts").count == 6)
    }

    @Test("Rules in a cycle end after one round, and `check` warns of them")
    func circle() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: There
              in: drafts
              settle: 100ms
              do: [ { copy: { place: comics } } ]
            - rule: Back
              in: comics
              settle: 100ms
              do: [ { copy: { place: drafts } } ]
            """)
        let check = try steward.run(["check"]).check().output
        #expect(
            check.contains(
                "warning: rules feed each other in a circle: `There` (drafts → comics), `Back` (comics → drafts)"))
        #expect(try steward.json(["check"])["diagnostics"].items.count == 1)
        try await steward.start()
        try steward.drop("drafts/a.txt", "round and round\n")
        try steward.wait()
        #expect(try steward.files("drafts").map(\.nameText) == ["a (1).txt", "a.txt"])
        #expect(try steward.files("comics").map(\.nameText) == ["a.txt"])
        #expect(
            try steward.history().contains { $0["message"].text.contains("has run already on what this was made from") }
        )
    }

    @Test("`check` warns of a schedule that keeps adding to the place whose files it processes")
    func growingPlace() throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Daily
              in: drafts
              every: 1d
              do: [{ copy: { folder: "{{ arrived | date: %H%M }}" } }]
            - rule: Sort
              in: drafts
              every: 1d
              do: [{ move: { folder: sorted } }]
            - rule: Once
              in: drafts
              do: [{ copy: { folder: copies } }]
            """)
        let check = try steward.run(["check"]).check().output
        #expect(
            check.contains("warning: `Daily` puts what `copy` makes into `drafts`, a place that it watches itself"))
        #expect(try steward.json(["check"])["diagnostics"].items.count == 1)
    }

    @Test("Rules in a cycle end after one round even if time alone starts them")
    func withTime() async throws {
        let steward = try AgentFixture.inside()
        let age = "where: { age: { since: arrived, is: \"> 2s\" } }"
        try steward.rule(
            """
            - { rule: There, in: drafts, settle: 100ms, \(age), do: [{ copy: { place: comics } }] }
            - { rule: Back, in: comics, settle: 100ms, \(age), do: [{ copy: { place: drafts } }] }
            """)
        try await steward.start()
        try steward.drop("drafts/a.txt", "round and round\n")
        try await steward.until("it has come back, and is not taken again") {
            try steward.history().contains { $0["message"].text.contains("has run already on what this was made from") }
        }
        try steward.wait()
        #expect(try steward.files("drafts").map(\.nameText) == ["a (1).txt", "a.txt"])
        #expect(try steward.files("comics").map(\.nameText) == ["a.txt"])
    }

    @Test("A file that rules move in a cycle comes to rest after one round")
    func moves() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: There
              in: drafts
              settle: 100ms
              do: [ { move: { place: comics } } ]
            - rule: Back
              in: comics
              settle: 100ms
              do: [ { move: { place: drafts } } ]
            """)
        try await steward.start()
        try steward.drop("drafts/a.txt", "round and round\n")
        try steward.wait()
        #expect(try steward.files("drafts").map(\.nameText) == ["a.txt"])
        #expect(try steward.files("comics").isEmpty)
        #expect(try steward.json(["status"])["jobs"]["done"].number == 2)
    }
}
