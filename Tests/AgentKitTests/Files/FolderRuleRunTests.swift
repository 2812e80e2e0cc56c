import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Folder rules, end to end", .ownThreads)
struct FolderRuleRunTests {
    private static let albums = """
        - rule: Albums
          in: dropbox
          match: folders
          settle: 300ms
          where: { holds: "*.jpg" }
          do:
            - move: { place: library, folder: "albums of {{ folder.count }}" }

        """

    private func fill(_ steward: AgentFixture, _ folder: String = "Lisbon") throws {
        for number in 1...3 { try steward.drop(BytePath("dropbox/\(folder)/deep/\(number).jpg"), "picture \(number)") }
    }

    @Test("A folder whose contents are at rest is moved as a whole, once, is explained, and comes back with undo")
    func album() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(Self.albums)
        try await steward.start()
        try fill(steward)
        let explained = try steward.run(["explain", steward.path("dropbox/Lisbon").text]).check().output
        #expect(explained.contains("match: folders"))
        try steward.wait()
        #expect(try steward.read("library/albums of 3/Lisbon/deep/2.jpg") == "picture 2")
        #expect(try !steward.exists("dropbox/Lisbon"))
        let past = try steward.past("dropbox/Lisbon")
        #expect(past.map { $0["state"].text } == ["done"])
        try steward.run(["undo", try #require(past.first?["job"].text)]).check()
        try steward.wait()
        #expect(try steward.read("dropbox/Lisbon/deep/3.jpg") == "picture 3")
        #expect(try steward.files("library").isEmpty)
        try await steward.stop()
        try await steward.start()
        try steward.wait()
        #expect(try steward.past("dropbox/Lisbon").map { $0["state"].text } == ["undone"], "it is not taken again")
        #expect(try steward.exists("dropbox/Lisbon/deep/1.jpg"))
    }

    @Test("Killed after the move but before recording it, it is moved once")
    func killed() async throws {
        let steward = try AgentFixture()
        try steward.rule(Self.albums)
        try await steward.start(endingAt: "renamed:1")
        try fill(steward)
        try await steward.endedThere()
        try await steward.start()
        try steward.wait()
        #expect(try steward.files("library").count == 3)
        #expect(try steward.read("library/albums of 3/Lisbon/deep/1.jpg") == "picture 1")
        #expect(try steward.past("dropbox/Lisbon").map { $0["state"].text } == ["done"])
    }

    @Test("File rules process its contents first, and nothing twice")
    func files() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            Self.albums + """
                - rule: Texts
                  in: dropbox
                  settle: 100ms
                  where: { extension: txt }
                  do: [{ append-block: { note: log, text: "text {{ file.name }}" } }]
                - rule: Leave them
                  in: dropbox
                  match: folders
                  settle: 100ms
                  where: { not: { holds: "*.jpg" } }
                  do: [{ rename: { name: "{{ folder.name }} (seen)" } }]
                """)
        try await steward.start()
        try fill(steward)
        try steward.drop("dropbox/Lisbon/notes.txt", "a text")
        try steward.drop("dropbox/Words/words.txt", "another text")
        try steward.wait()
        #expect(try steward.read("library/albums of 4/Lisbon/notes.txt") == "a text")
        #expect(try steward.read("dropbox/Words (seen)/words.txt") == "another text")
        #expect(try steward.count("text notes.txt") == 1)
        #expect(try steward.count("text words.txt") == 1, "its new name is no news")
        #expect(try steward.json(["status"])["jobs"]["done"].number == 4)
    }

    @Test("A folder that leaves its place and returns at once under another name arrives, with its subfolders")
    func backAgain() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Seen
              in: dropbox
              match: folders
              settle: 100ms
              where: { depth: "<= 1" }
              do: [{ append-block: { note: log, text: "seen {{ folder.name }}." } }]
            """)
        try await steward.start()
        func move(_ from: BytePath, _ to: BytePath) {
            #expect(rename(steward.path(from).text, steward.path(to).text) == 0, "\(from)")
        }
        try steward.drop("dropbox/Lisbon/day/1.jpg", "one")
        func count(_ name: String) throws -> Int { try steward.count("seen \(name).") }
        try await steward.until("it is seen") { try count("Lisbon") == 1 && count("day") == 1 }
        move("dropbox/Lisbon", "away")
        move("away", "dropbox/Porto")
        try await steward.until("it arrives") { try count("Porto") == 1 && count("day") == 2 }
        move("dropbox/Porto", "dropbox/Faro")
        try steward.drop("dropbox/Evora/1.jpg", "another")
        try await steward.until("the other is seen") { try count("Evora") == 1 }
        try steward.wait()
        #expect(try count("Faro") == 0 && count("day") == 2)
    }

    @Test("A folder is moved when it is old enough, without any event, and once")
    func becomesOld() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Old
              in: dropbox
              match: folders
              settle: 100ms
              where: { age: "> 4s" }
              do: [{ append-block: { note: log, text: "old {{ folder.name }} {{ folder.count }}" } }]
            """)
        try await steward.start()
        try fill(steward)
        try await steward.until("it is old") { try steward.count("old Lisbon 3") == 1 }
        try steward.wait()
        #expect(try steward.run(["due"]).output.contains("nothing is due"))
        #expect(try steward.count("old Lisbon 3") == 1)
    }

    @Test("So is one selected by the time since its arrival, which only the agent knows")
    func arrivedLongAgo() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Kept
              in: dropbox
              match: folders
              settle: 100ms
              where: { age: { since: arrived, is: "> 3s" } }
              do: [{ move: { place: library } }]
            """)
        try await steward.start()
        try fill(steward)
        try await steward.until("it is taken") { try steward.exists("library/Lisbon/deep/3.jpg") }
        try steward.wait()
        #expect(try steward.run(["due"]).output.contains("nothing is due"))
    }

    private func waitsFor(_ steward: AgentFixture) throws -> String? {
        try steward.status().settling.first { $0.path == "Lisbon" }?.waitingFor
    }

    @Test("An endless download keeps its folder, but blocks nobody; once abandoned, it releases the folder")
    func download() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(Self.albums)
        try await steward.start()
        try steward.drop("dropbox/Lisbon/film.mkv.part", "half of it")
        try fill(steward)
        try await steward.until("it is waited for") { try waitsFor(steward) == "its download to end" }
        #expect(try steward.rest())
        #expect(try steward.exists("dropbox/Lisbon/deep/1.jpg"))
        try Durable.remove(steward.path("dropbox/Lisbon/film.mkv.part"))
        try await steward.until("it is taken") { try steward.files("library").count == 3 }
    }

    @Test(
        "An unreadable part keeps it in its place, is reported once, and blocks nobody",
        .enabled(if: geteuid() != 0 || TestUser.areBothHere, Comment(rawValue: TestUser.comment)))
    func closed() async throws {
        let isRoot = geteuid() == 0
        let steward = try AgentFixture(configuration: "log: { format: json }", as: isRoot ? .victim : nil)
        try steward.rule(Self.albums)
        try fill(steward)
        for path: BytePath in ["dropbox", "dropbox/Lisbon", "dropbox/Lisbon/deep", "library"] where isRoot {
            try TestUser.victim.own(steward.path(path))
        }
        chmod(steward.path("dropbox/Lisbon/deep").text, 0)
        try await steward.start()
        try steward.drop("dropbox/Lisbon/4.jpg", "picture 4")
        try await steward.until("it is waited for") { try waitsFor(steward) == "access to it" }
        #expect(try steward.rest())
        let told = try steward.logged("cannot be read, so nothing in it is seen")
        #expect(told.map { [$0["place"].text, $0["path"].text] } == [["dropbox", "Lisbon/deep"]])
        chmod(steward.path("dropbox/Lisbon/deep").text, 0o755)
        try await steward.until("it is taken") { try steward.files("library").count == 4 }
    }

    @Test("A waiting job on a file inside keeps it in its place, and blocks nobody; it moves when that is done")
    func waitingJob() async throws {
        let steward = try AgentFixture.inside()
        try steward.addPlace("disk")
        // Without a known file from it, the place is whatever folder is there.
        try steward.drop("disk/known.txt", "known")
        try steward.rule(
            Self.albums + """
                - rule: Far
                  in: dropbox
                  settle: 100ms
                  where: { extension: txt }
                  do: [{ copy: { place: disk } }]
                """)
        try await steward.start()
        try steward.wait()
        guard rename(steward.path("disk").text, steward.path("unmounted").text) == 0 else {
            throw TestFailure("rename")
        }
        try steward.folder("disk")
        try fill(steward)
        try steward.drop("dropbox/Lisbon/notes.txt", "a text")
        try await steward.until("it waits") { try waitsFor(steward) == "the jobs of its contents" }
        #expect(try steward.rest())
        #expect(try steward.exists("dropbox/Lisbon/deep/1.jpg"))
        guard rmdir(steward.path("disk").text) == 0,
            rename(steward.path("unmounted").text, steward.path("disk").text) == 0
        else { throw TestFailure("rename back") }
        try await steward.until("it is taken") { try steward.files("library").count == 4 }
        #expect(try steward.read("disk/notes.txt") == "a text")
    }

    @Test("A trial says which folders would be moved as a whole, and does nothing")
    func trial() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(Self.albums)
        try fill(steward)
        let said = try steward.run(["rules", "try", steward.path("dropbox").text]).check().output
        #expect(said.contains("and a folder as a whole"), "\(said)")
        #expect(said.contains("move \(steward.path("dropbox/Lisbon")) to"), "\(said)")
        #expect(try steward.exists("dropbox/Lisbon/deep/1.jpg"))
    }

    @Test("A file inside that is open for writing delays it")
    func open() async throws {
        // The writer must not be the agent's own process.
        let steward = try AgentFixture()
        try steward.rule(Self.albums)
        try await steward.start()
        try fill(steward)
        var writer: Descriptor? = try Descriptor(steward.path("dropbox/Lisbon/open.jpg"), O_WRONLY | O_CREAT)
        try await steward.until("it is waited for") {
            try steward.status().settling.contains { $0.path == "Lisbon" && $0.waitingFor.contains("writer") }
        }
        #expect(try steward.exists("dropbox/Lisbon/deep/1.jpg"))
        try writer?.write(Array("the last".utf8), at: 0)
        writer = nil
        try steward.wait()
        #expect(try steward.files("library").count == 4)
    }

    @Test("A new rule processes existing folders only if it says so", arguments: [true, false])
    func existing(takes: Bool) async throws {
        let steward = try AgentFixture.inside()
        try steward.rule("10-none.yaml", "- { rule: None, in: notes, do: trash }\n")
        try await steward.start()
        try fill(steward)
        try steward.wait()
        try steward.rule(
            "20-albums.yaml",
            Self.albums.replacingOccurrences(of: "settle:", with: "existing: \(takes ? "process" : "skip")\n  settle:"))
        try steward.run(["reload"]).check()
        try steward.wait()
        #expect(try steward.exists("dropbox/Lisbon") == !takes)
        try fill(steward, "Porto")
        try steward.wait()
        #expect(try !steward.exists("dropbox/Porto"), "what comes later is taken in any case")
    }
}
