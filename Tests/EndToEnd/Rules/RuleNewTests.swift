import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("steward rules new") struct RuleNewTests {
    private static let folder: BytePath = ".config/steward/rules.d"

    private func fixture() throws -> AgentFixture {
        let steward = try AgentFixture()
        try steward.addPlace("inbox")
        try steward.addPlace("archive")
        return steward
    }

    private func rules(_ steward: AgentFixture) throws -> [String] {
        try listDirectory(steward.home.path.appending(Self.folder)).map { String(decoding: $0.name, as: UTF8.self) }
            .sorted()
    }

    @Test("Asks, shows what the rule would select, and writes it after a yes, also over a pipe")
    func asking() throws {
        let steward = try fixture()
        try steward.drop("inbox/one.pdf", "%PDF-1.7")
        try steward.drop("inbox/two.PDF", "%PDF-1.7")
        try steward.drop("inbox/three.txt", "text")
        let answers = "inbox\npdf; < 10 MB\nmove archive/papers; tag paper\nKeep papers\ny\n"
        let result = try steward.shell([AgentFixture.binary, "rules", "new"], input: answers).check()
        #expect(result.errors.contains("Which place"))
        #expect(result.output.contains("Of the 3 files in inbox it would match 2: one.pdf, two.PDF."))
        #expect(try rules(steward) == ["60-keep-papers.yaml"])
        #expect(
            try steward.home.read(Self.folder.appending("60-keep-papers.yaml")) == """
                # yaml-language-server: $schema=/usr/share/steward/rules.schema.json

                - rule: Keep papers
                  in: inbox
                  where:
                    extension: pdf
                    size: "< 10 MB"
                  do:
                    - move: { place: archive, folder: papers }
                    - tag: { add: [paper] }

                """)
        #expect(try steward.run(["check"]).status == 0)
    }

    @Test("Writes nothing without a yes, or if the answers end early")
    func no() throws {
        let steward = try fixture()
        let declined = try steward.shell(
            [AgentFixture.binary, "rules", "new"], input: "inbox\n\ntrash\n\nn\n")
        #expect(declined.output.contains("Nothing was written."))
        #expect(try steward.shell([AgentFixture.binary, "rules", "new"], input: "inbox\n").status == 64)
        #expect(try rules(steward).isEmpty)
    }

    @Test("With options nothing is asked, and no file or rule name is ever reused")
    func options() throws {
        let steward = try fixture()
        let arguments = [
            "rules", "new", "--place", "inbox", "--where", "*draft*", "--do", "trash", "--name", "Drafts go", "--yes",
        ]
        let made = try steward.json(arguments)
        #expect(made["written"].isTrue)
        #expect(try rules(steward) == ["60-drafts-go.yaml"])
        let again = try steward.run(arguments)
        #expect(again.status == 2)
        #expect(again.errors.contains("there is a rule `Drafts go` already"))
        #expect(try rules(steward) == ["60-drafts-go.yaml"])
        try steward.run(["rules", "new", "--place", "inbox", "--do", "trash", "--name", "Drafts go!", "--yes"]).check()
        #expect(try rules(steward) == ["60-drafts-go.yaml", "61-drafts-go.yaml"])
    }

    @Test(
        "An answer without meaning gets suggestions",
        arguments: [
            (["--place", "inbx", "--do", "trash"], "did you mean `inbox`?"),
            (["--place", "~/Downloads", "--do", "trash"], "downloads: { kind: folder, path: ~/Downloads }"),
            (["--place", "inbox", "--do", "move nowhere/x"], "there is no place \"nowhere\""),
            (["--place", "inbox", "--do", "burn"], "does not describe a step"),
            (["--place", "inbox", "--do", "trash", "--where", "> much"], "neither a size"),
        ])
    func hints(_ arguments: [String], _ hint: String) throws {
        let steward = try fixture()
        let result = try steward.run(["rules", "new", "--yes"] + arguments)
        #expect(result.status == 64)
        #expect(result.errors.contains(hint), "\(result.errors)")
    }

    @Test("Errors that would reject a rule are reported before it is written")
    func invalid() throws {
        let steward = try fixture()
        let result = try steward.run(
            ["rules", "new", "--yes", "--place", "inbox", "--do", "rename {{ file.nmae }}", "--name", "R"])
        #expect(result.status == 2)
        #expect(result.errors.contains("did you mean `file.name`?"))
        #expect(try rules(steward).isEmpty)
    }
}
