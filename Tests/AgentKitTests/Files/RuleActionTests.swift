import ComicTestSupport
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Actions, end to end", .ownThreads)
struct RuleActionTests {
    /// One rule per action, applied to the file named after the action.
    static let steps: [String: String] = [
        "append-block": "append-block: { note: log, heading: Log, anchor: log, text: \"block of {{ file.name }}\" }",
        "write-note":
            "write-note: { place: out, folder: written, name: \"{{ file.stem | slug }}\", text: \"# {{ file.title }}\\n\" }",
        "import-comic": "import-comic: { place: out, folder: \"imported/{{ comic.pages }}\" }",
        "index-capture": "index-capture",
        "move": "move: { place: out, folder: moved }",
        "copy": "copy: { place: out, folder: copied, name: \"copy of {{ file.name }}\" }",
        "link": "link: { place: out, folder: linked }",
        "set": "set: { mode: \"0600\" }",
        "write-attributes": "write-attributes: { set: { user.seen: \"{{ file.kind }}\" } }",
        "delete": "delete",
        "convert":
            "convert: { command: [cp, \"{{ convert.input }}\", \"{{ convert.output }}\"], to: txt, place: out, folder: converted }",
        "notify": "notify: { title: \"{{ file.name }} has come\" }",
        "pack": "pack: { place: out, folder: packed }",
        "unpack": "unpack: { place: out, folder: unpacked }",
        "review": "review: { advisors: [technical_writer] }",
        "rename": "rename: { name: \"renamed {{ file.name }}\" }",
        "trash": "trash",
        "tag": "tag: { add: [seen, \"{{ file.kind }}\"] }",
        "publish": "publish: { to: nobody, event: tried }",
        "confirm": "confirm: { text: \"Do it to {{ file.name }}?\" }",
        "for-each":
            "for-each: { of: lines, do: { write-note: { place: out, folder: lines, name: \"{{ line | slug }}\", text: \"{{ line.number }}\" } } }",
        "set-metadata": "set-metadata: { artist: \"{{ file.stem }}\" }",
        "convert-picture": "convert-picture: { to: png, place: out, folder: pictures }",
        "run": "run: { command: [cp, \"{{ file.name }}\", \"{{ file.stem }}.ran\"], in: file }",
    ]

    /// Those that cannot be undone.
    private static let final = ["run", "delete", "notify"]

    @Test("Each action does what it says, once, and can be explained")
    func each() async throws {
        // There is no listener, so the event waits, and can be undone.
        let target = "{ kind: webhook, url: \"http://127.0.0.1:1/\", allow-insecure-http: true }"
        let steward = try AgentFixture.inside(configuration: "run: { allow: true }\npublish: { nobody: \(target) }")
        try steward.addPlace("out")
        let schema = try Answer(parsing: try steward.run(["rules", "schema"]).check().output)
        #expect(schema["$defs"]["action"].keys == Set(Self.steps.keys), "every action has its rule here")
        for (action, step) in Self.steps {
            try steward.rule(
                "50-\(action).yaml",
                "- rule: Try \(action)\n  in: drafts\n  where: { name: \"\(action).md\", age: \"> 1ms\" }\n  settle: 100ms\n  do:\n    - \(step)\n"
            )
        }
        try await steward.start()
        for action in Self.steps.keys
        where !["import-comic", "unpack", "set-metadata", "convert-picture"].contains(action) {
            try steward.drop(BytePath("drafts/\(action).md"), "# Text of \(action)\n")
        }
        try steward.moveIn("drafts/import-comic.md", try packed([Packed(name: "1.png", bytes: picture(1))]))
        try steward.moveIn("drafts/set-metadata.md", SoundSample.wave(seconds: 1))
        try steward.moveIn("drafts/convert-picture.md", Picture.png(40, 60))
        try steward.moveIn("drafts/unpack.md", try packed([Packed(name: "a/b.txt", bytes: Array("packed\n".utf8))]))
        try steward.wait()
        try steward.run(["confirm", "--all"]).check()
        try steward.wait()
        for action in Self.steps.keys {
            let past = try steward.past(BytePath("drafts/\(action).md"))
            #expect(past.map { $0["state"].text } == ["done"], "\(action)")
            #expect(past.first?["done"].items.count == 1, "\(action)")
        }
        #expect(try steward.count("block of append-block.md") == 1)
        #expect(try steward.read("out/written/write-note.md") == "# Text of write-note\n")
        #expect(
            try steward.past("drafts/index-capture.md").first?["done"].items.first?.text.hasPrefix("stored a note as ")
                == true)
        #expect(try steward.read("out/moved/move.md") == "# Text of move\n")
        #expect(try steward.exists("out/imported/1/import-comic.md.cbz"))
        #expect(try steward.read("out/copied/copy of copy.md") == "# Text of copy\n")
        #expect(try steward.read("drafts/renamed rename.md") == "# Text of rename\n")
        #expect(try steward.trash().contains("# Text of trash\n"))
        #expect(try steward.exists("out/lines/text-of-for-each.md"))
        #expect(try steward.exists("out/pictures/convert-picture.png"))
        #expect(try Descriptor(steward.path("drafts/set-metadata.md")).readAll() != SoundSample.wave(seconds: 1))
        #expect(try steward.read("out/linked/link.md") == "# Text of link\n")
        #expect(try steward.read("out/converted/convert.txt") == "# Text of convert\n")
        #expect(try steward.exists("out/packed/pack.md.zip"))
        #expect(try steward.read("out/unpacked/unpack/b.txt") == "packed\n")
        #expect(try FileStatus.of(steward.path("drafts/set.md"))?.mode == 0o600)
        let seen = try ExtendedAttributes.value("user.seen", of: Descriptor(steward.path("drafts/write-attributes.md")))
        #expect(seen == Array("note".utf8))
        let tags = try ExtendedAttributes.value("user.xdg.tags", of: Descriptor(steward.path("drafts/tag.md")))
        #expect(tags == Array("seen,note".utf8))
        #expect(try steward.read("drafts/run.ran") == "# Text of run\n")
        #expect(
            try steward.files("drafts").map(\.nameText).sorted()
                == [
                    "append-block.md", "confirm.md", "convert-picture.md", "convert.md", "copy.md", "for-each.md",
                    "index-capture.md", "link.md", "notify.md", "pack.md", "publish.md", "renamed rename.md",
                    "review.md", "review.md.json", "review.md.quickfix", "review.md.sarif", "run.md", "run.ran",
                    "set-metadata.md", "set.md", "tag.md", "unpack.md", "write-attributes.md", "write-note.md",
                ])
        #expect(try steward.leftovers().isEmpty)

        for action in Self.steps.keys where !Self.final.contains(action) {
            let job = try #require(try steward.past(BytePath("drafts/\(action).md")).first?["job"].text)
            try steward.run(["undo", job]).check()
        }
        try steward.wait()
        #expect(try steward.count("block of append-block.md") == 0)
        #expect(try steward.files("out").isEmpty)
        #expect(try steward.read("drafts/move.md") == "# Text of move\n")
        #expect(try steward.exists("drafts/import-comic.md"))
        #expect(try steward.read("drafts/rename.md") == "# Text of rename\n")
        #expect(try steward.read("drafts/trash.md") == "# Text of trash\n")
        #expect(try Descriptor(steward.path("drafts/set-metadata.md")).readAll() == SoundSample.wave(seconds: 1))
        #expect(try ExtendedAttributes.value("user.xdg.tags", of: Descriptor(steward.path("drafts/tag.md"))) == nil)
        #expect(try steward.json(["outbox"]).items.isEmpty)
        for action in Self.final {
            let job = try #require(try steward.past(BytePath("drafts/\(action).md")).first?["job"].text)
            #expect(try steward.run(["undo", job]).status == 1, "\(action) cannot be taken back")
        }
    }

    @Test("Undoing a mode leaves a later save alone, and the save is news")
    func undoAfterSave() async throws {
        let steward = try AgentFixture.inside()
        try steward.addPlace("out")
        try steward.rule(
            """
            - { rule: Mode, in: drafts, settle: 100ms, do: [{ set: { mode: "0640" } }] }
            - { rule: Changed, in: drafts, on: changed, settle: 100ms, do: [{ copy: { place: out } }] }
            """)
        try await steward.start()
        try steward.drop("drafts/a.txt", "mine")
        try steward.wait()
        let job = try #require(try steward.past("drafts/a.txt").first?["job"].text)
        try await steward.stop()
        try steward.drop("drafts/a.txt", "a later version")
        let undone = try steward.run(["undo", job])
        #expect(undone.status == 1 && undone.errors.contains("has been changed since"))
        try await steward.start()
        try steward.wait()
        #expect(try steward.read("out/a.txt") == "a later version")
    }

    @Test("Undo removes the tag from the tagged file, not from another that now has its name")
    func undoBesideAnother() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Tag
              in: drafts
              settle: 100ms
              do: [{ tag: { add: [x] } }, { rename: { name: "done {{ file.name }}" } }]
            """)
        try await steward.start()
        try steward.drop("drafts/t.txt", "mine")
        try steward.wait()
        let job = try #require(try steward.past("drafts/t.txt").first?["job"].text)
        try await steward.stop()
        let other = try steward.drop("drafts/t.txt", "another")
        try ExtendedAttributes.set("user.xdg.tags", Array("x".utf8), on: Descriptor(other))
        try steward.run(["undo", job]).check()
        #expect(try steward.read("drafts/t (1).txt") == "mine")
        func tags(_ path: BytePath) throws -> [UInt8]? {
            try ExtendedAttributes.value("user.xdg.tags", of: Descriptor(steward.path(path)))
        }
        #expect(try tags("drafts/t (1).txt") == nil)
        #expect(try tags("drafts/t.txt") == Array("x".utf8))
    }

    @Test("Undo removes a tag from a note that the agent has written since, by the same rule or another")
    func undoBesideBlocks() async throws {
        let steward = try AgentFixture.inside()
        let block = "append-block: { note: \"{{ file.name }}\", heading: Log, anchor: log, text: seen }"
        try steward.rule(
            """
            - { rule: Both, in: notes, where: { name: a.md }, settle: 100ms, do: [{ \(block) }, { tag: { add: [x] } }] }
            - { rule: Tag, in: notes, where: { name: b.md }, settle: 100ms, do: [{ tag: { add: [x] } }] }
            - { rule: Log, in: notes, where: { name: b.md }, settle: 100ms, do: [{ \(block) }] }
            """)
        try await steward.start()
        for name in ["a", "b"] { try steward.drop(BytePath("notes/\(name).md"), "# Note\n") }
        try steward.wait()
        let both = try #require(try steward.past("notes/a.md").first?["job"].text)
        let tag = try #require(try steward.past("notes/b.md").first { $0["rule"].text == "Tag" }?["job"].text)
        func tags(_ name: String) throws -> [UInt8]? {
            try ExtendedAttributes.value("user.xdg.tags", of: Descriptor(steward.path(BytePath("notes/\(name).md"))))
        }
        #expect(try tags("a") == Array("x".utf8) && tags("b") == Array("x".utf8))
        try await steward.stop()
        for job in [both, tag] { try steward.run(["undo", job]).check() }
        #expect(try tags("a") == nil && tags("b") == nil)
        #expect(try !steward.read("notes/a.md").contains("seen") && steward.read("notes/b.md").contains("seen"))
    }

    @Test("Undo removes a tag from a file that another rule has moved since")
    func undoAfterMove() async throws {
        let steward = try AgentFixture.inside()
        try steward.addPlace("out")
        try steward.rule(
            """
            - { rule: Tag, in: drafts, settle: 100ms, do: [{ tag: { add: [x] } }] }
            - { rule: Finish, in: drafts, settle: 100ms, do: [{ move: { place: out } }] }
            """)
        try await steward.start()
        try steward.drop("drafts/t.txt", "mine")
        try steward.wait()
        let job = try #require(try steward.past("drafts/t.txt").first { $0["rule"].text == "Tag" }?["job"].text)
        try await steward.stop()
        try steward.run(["undo", job]).check()
        #expect(try steward.read("out/t.txt") == "mine")
        #expect(try ExtendedAttributes.value("user.xdg.tags", of: Descriptor(steward.path("out/t.txt"))) == nil)
    }

    @Test("A rule may run programs only if the configuration allows it")
    func forbidden() throws {
        let steward = try AgentFixture.inside()
        try steward.rule("- rule: R\n  in: drafts\n  do:\n    - run: { command: [echo] }\n")
        let result = try steward.run(["check"])
        #expect(result.status == 2)
        #expect(result.output.contains("run: { allow: true }"))
    }

    @Test(
        "Files that arrive together for one name are handled as the rule says", arguments: ["skip", "same", "replace"])
    func takenTogether(policy: String) async throws {
        let steward = try AgentFixture.inside()
        try steward.addPlace("out")
        try steward.rule(
            """
            - rule: Collect
              in: dropbox
              settle: 100ms
              do: [{ move: { place: out, name: one.txt, exists: \(policy) } }]
            """)
        let contents = (0..<12).map { "content \($0 / 2)" }
        for (number, text) in contents.enumerated() { try steward.drop(BytePath("dropbox/\(number)/f.txt"), text) }
        try await steward.start()
        try steward.wait()
        try await steward.until("all are done") { try steward.json(["status"])["jobs"]["done"].number == 12 }
        let status = try steward.status()
        #expect(status.parked.map(\.problem) == [] && status.waiting.map(\.problem) == [])
        let (out, left, trash) = (try steward.files("out"), try steward.files("dropbox"), try steward.trash())
        switch policy {
        case "skip": #expect(out.count == 1 && left.count == 11 && trash.isEmpty)
        case "same":
            // One of each content.
            #expect(out.count == 6 && left.count == 6 && trash.isEmpty)
            let texts = try out.map { String(decoding: try Descriptor($0).readAll(), as: UTF8.self) }
            #expect(Set(texts) == Set(contents))
        default: #expect(out.count == 1 && left.isEmpty && trash.count == 11)
        }
    }

    @Test("A taken name is handled as the rule says", arguments: ["rename", "skip", "same", "replace"])
    func exists(policy: String) async throws {
        let steward = try AgentFixture.inside()
        try steward.addPlace("out")
        try steward.rule(
            "- rule: R\n  in: drafts\n  settle: 100ms\n  do: [ { copy: { place: out, exists: \(policy) } } ]\n")
        try steward.drop("out/a.md", "old\n")
        try steward.drop("out/b.md", "same\n")
        try await steward.start()
        try steward.drop("drafts/a.md", "new\n")
        try steward.drop("drafts/b.md", "same\n")
        try steward.wait()
        let names = try steward.files("out").map(\.nameText)
        switch policy {
        case "rename": #expect(names == ["a (1).md", "a.md", "b (1).md", "b.md"])
        case "skip": #expect(names == ["a.md", "b.md"])
        case "same": #expect(names == ["a (1).md", "a.md", "b.md"])
        default:
            #expect(names == ["a.md", "b.md"])
            #expect(try steward.trash().contains("old\n"))
        }
        #expect(try steward.read("out/a.md") == (policy == "replace" ? "new\n" : "old\n"))
    }
}
