import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("steward rules try") struct RuleTryTests {
    private static let rules = """
        - rule: Sort reports
          in: inbox
          where: { extension: txt }
          do:
            - rename: { name: "{{ file.stem | slug }}.txt" }
            - move: { place: archive, folder: reports }
            - append-block: { text: "kept {{ target.name }}" }
        - rule: Leavings go
          in: inbox
          where: { name: "*.bak" }
          do: [trash]
        - rule: Mark what is kept
          in: archive
          do:
            - tag: { add: [kept] }
        """

    private func fixture() throws -> AgentFixture {
        let steward = try AgentFixture()
        try steward.addPlace("inbox")
        try steward.addPlace("archive")
        try steward.rule(Self.rules)
        return steward
    }

    /// All names and contents below the home, to detect any change.
    private func state(_ steward: AgentFixture) throws -> String {
        try steward.shell(["/bin/sh", "-c", "cd \"$HOME\" && find . -type f -exec sha256sum {} + | sort"]).check()
            .output
    }

    @Test(
        "Neither a sparse file nor one beyond its place's limit is read to its end", .timeLimit(.minutes(1)))
    func holes() throws {
        let steward = try fixture()
        for (name, size) in [("huge.txt", Int64(1) << 40), ("large.txt", 40 << 30)] {
            let file = try steward.drop(BytePath("inbox/\(name)"), "x")
            try Descriptor(file, O_RDWR).truncate(to: size)
        }
        let trial = try steward.json(["rules", "try", steward.path("inbox").text])
        let files = trial["files"].items
        #expect(files.map { $0["rules"].items.count } == [0, 2])
        #expect(files[0]["notTaken"].items.map(\.text).joined().contains("1099511627776 bytes"))
        #expect(files[1]["after"].items.map(\.text) == ["archive/reports/large.txt"])
    }

    @Test("Counters advance from file to file, and tables are consulted; no number is used up")
    func plannedValues() async throws {
        let steward = try AgentFixture()
        try steward.addPlace("inbox")
        try steward.home.write(".config/steward/rules.d/customers.csv", "id,name\nA1,Anna\nB2,Bert\n")
        try steward.rule(
            """
            - rule: Number
              in: inbox
              where: { name: "[AB][0-9].txt", name-like: "{id}.txt" }
              values: customers.csv
              do: { rename: { name: "{{ counter:letters | pad: 3 }} {{ lookup:customers.name[match.id] }}.txt" } }
            """)
        try await steward.start()
        try steward.moveIn("inbox/A1.txt", Array("one".utf8))
        try steward.wait()
        try await steward.stop()
        #expect(try steward.files("inbox").map(\.nameText) == ["001 Anna.txt"])
        for name in ["A1", "B2"] { try steward.drop(BytePath("inbox/\(name).txt"), "new \(name)") }
        for _ in 0..<2 {
            let trial = try steward.json(["rules", "try", steward.path("inbox").text, "--rule", "Number"])
            let after = trial["files"].items.flatMap { $0["after"].items.map(\.text) }
            #expect(Set(after).isSuperset(of: ["inbox/002 Anna.txt", "inbox/003 Bert.txt"]))
        }
    }

    @Test("Shows a folder before and after, follows files from place to place, and changes nothing")
    func folder() throws {
        let steward = try fixture()
        try steward.drop("inbox/My Report.txt", "one")
        try steward.drop("inbox/sub/other.txt", "two")
        try steward.drop("inbox/old.bak", "three")
        try steward.drop("inbox/picture.png", "four")
        let before = try state(steward)
        let trial = try steward.json(["rules", "try", steward.path("inbox").text])
        #expect(try state(steward) == before)
        #expect(
            trial["before"].items.map(\.text) == [
                "inbox/", "├── sub/", "│   └── other.txt", "├── My Report.txt", "├── old.bak", "└── picture.png",
            ])
        #expect(
            trial["files"].items.map { $0["after"].items.map(\.text) } == [
                ["archive/reports/my-report.txt"], ["trash"], ["inbox/picture.png"], ["archive/reports/other.txt"],
            ])
        #expect(trial["notes"].items.allSatisfy { $0["text"].text.contains("kept ") })
        #expect(trial["notes"].items.count == 2)
        let rules = trial["files"].items[0]["rules"].items.map { $0["rule"].text }
        #expect(rules == ["Sort reports", "Mark what is kept"])
        let text = try steward.run(["rules", "try", steward.path("inbox").text]).check().output
        #expect(text.contains("└── picture.png"))
        #expect(text.contains("my-report.txt  ← inbox/My Report.txt"))
        #expect(text.contains("3 of 4 files would match. Nothing has been done."))
    }

    @Test("Two files that want one name get different ones, and existing names are respected")
    func collisions() throws {
        let steward = try fixture()
        try steward.drop("archive/reports/a-b.txt", "zero")
        try steward.drop("inbox/A B.txt", "one")
        try steward.drop("inbox/a b.txt", "two")
        let trial = try steward.json(["rules", "try", steward.path("inbox").text])
        #expect(
            trial["files"].items.map { $0["after"].items.map(\.text) } == [
                ["archive/reports/a-b (1).txt"], ["archive/reports/a-b (2).txt"],
            ])
        #expect(trial["files"].items[0]["rules"].items[0]["warnings"].items[0].text.contains("becomes a-b (1).txt"))
    }

    @Test("Files outside all places are treated as files of the given place")
    func outside() throws {
        let steward = try fixture()
        let folder = try TemporaryFolder("examples")
        try folder.write("x/One.txt", "one")
        let refused = try steward.run(["rules", "try", folder.path.text])
        #expect(refused.status == 64)
        #expect(refused.errors.contains("--in"))
        let trial = try steward.json(["rules", "try", folder.path.text, "--in", "inbox"])
        #expect(trial["files"].items.map { $0["after"].items.map(\.text) } == [["archive/reports/one.txt"]])
        #expect(trial["files"].items[0]["path"].text == "x/One.txt")
    }

    @Test("For a single rule it says why a file is not selected, and rules of another folder can be tried")
    func why() throws {
        let steward = try fixture()
        try steward.drop("inbox/picture.png", "four")
        let text = try steward.run(
            ["rules", "try", steward.path("inbox/picture.png").text, "--rule", "Sort reports"]
        ).check().output
        #expect(text.contains("no rule matches it"))
        #expect(text.contains("✗ extension: txt  (png)"))
        let other = try TemporaryFolder("rules")
        try other.write("10-a.yaml", "- rule: Other\n  in: inbox\n  do: [trash]\n")
        let trial = try steward.json(
            ["rules", "try", steward.path("inbox/picture.png").text, "--rules", other.path.text])
        #expect(trial["files"].items[0]["after"].items.map(\.text) == ["trash"])
        let unknown = try steward.run(["rules", "try", steward.path("inbox").text, "--rule", "Sort reprots"])
        #expect(unknown.status == 64)
        #expect(unknown.errors.contains("did you mean `Sort reports`?"))
    }
}
