import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Which of a file's properties are taken over with its content, and which are not.
@Suite("Owners, links and modes of imported files")
struct ForeignFileTests {
    @Test("A comic whose sender keeps a link to it is copied into the library, without setuid; the log names both")
    func linked() async throws {
        let steward = try AgentFixture()
        steward.variables["STEWARD_RULES"] = ShippedRules.folder.text
        try await steward.start()
        let kept = steward.home.path.appending("kept.cbz")
        let bytes = try packed([Packed(name: "1.png", bytes: picture(1))])
        try steward.moveIn("comics/Saga 01.cbz", bytes) { staged in
            guard link(staged.text, kept.text) == 0 else { throw Fault.system("link", kept) }
            chmod(staged.text, 0o4755)
        }
        try steward.wait()
        let file = steward.path("library/Saga/Saga 01.cbz")
        try expectOwn(file, kept, bytes)
        try expectNamed(["setuid", "link"], steward)
        try await steward.stop()
    }

    @Test(
        "A comic of another user belongs to the agent's user in the library; the sender's link changes nothing there",
        .enabled(if: TestUser.areBothHere, Comment(rawValue: TestUser.comment)))
    func foreign() async throws {
        let users = try TwoUsers()
        let steward = users.steward
        try steward.rule("20-comics.yaml", try ShippedRules.read("20-comics.yaml"))
        let bytes = try packed([Packed(name: "1.png", bytes: picture(1))])
        let staged = try steward.home.write("staged", bytes)
        try await steward.start()
        try users.attack(
            "cp \"$1\" out/kept.cbz; chmod 4755 out/kept.cbz; ln out/kept.cbz \"comics/Saga 01.cbz\"", [staged.text])
        try steward.wait()
        let file = steward.path("library/Saga/Saga 01.cbz")
        try expectOwn(file, steward.path("out/kept.cbz"), bytes)
        #expect(try FileStatus.of(file)?.owner == TestUser.victim.id)
        try users.attack("printf changed > out/kept.cbz")
        #expect(try Descriptor(file).readAll() == bytes)
        try expectNamed(["setuid", "link", "owner"], steward)
        try await steward.stop()
    }

    private func expectOwn(_ file: BytePath, _ kept: BytePath, _ bytes: [UInt8]) throws {
        let status = try #require(try FileStatus.of(file))
        #expect(try FileStatus.of(kept)?.inode != status.inode)
        #expect(status.links == 1)
        #expect(status.mode & 0o7000 == 0, "\(String(status.mode, radix: 8))")
        #expect(try Descriptor(file).readAll() == bytes)
    }

    /// Dropped files are listed in the history.
    private func expectNamed(_ words: [String], _ steward: AgentFixture) throws {
        let told = try steward.loggedLines().map(\.message).filter { $0.contains("Saga 01.cbz") }.joined(
            separator: "\n")
        for word in words { #expect(told.contains(word), "the log names what was dropped: \(told)") }
    }

    @Test("A capture readable only by its owner creates a note readable only by its owner; a note keeps its own mode")
    func noteMode() async throws {
        let steward = try AgentFixture()
        try steward.rule(
            """
            - rule: New
              in: dropbox
              where: { name: "new*" }
              settle: 100ms
              do: [append-block: { note: "{{ file.stem }}", text: "{{ file.text }}" }]
            - rule: Today
              in: dropbox
              where: { name: "[ctw]*" }
              settle: 100ms
              do:
                - index-capture
                - append-block: { text: "{{ capture.text }}" }
                - write-note: { place: notes, folder: written, name: "{{ file.stem }}", text: "{{ file.text }}" }
            - rule: There
              in: dropbox
              where: { name: "old*" }
              settle: 100ms
              do: [append-block: { note: there, text: "{{ file.text }}" }]
            """)
        func drop(_ name: String, _ mode: mode_t) throws {
            try steward.moveIn(BytePath("dropbox/\(name)"), Array("Text of \(name).\n".utf8)) { chmod($0.text, mode) }
        }
        func mode(_ note: BytePath) throws -> mode_t? { try FileStatus.of(steward.path(note))?.mode }
        let there = try steward.drop("notes/there.md", "Mine.\n")
        chmod(there.text, 0o640)
        try await steward.start()
        try drop("closed.txt", 0o600)
        try drop("new-closed.txt", 0o600)
        try drop("old-closed.txt", 0o600)
        try steward.wait()
        #expect(try mode(steward.today()) == 0o600)
        #expect(try mode("notes/new-closed.md") == 0o600)
        #expect(try mode("notes/written/closed.md") == 0o600)
        #expect(try mode("notes/there.md") == 0o640)
        // An open file neither widens the note's mode nor is refused.
        try drop("closed-not.txt", 0o666)
        try drop("new-open.txt", 0o666)
        try steward.wait()
        #expect(try steward.read(steward.today()).contains("Text of closed-not.txt."))
        #expect(try mode(steward.today()) == 0o600)
        // Read from /proc: setting the mask would set it for all tests.
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("Umask:") })
        let mask = try #require(mode_t(line.dropFirst(6).trimmingCharacters(in: .whitespaces), radix: 8))
        #expect(try mode("notes/new-open.md") == 0o644 & ~mask, "no wider than the note's own default")
        try await steward.stop()
    }
}
