import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@Suite("Unavailable places", .ownThreads)
struct PlaceAwayTests {
    private static let rules = """
        - rule: Arrivals
          in: disk
          on: [arrived, changed, removed]
          settle: 100ms
          do: [{ append-block: { heading: Disk, anchor: disk, text: "<{{ event }} {{ file.name }}>" } }]
        - rule: Far
          in: dropbox
          settle: 100ms
          do: [{ move: { place: disk } }]
        """

    private func agent() throws -> AgentFixture {
        let steward = try AgentFixture.inside()
        try steward.addPlace("disk")
        try steward.rule(Self.rules)
        return steward
    }

    private func move(_ from: BytePath, _ to: BytePath, _ steward: AgentFixture) throws {
        guard rename(steward.path(from).text, steward.path(to).text) == 0 else { throw TestFailure("rename \(from)") }
    }

    private func events(_ steward: AgentFixture) throws -> [String] {
        try steward.judgements("Arrivals", in: "disk").sorted()
    }

    private func isAway(_ steward: AgentFixture) throws -> Bool {
        try steward.run(["status"]).check().output.contains("/disk  is away")
    }

    @Test("A place whose disk is unmounted loses nothing, gets nothing, and continues when it is mounted again")
    func unmounted() async throws {
        let steward = try agent()
        try await steward.start()
        for name in ["a.txt", "b.txt"] { try steward.drop(BytePath("disk/\(name)"), name) }
        try await steward.until("they are known") { try events(steward).count == 2 }
        try steward.wait()
        // As with a disk: its mount point is left.
        try move("disk", "unmounted", steward)
        try steward.folder("disk")
        try await steward.until("its absence shows") { try isAway(steward) }
        try steward.drop("dropbox/c.txt", "c.txt")
        try await steward.until("what goes there waits") {
            try steward.status().waiting.contains { $0.problem.contains("the place disk is away") }
        }
        #expect(try steward.files("disk").isEmpty)
        #expect(try steward.read("dropbox/c.txt") == "c.txt")
        #expect(try steward.run(["doctor"]).output.contains("the folder at \(steward.path("disk")) is a different"))
        try await steward.stop()
        // The next start finds the mount point as well.
        try await steward.start()
        try steward.wait()
        #expect(try events(steward) == ["arrived a.txt", "arrived b.txt"])
        #expect(rmdir(steward.path("disk").text) == 0)
        try move("unmounted", "disk", steward)
        try await steward.until("it goes on") { try steward.exists("disk/c.txt") }
        try await steward.until("it is dealt with") { try events(steward).count == 3 }
        try steward.wait()
        #expect(try events(steward) == ["arrived a.txt", "arrived b.txt", "arrived c.txt"])
        #expect(try !isAway(steward))
        try await steward.stop()
    }

    @Test("A rule does not create a missing place")
    func missing() async throws {
        let steward = try agent()
        try await steward.start()
        try move("notes", "elsewhere", steward)
        try steward.drop("disk/a.txt", "a")
        try await steward.until("the block waits") {
            try steward.status().waiting.contains { $0.problem.contains("the place notes is away") }
        }
        #expect(try !steward.exists("notes"))
        try move("elsewhere", "notes", steward)
        try await steward.until("it is written") { try steward.notes().contains("<arrived a.txt>") }
        try steward.wait()
        #expect(try steward.notes().occurrences(of: "<arrived a.txt>") == 1)
        try await steward.stop()
    }

    @Test("A user can declare another folder to be the place from now on")
    func accepted() async throws {
        let steward = try agent()
        try await steward.start()
        try steward.drop("disk/a.txt", "a")
        try await steward.until("it is known") { try events(steward).count == 1 }
        try move("disk", "old", steward)
        try steward.folder("disk")
        try await steward.until("its absence shows") { try isAway(steward) }
        #expect(try steward.run(["status"]).output.contains("steward rebuild --accept disk"))
        #expect(try steward.run(["rebuild", "--accept", "disk"]).check().output.contains("count as removed"))
        try await steward.until("what was there is gone") { try events(steward) == ["arrived a.txt", "removed a.txt"] }
        #expect(try !isAway(steward))
        #expect(try steward.run(["rebuild", "--accept", "nowhere"]).status == 64)
        #expect(try steward.run(["rebuild"]).status == 64)
        try await steward.stop()
    }
}
