import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// `steward dots` on the store as a whole, and beside an agent.
@Suite("Dot store commands")
struct DotStoreTests: DotCommands {
    let steward: AgentFixture

    init() throws { steward = try Self.home() }

    @Test("An export is imported elsewhere unchanged, once")
    func export() throws {
        try fill()
        try steward.home.write("song.txt", "la la")
        try dots("add", "dot", "--attach", "song.txt", "--time", "2026-03-08").check()
        #expect(
            try dots("export", "out").check().output
                == "exported 6 captures with 1 files into \(home.appending("out"))\n")
        #expect(try refusal("export", "out").contains("exists already"))
        let other = try AgentFixture(configuration: "time-zone: Europe/Berlin")
        func captures(_ home: AgentFixture) throws -> [Answer] {
            try home.json(["dots", "show", "2026"] + now)["captures"].items
        }
        func taken() throws -> AgentFixture.Result { try other.run(["dots", "import", home.appending("out").text]) }
        #expect(try taken().check().output == "added 6 captures; 0 existed already\n")
        #expect(try taken().check().output == "added 0 captures; 6 existed already\n")
        let (ours, theirs) = (try captures(steward), try captures(other))
        for name in ["id", "kind", "moment", "time", "created", "note", "link"] {
            #expect(ours.map { $0[name] } == theirs.map { $0[name] }, "\(name)")
        }
        let file = try #require(theirs.first?["files"].items.first)
        #expect(file["sha256"] == ours[0]["files"].items.first?["sha256"] && file["name"].text == "song.txt")
        #expect(try Descriptor(BytePath(file["path"].text)).readAll() == Array("la la".utf8))
        // Changes to an exported file do not affect the store.
        let exported = try #require(try filesBelow(home.appending("out/attachments")).first)
        let handle = try #require(FileHandle(forWritingAtPath: exported.text))
        try handle.write(contentsOf: Data("LA".utf8))
        try handle.close()
        #expect(try dots("check").check().output.hasSuffix(": sound\n"))
        // An invalid line is named; the rest is imported.
        try steward.home.write("out/captures.jsonl", try steward.home.read("out/captures.jsonl") + "{\"id\": 5}\n")
        let bad = try other.run(["dots", "import", home.appending("out").text])
        #expect(bad.status == 2 && bad.output.contains("line 8: ") && bad.output.contains("6 existed already"))
        let none = try other.run(["dots", "import", home.text])
        #expect(none.status == 1 && none.errors.contains("there is no captures.jsonl in it"))
    }

    @Test("A backup is a valid store")
    func backup() throws {
        try fill()
        try Durable.makeDirectory(home.appending("safe"))
        #expect(try dots("backup", "safe/captures").check().output.hasPrefix("backed up 5 captures with 0 files into "))
        let before = try answer("show", "2026")
        try dots("add", "dot").check()
        steward.variables["STEWARD_DATA"] = home.appending("safe").text
        #expect(try answer("show", "2026") == before)
    }

    @Test("`check` finds a missing file and exits with 2; repair fixes what can be fixed")
    func check() throws {
        try fill()
        #expect(try dots("check").check().output.hasSuffix(": sound\n"))
        let photos = home.appending(".local/share/steward/captures/photos")
        try steward.home.write(".local/share/steward/captures/photos/stray.bin", "?")
        #expect(try dots("check").status == 2)
        let mended = try dots("check", "--repair").check().output
        #expect(mended.hasPrefix("repaired: ") && mended.hasSuffix(": sound\n"), "\(mended)")
        try steward.home.write("song.txt", "la la")
        let added = try answer("add", "dot", "--attach", "song.txt")
        try Durable.remove(BytePath(added["files"].items[0]["path"].text))
        let lost = try dots("check", "--repair")
        #expect(lost.status == 2 && lost.output.contains("is missing"), "\(lost.output)")
        #expect(try FileStatus.of(photos) != nil)
    }

    @Test("A file that is not a database is left alone, with advice")
    func corrupt() throws {
        try fill()
        let file: BytePath = ".local/share/steward/captures/captures.sqlite"
        try steward.home.write(file, String(repeating: "no database ", count: 1000))
        let result = try dots("today")
        #expect(result.status == 1 && result.errors.contains("put a backup in its place"), "\(result.errors)")
        #expect(try steward.home.read(file).hasPrefix("no database "))
    }

    @Test("Captures added by the agent are on the grids while it runs, and rejected files are not")
    func agent() async throws {
        try steward.home.write(
            ".config/steward/steward.yaml",
            try steward.home.read(".config/steward/steward.yaml")
                + "captures: { sentence: \"[moment]: [experience]\" }\n")
        try steward.rule(
            """
            - rule: Captures
              in: dropbox
              settle: 100ms
              do:
                - index-capture
                - append-block: { note: log, heading: Captures, anchor: cap, text: "{{ capture.sentence }}" }
                - trash
              refused: quarantine
            """)
        try await steward.start()
        try steward.drop("dropbox/a.md", "---\ntime: 2026-03-05 07:10\nmoment: today\n---\nSwap the\nchapters\n")
        try steward.drop("dropbox/b.json", #"{"url": "example.org", "time": "2026-03-04 08:00", "kind": "link"}"#)
        try steward.drop("dropbox/c.txt", "kind: dot\ntime: 2026-03-02 08:00\n")
        try steward.drop("dropbox/d.json", #"{"text": "x", "tiem": "08:00"}"#)
        try steward.drop("dropbox/e.md", "kind: photo\nno picture\n")
        try dots("add", "note", "beside the agent").check()
        try steward.wait()
        #expect(
            try dots("week").check().output.hasSuffix(
                """
                 Mon Tue Wed Thu Fri Sat Sun
                  ●   ○   ●  [●]  ·   ·   ·

                """))
        #expect(try answer("show", "today")["captures"].items.count == 2)
        let notes = try steward.notes()
        #expect(
            notes.contains("\ntoday: Swap the chapters\n") && notes.contains("\nnow: https://example.org\n"), "\(notes)"
        )
        #expect(notes.contains("\nnow: a dot\n"))
        let reasons = try steward.json(["quarantine"]).items.map { $0["reason"].text }
        #expect(reasons.count == 2)
        #expect(
            reasons.contains {
                $0.contains("its key `tiem` is unknown; there are `kind`, `moment`, `text`, `time`, `url`")
            })
        #expect(reasons.contains { $0.contains("it says `kind: photo` and is a text; drop the picture itself") })
        try await steward.stop()
    }

    @Test("A broken configuration is reported; without one the system's zone is used")
    func configuration() throws {
        let file: BytePath = ".config/steward/steward.yaml"
        try steward.home.write(file, try steward.home.read(file) + "captures: { sentence: \"[moment]\" }\n")
        let wrong = try dots("today")
        #expect(wrong.status == 64 && wrong.errors.contains("Template must include [experience]"), "\(wrong.errors)")
        try Durable.remove(home.appending(file))
        steward.variables["TZ"] = "UTC"
        #expect(try answer("today")["timeZone"].text == "GMT")
    }

    private func filesBelow(_ folder: BytePath) throws -> [BytePath] {
        try listDirectory(folder).flatMap { entry -> [BytePath] in
            let path = folder.appending(name: entry.name)
            return entry.isDirectory == true ? try filesBelow(path) : [path]
        }
    }
}
