import ComicTestSupport
import OwnFiles
import Platform
import TestSupport
import Testing

/// The rules of `rules.d` as shipped.
@Suite("The shipped rules, end to end")
struct RuleShippedTests {
    private static let pixel: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8,
        6,
    ]

    private func fixture() throws -> AgentFixture {
        let steward = try AgentFixture()
        steward.variables["STEWARD_RULES"] = ShippedRules.folder.text
        return steward
    }

    @Test("They load without errors, with the places that `init` creates")
    func load() throws {
        let report = try fixture().json(["check"])
        #expect(report["diagnostics"].items.isEmpty)
        #expect(report["rules"].number ?? 0 >= 5)
    }

    @Test("Captures of every kind are stored, noted and trashed, and other files are quarantined")
    func captures() async throws {
        let steward = try fixture()
        try await steward.start()
        try steward.drop("dropbox/idea.md", "Swap the chapters.\n")
        try steward.drop("dropbox/link.url", "[InternetShortcut]\r\nURL=https://www.swift.org/\r\n")
        // A folder that has long been empty is a dot; a new one may still be filled.
        let dot = try steward.home.write("dot", "")
        try steward.shell(["touch", "-d", "5 minutes ago", dot.text]).check()
        try steward.shell(["mv", dot.text, steward.path("dropbox").text]).check()
        try steward.drop("dropbox/scan.md", "")
        try steward.moveIn("dropbox/photo.png", Self.pixel)
        try steward.moveIn("dropbox/broken.bin", [1, 2, 0xFF, 0])
        try steward.drop("dropbox/.directory", "not for rules")
        try steward.wait()
        #expect(try steward.read("dropbox/scan.md") == "")
        try steward.drop("dropbox/scan.md", "Filled later.\n")
        try steward.wait()
        for line in [
            "Swap the chapters. (note, now)", "https://www.swift.org/ (link, now)", "— (dot, now)",
            "photo.png (photo, now)", "Filled later. (note, now)",
        ] {
            #expect(try steward.count(line) == 1, "\(line)")
        }
        #expect(try steward.count("## Captures") == 1)
        #expect(try steward.files("dropbox").map(\.nameText) == [".directory"])
        #expect(try steward.count("(dot, now)") == 1)
        #expect(try steward.trash().count == 5)
        #expect(try steward.json(["quarantine"]).items.map { $0["path"].text } == ["broken.bin"])
    }

    @Test("A dropped folder is one capture, with one line in the note")
    func folder() async throws {
        let steward = try fixture()
        try await steward.start()
        try steward.drop("dropbox/Canal walk/words.txt", "Two herons\n")
        try steward.drop("dropbox/Canal walk/more.md", "and a nest\n")
        try steward.drop("dropbox/Canal walk/route.pdf", "%PDF-1.7")
        try steward.drop("dropbox/alone.txt", "by itself\n")
        try steward.wait()
        #expect(try steward.files("dropbox").isEmpty)
        let notes = try steward.notes()
        #expect(
            notes.split(separator: "Canal walk", omittingEmptySubsequences: false).count == 2, "one line for the folder"
        )
        #expect(notes.contains("by itself"))
        #expect(
            try steward.run(["dots", "show", "year"]).check().output.split(
                separator: "Two herons", omittingEmptySubsequences: false
            ).count == 2)
        #expect(try steward.run(["dots", "search", "herons nest canal"]).check().output.contains("Canal walk"))
    }

    @Test("Comics go into the library and are noted, drafts are tagged, blocks become tasks")
    func others() async throws {
        let steward = try fixture()
        try await steward.start()
        try steward.moveIn("comics/Saga 01.cbz", try packed([Packed(name: "1.png", bytes: picture(1))]))
        try steward.drop("comics/readme.txt", "no comic\n")
        try steward.drop("drafts/essay.md", "# On houses\n")
        try steward.drop("drafts/done.md", "---\nstatus: review\ntitle: Gardens\n---\n# On gardens\n")
        try steward.drop("notes/inbox.md", "# Inbox\n\n## Later\n\n^todo-0930\nWater the plants\n")
        try steward.wait()
        #expect(try steward.count("**Saga 1**, 1 pages: imported as Saga/Saga 01.cbz") == 1)
        #expect(try steward.count("imported as") == 1)
        #expect(try steward.exists("library/Saga/Saga 01.cbz"))
        #expect(try steward.files("comics").map(\.nameText) == ["readme.txt"])
        #expect(try tags(steward.path("drafts/essay.md")) == "draft")
        #expect(try tags(steward.path("drafts/done.md"))?.contains("review") == true)
        #expect(try steward.read("notes/todo.md").contains("- [ ] Water the plants (inbox, Later)"))
        #expect(try steward.count("- [ ] ") == 1)
        try steward.shell(["rm", steward.path("drafts/done.md").text]).check()
        try await steward.until("the removal is known") {
            try steward.history().contains { $0["path"].text == "done.md" && $0["message"].text.contains("removed") }
        }
        try steward.wait()
        let rules = Set(try steward.json(["rules"]).items.map { $0["rule"].text })
        let run = Set(try steward.history().filter { $0["kind"].text == "planned" }.map { $0["message"].text })
        for rule in rules.subtracting(["Take in captures", "Take in dots"]) {
            #expect(run.contains { $0.contains("\"\(rule)\"") }, "the rule \(rule) has run")
        }
        try steward.drop("drafts/essay.md", "# On houses\n\nMore.\n")
        try steward.wait()
        #expect(
            try steward.history().count {
                $0["kind"].text == "planned" && $0["path"].text == "essay.md" && $0["message"].text.contains("\"Tag")
            } == 1)
    }

    @Test("The example with more actions works unchanged once its places exist")
    func example() async throws {
        try #require(ShippedRules.files().contains("50-screenshots.yaml.example"))
        let steward = try AgentFixture(configuration: "run: { allow: true }")
        try steward.addPlace("pictures")
        try steward.addPlace("backup")
        try steward.rule("50-screenshots.yaml", try ShippedRules.read("50-screenshots.yaml.example"))
        #expect(try steward.run(["check"]).check().output.contains("2 rules in 1 files, 0 errors"))
        try await steward.start()
        try steward.moveIn("pictures/Screenshot 1.png", Self.pixel)
        try steward.drop("pictures/Screenshot.txt", "not an image\n")
        try steward.wait()
        #expect(try steward.past("pictures/Screenshot 1.png").map { $0["state"].text } == ["done"])
        let backup = try steward.files("backup").map(\.nameText)
        #expect(backup.count == 1)
        let pictures = try steward.files("pictures").map(\.nameText)
        #expect(Set(pictures) == Set(backup + ["Screenshot.txt"]))
        #expect(try steward.notes().contains("![Screenshot 1.png](<"))
    }

    private func tags(_ path: BytePath) throws -> String? {
        try ExtendedAttributes.value("user.xdg.tags", of: Descriptor(path)).map { String(decoding: $0, as: UTF8.self) }
    }
}
