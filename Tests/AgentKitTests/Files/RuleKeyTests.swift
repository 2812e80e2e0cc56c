import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Rule keys besides `in`, `where` and `do`", .ownThreads)
struct RuleKeyTests {
    @Test("`then: stop` hides the file from later rules, and `explain` says so")
    func stop() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: First
              in: drafts
              where: { extension: md }
              settle: 100ms
              do: [ { append-block: { note: log, text: "<first {{ file.name }}>" } } ]
              then: stop
            - rule: Second
              in: drafts
              settle: 100ms
              do: [ { append-block: { note: log, text: "<second {{ file.name }}>" } } ]
            """)
        try await steward.start()
        try steward.drop("drafts/a.md", "x\n")
        try steward.drop("drafts/a.txt", "x\n")
        try steward.wait()
        #expect(try steward.count("<first a.md>") == 1)
        #expect(try steward.count("<second a.txt>") == 1)
        #expect(try steward.count("<") == 2)
        let explanation = try steward.run(["explain", steward.path("drafts/a.md").text]).check().output
        #expect(explanation.contains("Second: stopped (stopped by `First`)"))
    }

    @Test("`refused: leave` leaves a file in its place, which counts as seen")
    func leave() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule("- rule: R\n  in: dropbox\n  settle: 100ms\n  do: index-capture\n  refused: leave\n")
        try await steward.start()
        try steward.moveIn("dropbox/broken.bin", [1, 2, 0xFF, 0])
        try steward.wait()
        #expect(try steward.exists("dropbox/broken.bin"))
        #expect(try steward.json(["quarantine"]).items.isEmpty)
        let past = try #require(try steward.past("dropbox/broken.bin").first)
        #expect(past["state"].text == "refused")
        #expect(past["problem"].text.contains("is not a capture"))
        try await steward.stop()
        try await steward.start()
        try steward.wait()
        #expect(try steward.past("dropbox/broken.bin").count == 1)
    }

    @Test("Values from one step are used by the next; a file still being written is left alone")
    func values() async throws {
        let steward = try AgentFixture.inside()
        try steward.addPlace("out")
        try steward.rule(
            """
            - rule: R
              in: drafts
              settle: 100ms
              do:
                - move: { place: out, folder: "{{ file.modified | date: \\"%Y\\" }}", name: "{{ file.title | slug }}.md" }
                - append-block: { note: log, text: "<{{ target.path }} {{ file.size }}>" }
            """)
        try await steward.start()
        let file = try Descriptor(steward.path("drafts/a.md"), O_WRONLY | O_CREAT, mode: 0o644)
        try file.write(Array("# A title".utf8), at: 0)
        try await steward.until("the agent has seen that somebody writes there") {
            try steward.json(["status"])["settling"].items.contains {
                $0["waitingFor"].text == "its writer to close it"
            }
        }
        try file.write(Array("/of mine\n".utf8), at: 9)
        #expect(try steward.exists("drafts/a.md"))
        _ = consume file
        try steward.wait()
        let made = try steward.files("out")
        #expect(made.map(\.nameText) == ["a-title-of-mine.md"])
        #expect(try steward.count("a-title-of-mine.md 18>") == 1)
        #expect(try steward.files("drafts").isEmpty)
    }
}
