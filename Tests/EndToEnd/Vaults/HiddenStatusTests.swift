import ComicTestSupport
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Hidden comics in reports about the agent's work.
@Suite("Hidden comics in status and doctor")
struct HiddenStatusTests {
    private static let password = "korrekte Pferde-Batterie"

    private func told(_ steward: AgentFixture) throws -> String {
        try [["status"], ["status", "--json"], ["health"], ["doctor"], ["vault", "status"]].map {
            let result = try steward.run($0)
            return result.output + result.errors
        }.joined()
    }

    @Test("None is named while it settles or waits for its vault")
    func settlingAndWaiting() async throws {
        let rule = AgentFixture.sealing.replacing("200ms", with: "1h")
        let steward = try AgentFixture.withVault(password: Self.password, rule: rule)
        try await steward.start()
        let comic = try packed([Packed(name: "1.png", bytes: picture(1))], .storedZip)
        try steward.moveIn("comics/Zwielicht/Coelacanthus.cbz", comic)
        try await steward.until("it settles") { try steward.status().settling.count == 1 }
        let settling = try told(steward)
        #expect(!settling.contains("Coelacanthus") && !settling.contains("Zwielicht"), "\(settling)")
        #expect(try steward.status().settling.first?.path.text.hasPrefix("hidden-") == true)
        try await steward.stop()
        let vault = steward.path("vault")
        #expect(rename(vault.text, steward.path("aside").text) == 0)
        try steward.rule(AgentFixture.sealing)
        try await steward.start()
        try await steward.until("it waits for its vault") {
            let status = try steward.status()
            return !(status.waiting + status.parked).isEmpty
        }
        let waiting = try told(steward)
        #expect(!waiting.contains("Coelacanthus") && !waiting.contains("Zwielicht"), "\(waiting)")
        #expect(rename(steward.path("aside").text, vault.text) == 0)
        try await steward.until("it is deposited") { try steward.numberOfDrops() == 1 }
        try await steward.stop()
    }

    @Test(
        "None that is unreadable is named",
        .enabled(if: geteuid() != 0 || TestUser.areBothHere, Comment(rawValue: TestUser.comment)))
    func unreadable() async throws {
        let isRoot = geteuid() == 0
        let steward = try AgentFixture(as: isRoot ? .victim : nil)
        try steward.rule(AgentFixture.sealing + "\n- { rule: Other, in: dropbox, do: [trash] }\n")
        try steward.vault(["init"], password: Self.password).check()
        try steward.moveIn("comics/Coelacanthus.cbz", [1, 2, 3])
        try steward.moveIn("dropbox/letter.txt", [1, 2, 3])
        for name in ["comics/Coelacanthus.cbz", "dropbox/letter.txt"] {
            #expect(chmod(steward.path(BytePath(name)).text, 0) == 0)
        }
        if isRoot {
            let user = "\(TestUser.victim.id)"
            try steward.shell(["/bin/chown", "-R", "\(user):\(user)", steward.home.path.text]).check()
        }
        try await steward.start()
        try await steward.until("both are passed over") {
            try steward.status().places.flatMap(\.unreadable).count == 2
        }
        let told = try told(steward)
        #expect(!told.contains("Coelacanthus"), "\(told)")
        #expect(told.contains("letter.txt") && told.contains("a hidden comic"))
        try await steward.stop()
    }
}
