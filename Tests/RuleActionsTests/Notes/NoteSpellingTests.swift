import OwnFiles
import Platform
import TestSupport
import Testing

/// Notes whose names have accents, each of which is one character or two.
@Suite("Notes with accents in their names") struct NoteSpellingTests {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        try scene.home.write("dropbox/a.txt", "content")
    }

    private func append(to note: String, step: String = "job.0") async throws {
        try await world.run("append-block: { note: \"\(note)\", text: new }", on: "a.txt", step: step)
    }

    private func names(_ folder: String) throws -> Set<[UInt8]> {
        Set(try listDirectory(scene.path(BytePath("notes/\(folder)"))).map(\.name))
    }

    @Test(
        "A note is found in either form, and keeps its own",
        arguments: [
            ("", "Cafe\u{301}.md", "Caf\u{E9}"), ("", "Caf\u{E9}.md", "Cafe\u{301}"),
            ("Me\u{301}mo/", "\u{AC00}.md", "M\u{E9}mo/\u{1100}\u{1161}.md"), ("sub/", "u\u{308}.md", "sub/\u{FC}"),
        ])
    func found(_ folder: String, _ name: String, _ asked: String) async throws {
        try scene.home.write(BytePath("notes/\(folder)\(name)"), "# Note\n")
        let before = (try names(""), try names(folder))
        try await append(to: asked)
        #expect(try (names(""), names(folder)) == before)
        #expect(try scene.home.read(BytePath("notes/\(folder)\(name)")).contains("new"))
    }

    @Test("Of two notes the one with the very name gets the block, and a new note the name that was asked for")
    func exact() async throws {
        let forms = ["Cafe\u{301}", "Caf\u{E9}"]
        for form in forms { try scene.home.write(BytePath("notes/\(form).md"), "# Note\n") }
        for (number, form) in forms.enumerated() {
            try await append(to: form, step: "job.\(number)")
            #expect(count("new", in: try scene.home.read(BytePath("notes/\(form).md"))) == 1)
        }
        try await append(to: "fresh/e\u{301}", step: "job.2")
        #expect(try names("fresh") == [Array("e\u{301}.md".utf8)])
    }
}
