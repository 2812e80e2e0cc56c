import Platform
import TestSupport
import Testing

@Suite("Trees, end to end", .ownThreads)
struct TreeTests {
    @Test("Two hundred trees of five levels extracted by tar are seen completely, each file once")
    func tar() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Tree
              in: drafts
              settle: 200ms
              do:
                - append-block: { note: trees, text: "<{{ file.path }}>" }
            """)
        let trees = (0..<200).map { "tree\($0)/a/b/c/d/leaf.txt" }
        for path in trees { try steward.home.write(BytePath("source/\(path)"), "leaf of \(path)\n") }
        let archive = steward.home.path.appending("trees.tar").text
        try steward.shell(["tar", "cf", archive, "-C", steward.home.path.appending("source").text, "."]).check()
        try await steward.start()
        try steward.shell(["tar", "xf", archive, "-C", steward.path("drafts").text]).check()
        try steward.wait()
        let notes = try steward.notes()
        let missing = trees.filter { !notes.contains("<\($0)>") }
        #expect(missing.isEmpty, "not seen: \(missing.prefix(5))")
        #expect(try steward.count("<") == 200)
        #expect(try steward.json(["status"])["files"].number == 201)
    }

    @Test("A tree that is moved in, renamed or copied is seen completely")
    func moved() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Tree
              in: drafts
              on: [arrived, renamed, removed]
              settle: 100ms
              do:
                - append-block: { note: trees, text: "<{{ event }} {{ file.path }}>" }
            """)
        for number in 0..<20 { try steward.home.write(BytePath("source/a/b/\(number)/leaf"), "\(number)\n") }
        try await steward.start()
        try steward.shell(["mv", steward.home.path.appending("source").text, steward.path("drafts/in").text]).check()
        try steward.wait()
        let (arrived, notes) = (try steward.count("<arrived in/a/b/"), try steward.read("notes/trees.md"))
        #expect(arrived == 20, "\(notes)")
        try steward.shell(["mv", steward.path("drafts/in").text, steward.path("drafts/new").text]).check()
        try steward.wait()
        #expect(try steward.count("<renamed new/a/b/") == 20)
        #expect(try steward.count("<") == 40)
        try steward.shell(["cp", "-r", steward.path("drafts/new").text, steward.path("drafts/copy").text]).check()
        try steward.wait()
        #expect(try steward.count("<arrived copy/a/b/") == 20)
        try steward.shell(["rm", "-r", steward.path("drafts/new").text]).check()
        try steward.wait()
        #expect(try steward.count("<removed new/a/b/") == 20)
        #expect(try steward.count("<") == 80)
    }
}
