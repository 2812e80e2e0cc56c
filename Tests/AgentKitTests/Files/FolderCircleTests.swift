import Platform
import TestSupport
import Testing

@Suite("File rules and folder rules that feed each other", .ownThreads)
struct FolderCircleTests {
    /// The folder rule waits for a while, so that it looks at a folder it has seen before.
    @Test(
        "Rules that copy into folders of another place, and folders that go back, come to rest after one round",
        arguments: ["", "  where: { age: \"> 4s\" }\n"])
    func copies(condition: String) async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: There
              in: dropbox
              settle: 100ms
              where: { extension: txt }
              do: [{ copy: { place: library, folder: "{{ file.stem }}" } }]
            - rule: Back
              in: library
              match: folders
              settle: 100ms
            \(condition)  do: [{ move: { place: dropbox } }]
            """)
        #expect(try steward.run(["check"]).output.contains("rules feed each other in a circle"))
        try await steward.start()
        try steward.drop("dropbox/x.txt", "hi\n")
        try await steward.until("it has come back") { try steward.exists("dropbox/x/x.txt") }
        try await steward.until("it was judged there") {
            try steward.history().contains { $0["message"].text.contains("has run already on what this was made from") }
        }
        try steward.wait()
        #expect(try steward.files("dropbox").map(\.nameText) == ["x.txt", "x.txt"])
        #expect(try steward.files("library").isEmpty)
        #expect(try steward.json(["status"])["jobs"]["done"].number == 2)
    }

    @Test("Unpacking into another place, and packing back into the first, comes to rest after one round")
    func archives() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Unpack it
              in: dropbox
              settle: 100ms
              where: { extension: zip }
              do: [{ unpack: { place: library } }, trash]
            - rule: Pack it
              in: library
              match: folders
              settle: 100ms
              do: [{ pack: { place: dropbox, source: trash } }]
            """)
        try await steward.start()
        try steward.drop("aside/Album/1.txt", "one")
        try steward.drop("aside/Album/2.txt", "two")
        try steward.shell([
            "/usr/bin/python3", "-c",
            "import shutil, sys; shutil.make_archive(sys.argv[1], 'zip', sys.argv[2], 'Album')",
            steward.path("aside/packed").text, steward.path("aside").text,
        ]).check()
        try steward.shell(["mv", steward.path("aside/packed.zip").text, steward.path("dropbox/Album.zip").text]).check()
        try await steward.until("it was judged again") {
            try steward.history().contains { $0["message"].text.contains("has run already on what this was made from") }
        }
        try steward.wait()
        #expect(try steward.files("dropbox").map(\.nameText) == ["Album.zip"])
        #expect(try steward.files("library").isEmpty)
        #expect(try steward.json(["status"])["jobs"]["done"].number == 2)
    }

    @Test(
        "A rule of the other place runs on each file that arrived there in a folder or by unpacking")
    func each() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Whole
              in: dropbox
              match: folders
              settle: 100ms
              do: [{ move: { place: library } }]
            - rule: Each
              in: library
              settle: 100ms
              do: [{ append-block: { note: log, text: "came {{ file.name }}" } }]
            """)
        try await steward.start()
        for name in ["1.txt", "2.txt", "deep/3.txt"] { try steward.drop(BytePath("dropbox/Album/\(name)"), name) }
        try steward.wait()
        try await steward.until("all have come") { try steward.count("came ") == 3 }
        try steward.wait()
        for name in ["1.txt", "2.txt", "3.txt"] { #expect(try steward.count("came \(name)") == 1) }
        // A person's file belongs to no chain.
        try steward.drop("library/Album/4.txt", "mine")
        try steward.wait()
        #expect(try steward.count("came 4.txt") == 1)
    }
}
