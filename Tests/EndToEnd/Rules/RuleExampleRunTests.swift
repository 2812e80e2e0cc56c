import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("steward rules test") struct RuleExampleRunTests {
    /// Empty if they cannot be listed; the library test below then fails.
    static let shippedFiles = (try? ShippedRules.files()) ?? []

    /// Comics, reviews and published files: their rules have no examples.
    private static let withoutExamples: Set<String> = [
        "20-comics.yaml", "21-comic-vault.yaml.example", "31-review.yaml", "40-publish.yaml.example",
    ]

    private let folder: TemporaryFolder
    private let steward: AgentFixture

    init() throws {
        folder = try TemporaryFolder("rules")
        steward = try AgentFixture()
    }

    private func test(_ yaml: String, status: Int32, _ more: [String] = []) throws -> Answer {
        let file = try folder.write("10-a.yaml", yaml)
        return try steward.json(["rules", "test", file.text] + more, status: status)
    }

    @Test("Passing examples are listed one by one, and nothing in the home is touched")
    func good() throws {
        try folder.write("page.html", "<p>")
        let report = try test(
            """
            - rule: Keep pages
              in: [web, mail]
              where: { extension: html }
              do:
                - tag: { add: [page] }
                - move: { place: kept, folder: "{{ file.place }}/{{ file.modified | date: %Y }}", exists: same }
              examples:
                - name: By year
                  file: { name: page.html, from: page.html, modified: 2024-05-01, tags: [old] }
                  expect: { moved-to: kept/web/2024/page.html, tags: [old, page], matches: true }
                - name: From the second place
                  file: { name: x.html, place: mail, content: "<b>", modified: "2025-05-01" }
                  expect: { moved-to: "kept/mail/*/x.html" }
                - name: The same again stays
                  file: { name: x.html, content: "<b>", modified: 2025-05-01 }
                  there: [{ place: kept, name: web/2025/x.html, content: "<b>" }]
                  expect: { stays: true }
                - file: { name: x.txt }
                  expect: { matches: false, stays: true }
            """, status: 0)
        #expect(
            report["results"].items.map { $0["example"].text } == [
                "By year", "From the second place", "The same again stays", "x.txt",
            ])
        #expect(report["results"].items.allSatisfy { $0["complaints"].items.isEmpty })
        #expect(report["results"].items.map { $0["line"].number } == [8, 11, 14, 18])
        #expect(try FileStatus.of(steward.home.path.appending(".local/state/steward")) == nil)
    }

    @Test("A failing one is reported with file, line and the file's actual location")
    func bad() throws {
        let report = try test(
            """
            - rule: Trash
              in: web
              where: { extension: old }
              do: [trash]
              examples:
                - file: { name: a.old, content: a }
                  expect: { moved-to: web/b.old }
                - file: { name: b.old, content: b }
                  expect: { matches: false }
                - file: { name: c.txt, content: c }
                  expect: { trashed: true }
                - file: { name: d.txt, content: d }
                  expect: { holds: { web/d.txt: e } }
            """, status: 2)
        let said = report["results"].items.map { $0["complaints"].items.map { $0["message"].text }.joined() }
        #expect(said[0].hasSuffix("it should be in web/b.old, but it is in the trash"))
        #expect(said[1].hasSuffix("the rule should not match it, but does"))
        #expect(said[2].hasSuffix("it should be in the trash, but did not move"))
        #expect(said[3].hasSuffix("web/d.txt should hold \"e\", and holds \"d\""))
        #expect(report["results"].items[0]["complaints"].items[0]["line"].number == 7)
        let text = try steward.run(["rules", "test", folder.path.appending("10-a.yaml").text])
        #expect(text.status == 2)
        #expect(text.output.contains("10-a.yaml:7:17: error: Trash: a.old:"))
        #expect(text.output.contains("4 examples: 0 as expected, 4 not, 0 not run"))
    }

    @Test("Changes, removals and renames are events as in the agent")
    func events() throws {
        let report = try test(
            """
            - rule: Changed
              in: web
              on: changed
              do: [{ tag: { add: [changed] } }]
              examples:
                - on: changed
                  before: { name: a, content: one }
                  file: { name: a, content: two }
                  expect: { tags: changed }
                - file: { name: a, content: two }
                  expect: { matches: false }
            - rule: Renamed
              in: web
              on: renamed
              do: [{ tag: { add: ["{{ file.oldName }}"] } }]
              examples:
                - on: renamed
                  before: { name: a, content: one }
                  file: { name: sub/b }
                  expect: { tags: a }
            - rule: Removed
              in: drafts
              on: removed
              do: [{ append-block: { note: gone, text: "{{ file.name }}" } }]
              examples:
                - on: removed
                  file: { name: a.md, content: one }
                  expect: { holds: { notes/gone.md: a.md } }
            """, status: 0)
        #expect(report["results"].items.count == 4)
    }

    @Test("Programs are run only on request")
    func programs() throws {
        let yaml = """
            - rule: Touch
              in: web
              do: [{ run: { command: [touch, made], in: file } }]
              examples:
                - file: { name: a, content: a }
                  expect: { holds: { web/made: "" } }
            """
        let careful = try test(yaml, status: 0)
        #expect(careful["results"].items[0]["skipped"].text.contains("--allow-programs"))
        let asked = try test(yaml, status: 0, ["--allow-programs"])
        #expect(asked["results"].items[0]["skipped"].value == .null)
    }

    @Test("A file that is invalid or unreadable ends with an error")
    func invalid() throws {
        let report = try test("- rule: A\n  in: web\n  do: [trahs]\n", status: 2)
        #expect(report["diagnostics"].items[0]["hint"].text.contains("trash"))
        #expect(try steward.run(["rules", "test", "/nonexistent.yaml"]).status == 1)
    }

    @Test("All shipped rules and examples do what their examples say", arguments: RuleExampleRunTests.shippedFiles)
    func shipped(_ name: String) throws {
        guard !Self.withoutExamples.contains(name) else { return }
        try #require(try ShippedRules.read(name).contains("\n  examples:"), "\(name) has no examples")
        let file = ShippedRules.folder.appending(BytePath(name))
        let result = try steward.run(["rules", "test", file.text])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test("The library has forty rules, each with an example, and references its schema")
    func library() throws {
        var rules = 0
        for name in try ShippedRules.files() {
            let text = try ShippedRules.read(name)
            #expect(text.hasPrefix("# yaml-language-server: $schema=/usr/share/steward/rules.schema.json\n"), "\(name)")
            guard name.hasSuffix(".example"), let number = Int(name.prefix(2)), number >= 60 else { continue }
            let found = text.split(separator: "\n- rule: ", omittingEmptySubsequences: false).dropFirst()
            rules += found.count
            #expect(found.allSatisfy { $0.contains("\n  examples:") }, "\(name)")
        }
        #expect(rules >= 40)
    }
}
