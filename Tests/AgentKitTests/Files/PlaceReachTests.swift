import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("What a place accepts, and how its files are reached", .ownThreads)
struct PlaceReachTests {
    private static let rule = """
        - rule: Captures
          in: dropbox
          on: [arrived]
          settle: 100ms
          do:
            - append-block: { note: inbox, heading: Captures, anchor: cap, text: "<{{ file.name }}>" }
            - trash
        """

    /// - Parameter keys: additional keys of a place, by the place's name.
    private func agent(_ keys: [String: String] = [:], _ configuration: String = "") throws -> AgentFixture {
        let steward = try AgentFixture.inside(configuration: configuration)
        try steward.rule("10-captures.yaml", Self.rule)
        let file: BytePath = ".config/steward/steward.yaml"
        var text = try steward.home.read(file)
        for (place, more) in keys {
            let path = steward.path(BytePath(place))
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("  \(place):") })
            text = text.replacingOccurrences(
                of: line, with: line.replacingOccurrences(of: " }", with: ", \(more) }"))
            #expect(try FileStatus.of(path) != nil)
        }
        try steward.home.write(file, text)
        try steward.run(["check"]).check()
        return steward
    }

    @Test("A note that is a link is written only if its place follows links, and explain mentions links")
    func links() async throws {
        for follows in [false, true] {
            let steward = try agent(follows ? ["notes": "follow-links: inside"] : [:])
            try steward.home.write("Steward/notes/real/there.md", "# There\n")
            symlink("real/there.md", steward.path("notes/inbox.md").text)
            symlink("real", steward.path("notes/folder").text)
            try await steward.start()
            try steward.drop("dropbox/a.txt", "a")
            try steward.wait()
            let note = try steward.read("notes/real/there.md")
            #expect(note.contains("<a.txt>") == follows, "\(note)")
            #expect(try steward.exists("dropbox/a.txt") != follows)
            #expect(try FileStatus.of(steward.path("notes/inbox.md"))?.kind == .link)
            let told = try steward.run(["explain", steward.path("notes/inbox.md").text]).check().output
            #expect(told.contains("symbolic link"), "\(told)")
            let behind = try steward.run(["explain", steward.path("notes/folder/there.md").text]).check().output
            #expect(behind.contains("a folder on the way to it is a symbolic link") != follows, "\(behind)")
            try await steward.stop()
        }
    }

    @Test("A file beyond its place's limit stays unread in its place, and is reported until it is smaller")
    func size() async throws {
        let steward = try agent(["dropbox": "limits: { size: 1 KiB }"], "log: { format: json }")
        try await steward.start()
        try steward.drop("dropbox/large.txt", String(repeating: "x", count: 2000))
        try steward.drop("dropbox/small.txt", "x")
        try await steward.until("the small one is taken") { try steward.notes().contains("<small.txt>") }
        try steward.wait()
        #expect(try steward.exists("dropbox/large.txt") && !steward.notes().contains("large"))
        #expect(try steward.run(["status"]).check().output.contains("too large: large.txt (2000 bytes"))
        let told = try steward.logged("large.txt in dropbox is refused: it has 2000 bytes")
        #expect(told.map { [$0["place"].text, $0["path"].text] } == [["dropbox", "large.txt"]])
        let explained = try steward.run(["explain", steward.path("dropbox/large.txt").text]).check().output
        #expect(explained.contains("more than the 1024 that dropbox accepts"), "\(explained)")
        try steward.drop("dropbox/large.txt", "now small")
        try await steward.until("it is taken") { try steward.notes().contains("<large.txt>") }
        #expect(try !steward.run(["status"]).check().output.contains("too large"))
        try await steward.stop()
    }

    @Test("A refused file stays in its place if quarantine is full, and the history says so")
    func quota() async throws {
        let steward = try agent([:], "quarantine: { size: 8 KiB }")
        try steward.rule(
            "20-comics.yaml", "- { rule: Comics, in: comics, settle: 100ms, do: [import-comic] }\n")
        try await steward.start()
        try steward.drop("comics/a.cbz", String(repeating: "no comic", count: 4000))
        try steward.wait()
        #expect(try steward.exists("comics/a.cbz"))
        #expect(try steward.loggedLines().contains { $0.message.contains("quarantine is full") })
        try steward.drop("comics/b.cbz", "no comic")
        try steward.wait()
        #expect(try !steward.exists("comics/b.cbz"))
        try await steward.stop()
    }
}
