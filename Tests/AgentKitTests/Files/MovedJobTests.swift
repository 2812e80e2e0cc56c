import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Jobs whose file or folder is moved meanwhile", .ownThreads)
struct MovedJobTests {
    private func start(_ rules: String) async throws -> AgentFixture {
        let steward = try AgentFixture.inside(configuration: "run: { allow: true }")
        try steward.rule(rules)
        try await steward.start()
        return steward
    }

    private func asked(_ steward: AgentFixture) throws -> [String] {
        let output = try steward.run(["confirm", "--json"]).check().output
        return try Answer(parsing: output).items.map { $0["text"].text }
    }

    private func confirm(_ steward: AgentFixture) throws {
        try steward.run(["confirm", "--all"]).check()
        try steward.wait()
    }

    private static let sorting = """
        - rule: A
          in: dropbox
          settle: 100ms
          where: { extension: jpg }
          do:
            - move: { folder: sub }
            - confirm: { text: "Keep {{ file.name }}?" }
            - copy: { place: library, folder: kept }

        """

    @Test("A job waiting for an answer follows its file when another rule moves it, even to another place")
    func anotherPlace() async throws {
        let steward = try await start(
            Self.sorting + """
                - rule: B
                  in: dropbox
                  settle: 100ms
                  where: { extension: jpg, path: "sub/**", age: { since: arrived, is: "> 4s" } }
                  do: [{ move: { place: comics } }]
                """)
        try steward.drop("dropbox/p.jpg", "picture")
        try await steward.until("the other rule has moved it") { try steward.exists("comics/p.jpg") }
        try steward.wait()
        #expect(try asked(steward) == ["Keep p.jpg?"])
        try confirm(steward)
        #expect(try steward.read("library/kept/p.jpg") == "picture")
        #expect(try steward.json(["status"])["jobs"]["done"].number == 2)
    }

    @Test("A job that waits while `places:` changes uses the folder configured afterwards")
    func changedPlace() async throws {
        let steward = try await start(Self.sorting)
        try steward.drop("dropbox/p.jpg", "picture")
        try await steward.until("it asks") { try asked(steward) == ["Keep p.jpg?"] }
        try await steward.stop()
        let file: BytePath = ".config/steward/steward.yaml"
        let configuration = try steward.home.read(file)
        let changed = configuration.replacingOccurrences(of: "Steward/library", with: "Steward/shelf")
        try #require(changed != configuration, "\(configuration)")
        try steward.home.write(file, changed)
        try Durable.makeDirectory(steward.path("shelf"))
        try await steward.start()
        try confirm(steward)
        #expect(try steward.read("shelf/kept/p.jpg") == "picture")
        #expect(try steward.files("library").isEmpty)
    }

    @Test("A job waiting for an answer follows its file in a folder that a folder rule moved")
    func inFolder() async throws {
        let steward = try await start(
            Self.sorting + """
                - rule: Album goes
                  in: dropbox
                  match: folders
                  settle: 100ms
                  where: { holds: "ready.txt" }
                  do: [{ move: { place: comics } }]
                """)
        try steward.drop("dropbox/p.jpg", "picture")
        try await steward.until("it asks") { try asked(steward) == ["Keep p.jpg?"] }
        try steward.drop("dropbox/sub/ready.txt", "")
        try await steward.until("the folder has gone") { try steward.exists("comics/sub/p.jpg") }
        try steward.wait()
        try confirm(steward)
        #expect(try steward.read("library/kept/p.jpg") == "picture")
    }

    @Test("A question about a file renamed by its own rule is asked again if the file changes")
    func edited() async throws {
        let steward = try await start(Self.sorting)
        try steward.drop("dropbox/p.jpg", "picture")
        try await steward.until("it asks") { try asked(steward) == ["Keep p.jpg?"] }
        let first = try steward.run(["confirm", "--json"]).output
        try steward.drop("dropbox/sub/p.jpg", "another picture")
        try await steward.until("it asks anew") {
            let now = try steward.run(["confirm", "--json"]).output
            return try now != first && !asked(steward).isEmpty
        }
        try steward.wait()
        #expect(try asked(steward).count == 1)
        try confirm(steward)
        #expect(try steward.read("library/kept/p.jpg") == "another picture")
    }

    @Test("A question about a folder renamed by its rule is asked again if something is added, and then done")
    func addedTo() async throws {
        let steward = try await start(
            """
            - rule: Tidy
              in: dropbox
              match: folders
              settle: 100ms
              do:
                - rename: { name: "Tidy" }
                - confirm: { text: "Move {{ folder.count }}?" }
                - move: { place: library }
            """)
        try steward.drop("dropbox/Heap/1.txt", "one")
        try await steward.until("it asks") { try asked(steward) == ["Move 1?"] }
        try steward.drop("dropbox/Tidy/2.txt", "two")
        try await steward.until("it asks anew") { try asked(steward) == ["Move 2?"] }
        try confirm(steward)
        #expect(try steward.files("library").map(\.nameText) == ["1.txt", "2.txt"])
    }

    @Test(
        "A question about a folder uses the name a user gave it meanwhile; it ends if the folder is gone")
    func renamed() async throws {
        let steward = try await start(
            """
            - rule: Ask
              in: dropbox
              match: folders
              settle: 100ms
              do: [{ confirm: { text: "Move {{ folder.name }}?" } }, { move: { place: library } }]
            """)
        try steward.drop("dropbox/Ask1/1.txt", "one")
        try steward.drop("dropbox/Ask2/2.txt", "two")
        try await steward.until("both are asked about") { try asked(steward).count == 2 }
        try steward.shell(["mv", steward.path("dropbox/Ask1").text, steward.path("dropbox/Renamed").text]).check()
        try steward.shell(["rm", "-r", steward.path("dropbox/Ask2").text]).check()
        try await steward.until("one is asked about") { try asked(steward) == ["Move Renamed?"] }
        try confirm(steward)
        #expect(try steward.files("library") == [steward.path("library/Renamed/1.txt")])
        #expect(try asked(steward).isEmpty)
    }

    @Test("A folder is not moved, even after a yes, while a rule works on a file in it, but is afterwards")
    func atWork() async throws {
        let steward = try AgentFixture.inside(configuration: "run: { allow: true }")
        let (begun, go) = (steward.home.path.appending("begun"), steward.home.path.appending("go"))
        try steward.rule(
            """
            - rule: Folder
              in: dropbox
              match: folders
              settle: 100ms
              do: [{ confirm: { text: "Move {{ folder.name }}?" } }, { move: { place: library } }]
            - rule: File
              in: dropbox
              settle: 100ms
              where: { extension: txt, age: { since: arrived, is: "> 4s" } }
              do:
                - run: { command: [sh, -c, "touch \(begun.text); until [ -e \(go.text) ]; do sleep 0.1; done"] }
                - run: { command: [cat, "{{ file.name }}"], in: file }
                - copy: { place: comics }
            """)
        try await steward.start()
        try steward.drop("dropbox/P1/f.txt", "text")
        try await steward.until("it asks") { try asked(steward) == ["Move P1?"] }
        try await steward.until("the file's rule is at work") { try FileStatus.of(begun) != nil }
        try steward.run(["confirm", "--all"]).check()
        try await steward.until("the folder waits") {
            try steward.history().contains { $0["message"].text.contains("is not done with") }
        }
        #expect(try steward.exists("dropbox/P1/f.txt"))
        try steward.home.write("go", "")
        try await steward.until("the folder has gone") { try steward.exists("library/P1/f.txt") }
        try steward.wait()
        #expect(try steward.read("comics/f.txt") == "text")
        #expect(try steward.json(["status"])["jobs"]["done"].number == 2)
        #expect(try steward.history().count { $0["message"].text.contains("is not done with") } == 1)
    }

    @Test("Undoing a move takes questions about the folder's contents back with it")
    func undone() async throws {
        let steward = try await start(
            """
            - rule: Folder
              in: dropbox
              match: folders
              settle: 100ms
              do: [{ move: { place: library } }]
            - rule: File
              in: library
              settle: 100ms
              do: [{ confirm: { text: "Keep {{ file.name }}?" } }, { copy: { place: comics } }]
            """)
        try steward.drop("dropbox/A1/f.txt", "text")
        try await steward.until("it asks") { try asked(steward) == ["Keep f.txt?"] }
        try steward.run(["undo", try #require(try steward.past("dropbox/A1").first?["job"].text)]).check()
        try steward.wait()
        #expect(try steward.exists("dropbox/A1/f.txt"))
        try confirm(steward)
        #expect(try steward.read("comics/f.txt") == "text")
        #expect(try steward.json(["status"])["jobs"]["parked"].number ?? 0 == 0)
    }

    @Test("Undo does not move a folder while a rule works in it, and says so")
    func undoneAtWork() async throws {
        let steward = try AgentFixture.inside(configuration: "run: { allow: true }")
        let (begun, go) = (steward.home.path.appending("begun"), steward.home.path.appending("go"))
        try steward.rule(
            """
            - rule: Folder
              in: dropbox
              match: folders
              settle: 100ms
              do: [{ move: { place: library } }]
            - rule: File
              in: library
              settle: 100ms
              do: [{ run: { command: [sh, -c, "touch \(begun.text); until [ -e \(go.text) ]; do sleep 0.1; done"] } }]
            """)
        try await steward.start()
        try steward.drop("dropbox/A1/f.txt", "text")
        try await steward.until("the file's rule is at work") { try FileStatus.of(begun) != nil }
        let job = try #require(try steward.past("dropbox/A1").first?["job"].text)
        let refused = try steward.run(["undo", job])
        #expect(refused.status != 0)
        #expect(refused.errors.contains("the rule \"File\" is not done with"), "\(refused.errors)")
        #expect(try steward.exists("library/A1/f.txt"))
        try steward.home.write("go", "")
        try steward.wait()
        try steward.run(["undo", job]).check()
        #expect(try steward.exists("dropbox/A1/f.txt"))
    }

    @Test("Files restored by undo are not news, even if another folder has taken the name")
    func undoneBesideAnother() async throws {
        let steward = try await start(
            """
            - rule: Albums
              in: dropbox
              match: folders
              settle: 100ms
              where: { holds: "*.jpg" }
              do: [{ move: { place: library } }]
            - rule: Texts
              in: dropbox
              settle: 100ms
              where: { extension: txt }
              do: [{ append-block: { note: log, text: "came {{ file.name }}" } }]
            - rule: Gone
              in: dropbox
              on: removed
              where: { extension: txt }
              do: [{ append-block: { note: log, text: "gone {{ file.name }}" } }]
            """)
        for name in ["1.jpg", "a.txt", "deep/b.txt"] { try steward.drop(BytePath("dropbox/Lisbon/\(name)"), name) }
        try await steward.until("it has gone") { try steward.exists("library/Lisbon/deep/b.txt") }
        try steward.wait()
        try steward.drop("dropbox/Lisbon/a.txt", "another")
        try await steward.until("the new one has been seen") { try steward.count("came a.txt") == 2 }
        try steward.wait()
        try steward.run(["undo", try #require(try steward.past("dropbox/Lisbon").first?["job"].text)]).check()
        try steward.wait()
        #expect(try steward.read("dropbox/Lisbon (1)/deep/b.txt") == "deep/b.txt")
        // Another scan of everything.
        try await steward.stop()
        try await steward.start()
        try steward.wait()
        let told = try steward.run(["log"]).check().output
        #expect(try steward.count("came a.txt") == 2, "\(told)")
        #expect(try steward.count("came b.txt") == 1)
        #expect(try steward.count("gone ") == 0)
    }
}
