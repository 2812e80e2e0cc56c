import ComicTestSupport
import Foundation
import Platform
import TestSupport
import Testing

/// Names and texts that try to be more than text in a note.
@Suite("Hostile Markdown", .ownThreads)
struct HostileMarkdownTests {
    private static let pixel: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8,
        6,
    ]

    @Test("No name forges a block, a tag or a remote picture through the shipped rules and examples")
    func shippedRules() async throws {
        let steward = try AgentFixture.inside(configuration: "run: { allow: true }")
        steward.variables["STEWARD_RULES"] =
            "\(ShippedRules.folder.text):\(steward.home.path.appending(".config/steward/rules.d").text)"
        try steward.addPlace("pictures")
        try steward.addPlace("backup")
        try steward.rule("50-screenshots.yaml", try ShippedRules.read("50-screenshots.yaml.example"))
        try await steward.start()
        let names = [
            "Screenshot shot\n\n^todo-0930\nForged.png", "Screenshot\n## Forged\n- [ ] forged.png",
            "Screenshot ](http:evil.example).png", "Screenshot <img src=x onerror=y>.png",
            "Screenshot ![x](http:e).png",
        ]
        for (number, name) in names.enumerated() {
            try steward.moveIn(BytePath("pictures").appending(name), Self.pixel + [UInt8(number)])
            // One per second: their new names contain the second.
            try steward.wait()
        }
        for (number, text) in [
            "<img src=http://e.example/x>\n", "![p](http://e.example/p.png)\n", "[x](javascript:alert(1))\n",
            "one\n\n^todo-0930\ntwo\n## three\n",
        ].enumerated() {
            try steward.drop(BytePath("dropbox/\(number).md"), text)
        }
        try steward.wait()
        try steward.wait()
        #expect(try steward.status().parked.map(\.problem) == [])
        let all = try steward.notes()
        #expect(try !steward.exists("notes/todo.md"), "\(all)")
        let notes = try steward.files("notes").filter { $0.nameText.hasSuffix(".md") }
        #expect(notes.count == names.count + 1)
        for note in notes {
            let text = try TemporaryFolder.text(note)
            let lines = text.split(separator: "\n").map(String.init)
            #expect(
                !lines.contains { $0.hasPrefix("^todo") || $0.hasPrefix("- [ ]") || $0.hasPrefix("## F") }, "\(text)")
            #expect(!text.contains(/(^|[^\\])<(img|script)/), "\(text)")
            #expect(!text.contains(/(^|[^\\])\]\((javascript|http:evil)/), "\(text)")
            #expect(!text.contains(/!\[[^\]\\]*\]\(http/), "\(text)")
        }
        let folder = steward.path("pictures/screenshots").text
        #expect(all.contains("![Screenshot shot \\^todo-0930 Forged.png](<\(folder)/"), "\(all)")
        #expect(all.contains("\\<img src=http://e.example/x\\> (note, now)"))
        try await steward.stop()
    }

    @Test("No title, series or name of a comic has an effect in the note that contains it")
    func comics() async throws {
        let steward = try AgentFixture.inside()
        steward.variables["STEWARD_RULES"] = ShippedRules.folder.text
        try await steward.start()
        let hostile = [
            "*loud* **louder** `code` [[link]] #tag", "<img src=http://e.example/x> <script>y()</script>",
            "[here](http://e.example/a) ![p](http://e.example/p.png)",
            "one&#10;&#10;^todo-0930&#10;## Forged&#10;- [ ] two",
        ]
        for (number, text) in hostile.enumerated() {
            let value = text.replacingOccurrences(of: "<", with: "&lt;")
            let information = "<ComicInfo><Series>\(value)</Series><Title>\(value)</Title></ComicInfo>"
            let comic = try packed([
                Packed(name: "1.png", bytes: picture(number)),
                Packed(name: "ComicInfo.xml", bytes: Array(information.utf8)),
            ])
            try steward.moveIn(BytePath("comics/\(number) *x* [l](http:e.example) <b>.cbz"), comic)
        }
        try steward.wait()
        #expect(try steward.files("library").count == hostile.count)
        let text = try steward.read(steward.today())
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count { $0.hasPrefix("^comic-") || $0.contains(" ^comic-") } == hostile.count, "\(text)")
        #expect(lines.allSatisfy { line in ["^todo", "## F", "- [ ]"].allSatisfy { !line.hasPrefix($0) } }, "\(text)")
        // Except for what the rule itself writes: two asterisks on each side of the title.
        for line in lines where line.contains(": imported as ") {
            #expect(line.contains(/^\W*\*\*.*\*\*, 1 pages/), "\(line)")
            let own = line.replacing("**", with: "", maxReplacements: 2)
            #expect(!own.contains(/(^|[^\\])[*`<\[]/), "\(line)")
        }
    }

    @Test("The body of a user's own note keeps its lines with `raw`, but its anchors do not count")
    func rawBody() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Tasks
              in: notes
              on: [arrived, changed]
              where: { anchor: todo }
              settle: 100ms
              do: [ { append-block: { note: list, anchor: task, text: "{{ block.text }}" } } ]
            - rule: Keep
              in: dropbox
              settle: 100ms
              do:
                - write-note:
                    place: notes
                    name: "{{ file.stem }}"
                    text: |
                      # {{ file.title }}

                      {{ file.text | raw }}
            """)
        try await steward.start()
        try steward.drop("dropbox/a.md", "One <b>line</b>.\n\n- and a list\n^todo-0930\nForged\n")
        try steward.wait()
        try steward.wait()
        #expect(
            try steward.read("notes/a.md")
                == "# One \\<b\\>line\\<\\/b\\>\\.\n\nOne <b>line</b>.\n\n- and a list\n\\^todo-0930\nForged\n")
        // A person's edit is judged: it has no anchor either.
        try steward.drop("notes/a.md", try steward.read("notes/a.md") + "More.\n")
        try steward.wait()
        #expect(try !steward.exists("notes/list.md"))
        try await steward.stop()
    }
}
