import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("File attributes other than content, end to end", .ownThreads)
struct AttributeEventTests {
    private func tag(_ steward: AgentFixture, _ path: BytePath, _ value: String) throws {
        let file = try Descriptor(steward.path(path))
        try ExtendedAttributes.set("user.xdg.tags", Array(value.utf8), on: file)
    }

    @Test("A tag set later moves the file, while the agent runs and while it does not")
    func tagSetLater() async throws {
        let steward = try AgentFixture.inside()
        try steward.addPlace("out")
        try steward.rule(
            """
            - rule: Later
              in: drafts
              settle: 100ms
              where: { xattr: { user.xdg.tags: "*later*" } }
              do: [ { move: { place: out } } ]
            - rule: Changed
              in: drafts
              on: changed
              settle: 100ms
              do: [ { trash: {} } ]
            """)
        try await steward.start()
        for name in ["a.txt", "b.txt", "c.txt"] { try steward.drop(BytePath("drafts/\(name)"), name) }
        try steward.wait()
        try tag(steward, "drafts/a.txt", "read later")
        try tag(steward, "drafts/c.txt", "something else")
        try steward.wait()
        #expect(try steward.files("out").map(\.nameText) == ["a.txt"])
        try await steward.stop()
        try tag(steward, "drafts/b.txt", "later")
        try await steward.start()
        try steward.wait()
        #expect(try steward.files("out").map(\.nameText).sorted() == ["a.txt", "b.txt"])
        #expect(try steward.files("drafts").map(\.nameText) == ["c.txt"], "a tag is no change for a rule on content")
    }

    @Test("A rule that sets the tag it tests runs once for each tag set by others")
    func ownTag() async throws {
        let steward = try AgentFixture.inside()
        try steward.addPlace("out")
        try steward.rule(
            """
            - rule: Seen
              in: drafts
              on: changed
              settle: 100ms
              where: { xattr: { user.xdg.tags: present } }
              do:
                - tag: { add: [seen] }
                - copy: { place: out, name: "{{ job.id }}.txt" }
            """)
        try await steward.start()
        try steward.drop("drafts/a.txt", "text\n")
        try steward.wait()
        try tag(steward, "drafts/a.txt", "one")
        try steward.wait()
        #expect(try steward.files("out").count == 1)
        try tag(steward, "drafts/a.txt", "two")
        try steward.wait()
        #expect(try steward.files("out").count == 2)
        try await steward.stop()
        try await steward.start()
        try steward.wait()
        #expect(try steward.files("out").count == 2, "nor after a restart")
    }

    @Test("Of the existing files all but one of each content are duplicates, and full folders are reported")
    func duplicates() async throws {
        let steward = try AgentFixture.inside()
        try steward.addPlace("out")
        try steward.rule(
            """
            - rule: Twins
              in: drafts
              existing: process
              settle: 100ms
              where: { duplicate-of: here }
              do: [ { move: { place: out, folder: twins } } ]
            - rule: Full
              in: comics
              settle: 100ms
              where: { count: "> 2" }
              do: [ { copy: { place: out, folder: full } } ]
            """)
        for number in 0..<6 { try steward.drop(BytePath("drafts/\(number).txt"), "content \(number % 2)") }
        try await steward.start()
        try steward.wait()
        #expect(try steward.files("out/twins").count == 4)
        #expect(try Set(steward.files("drafts").map { try TemporaryFolder.text($0) }).count == 2)
        for name in ["a", "b"] { try steward.drop(BytePath("comics/\(name).txt"), name) }
        try steward.wait()
        #expect(try !steward.exists("out/full"))
        try steward.drop("comics/c.txt", "c")
        try steward.wait()
        #expect(try steward.files("out/full").map(\.nameText) == ["c.txt"])
    }
}
