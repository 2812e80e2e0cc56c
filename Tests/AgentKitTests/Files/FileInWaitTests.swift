import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// What happens to a job whose file changes or is renamed while it waits.
@Suite("Files that change while their job waits", .ownThreads)
struct FileInWaitTests {
    private static func rule(settle: String) -> String {
        """
        - rule: Tagged
          in: dropbox
          on: [arrived, changed]
          settle: \(settle)
          do:
            - write-note: { place: notes, name: "{{ file.stem }}", text: "{{ file.text }}", exists: same }
            - tag: { add: [seen] }
        """
    }

    /// Drops a file whose job waits because the place for the note is away.
    private func waiting(_ settle: String) async throws -> (AgentFixture, back: () throws -> Void) {
        let steward = try AgentFixture.inside()
        try steward.rule(Self.rule(settle: settle))
        try await steward.start()
        let (notes, away) = (steward.path("notes"), steward.home.path.appending("away"))
        #expect(rename(notes.text, away.text) == 0)
        try steward.drop("dropbox/a.txt", "first")
        try await steward.until("the job waits") { try steward.status().waiting.count == 1 }
        return (steward, { #expect(rename(away.text, notes.text) == 0) })
    }

    private func tags(_ path: BytePath) throws -> String {
        String(decoding: try ExtendedAttributes.value("user.xdg.tags", of: Descriptor(path)) ?? [], as: UTF8.self)
    }

    @Test("A file saved before it is tagged is noticed anyway")
    func savedMeanwhile() async throws {
        let (steward, back) = try await waiting("3s")
        // Judged three seconds from now, and tagged as soon as the place is back.
        try steward.drop("dropbox/a.txt", "second")
        try back()
        try await steward.until("the second version is in a note") { try steward.notes().contains("second") }
        try steward.wait()
        #expect(try tags(steward.path("dropbox/a.txt")) == "seen")
    }

    @Test("A file renamed before it is tagged is tagged under its new name")
    func renamedMeanwhile() async throws {
        let (steward, back) = try await waiting("50ms")
        #expect(rename(steward.path("dropbox/a.txt").text, steward.path("dropbox/b.txt").text) == 0)
        try await steward.until("the new name is known") {
            try steward.json(["explain", steward.path("dropbox/b.txt").text])["isKnown"].isTrue
        }
        try back()
        try await steward.until("it is tagged") { try self.tags(steward.path("dropbox/b.txt")) == "seen" }
        try steward.wait()
        #expect(try steward.status().parked.isEmpty)
    }
}
