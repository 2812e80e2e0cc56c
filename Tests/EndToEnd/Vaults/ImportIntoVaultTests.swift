import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// Comics through the built agent into a vault, locked and unlocked.
@Suite("Importing comics into a vault, end to end")
struct ImportIntoVaultTests {
    private static let password = "correct horse battery staple"

    private func comic(_ number: Int, _ packing: Packing = .storedZip) throws -> [UInt8] {
        try packed([Packed(name: "1.png", bytes: picture(number))], packing)
    }

    @Test("Dropped while locked and while unlocked, all are in the vault once, byte for byte, and nowhere else")
    func lockedAndUnlocked() async throws {
        let steward = try AgentFixture.withVault(password: Self.password, rule: AgentFixture.sealing)
        try await steward.start()
        try steward.moveIn("comics/Heron 1.cbz", try comic(1))
        try steward.moveIn("comics/Heron/2.cbt", try comic(2, .tar))
        try steward.wait()
        #expect(try steward.numberOfDrops() == 2)
        #expect(try steward.files("comics").isEmpty)
        try steward.vault(["unlock"], password: Self.password).check()
        try await steward.waitForDeposits(2)
        // A deposit is removed once it is recorded as taken.
        try await steward.until("no deposit waits") { try steward.numberOfDrops() == 0 }
        try steward.moveIn("comics/Heron 3.cb7", try comic(3, .sevenZip))
        try steward.moveIn("comics/again.cbz", try comic(1))
        try steward.wait()
        let comics = try steward.comicsInVault()
        #expect(Set(comics.map { $0["name"].text }) == ["Heron 1.cbz", "2.cbt", "Heron 3.cb7"])
        #expect(comics.first { $0["name"].text == "2.cbt" }?["series"].text == "Heron", "its folder names the series")
        #expect(try steward.files("comics").isEmpty && steward.files("library").isEmpty)
        for (name, bytes) in [("Heron 1.cbz", try comic(1)), ("2.cbt", try comic(2, .tar))] {
            let target = steward.home.path.appending("out-comic")
            try steward.vault(["extract", name, "--output", target.text]).check()
            #expect(try ContentHash.ofFile(target) == ContentHash(of: bytes))
            try Durable.remove(target)
        }
        try steward.vault(["verify"]).check()
    }

    @Test("`explain` finds a file's past by its name, which the ledger does not contain; undo brings it back")
    func explained() async throws {
        let steward = try AgentFixture.withVault(password: Self.password, rule: AgentFixture.sealing)
        try await steward.start()
        try steward.moveIn("comics/Heron 1.cbz", try comic(1))
        try steward.wait()
        let past = try steward.past("comics/Heron 1.cbz")
        #expect(past.count == 1 && past.first?["state"].text == "done")
        #expect(past.first?["done"].items.first?.text.contains("sealed to the vault main") == true)
        let job = try #require(past.first?["job"].text)
        #expect(try steward.run(["undo", job]).status != 0, "the vault is locked")
        try await steward.stop()
        try await steward.start()
        #expect(try steward.past("comics/Heron 1.cbz").count == 1)
        try steward.vault(["unlock"], password: Self.password).check()
        // The agent may continue before it is asked to.
        try await steward.until("it is taken back") {
            _ = try steward.run(["undo", job])
            return try steward.past("comics/Heron 1.cbz").first?["state"].text == "undone"
        }
        #expect(try ContentHash.ofFile(steward.path("comics/Heron 1.cbz")) == ContentHash(of: try comic(1)))
        #expect(try steward.comicsInVault().isEmpty)
        try steward.wait()
        #expect(try steward.comicsInVault().isEmpty, "what a person has taken back is not imported again")
    }

    @Test("A file that went and came back while the agent was down arrives like any other")
    func cameBack() async throws {
        let rule = AgentFixture.sealing.replacingOccurrences(of: "main }", with: "main, source: keep }")
        let steward = try AgentFixture.withVault(password: Self.password, rule: rule)
        try await steward.start()
        try steward.moveIn("comics/Heron 1.cbz", try comic(1))
        try steward.wait()
        #expect(try steward.numberOfDrops() == 1)
        try await steward.stop()
        try await steward.start()
        try steward.wait()
        #expect(try steward.numberOfDrops() == 1, "what lies there is known by its name's keyed hash")
        try await steward.stop()
        try Durable.remove(steward.path("comics/Heron 1.cbz"))
        try await steward.start()
        try steward.wait()
        try await steward.until("its absence is seen") {
            try steward.moveIn("comics/Heron 1.cbz", try self.comic(2))
            try steward.wait()
            return try steward.numberOfDrops() == 2
        }
    }

    @Test("The shipped example works unchanged once the vault exists, without warnings")
    func example() async throws {
        let steward = try AgentFixture()
        try steward.vault(["init"], password: Self.password).check()
        try steward.rule("20-comics.yaml", try ShippedRules.read("21-comic-vault.yaml.example"))
        #expect(try steward.json(["check"])["diagnostics"].items.map { $0["message"].text } == [])
        try await steward.start()
        try steward.moveIn("comics/Heron 1.cbz", try comic(1))
        try steward.wait()
        #expect(try steward.count("A comic of 1 pages: deposited in the vault main") == 1)
        #expect(try !steward.notes().contains("Heron"))
    }

    /// Both while the vault is locked and while it is open: sealed and not verified, verified without a name, taken and
    /// not recorded, recorded with the source still there.
    @Test(
        "Wherever the agent is killed during an import, no comic is lost or duplicated",
        arguments: [("sealed:2", false), ("verified:3", false), ("imported:2", true), ("noted:1", true)])
    func killed(_ point: String, isUnlocked: Bool) async throws {
        let steward = try AgentFixture.withVault(password: Self.password, rule: AgentFixture.sealing)
        try await steward.start(endingAt: point)
        if isUnlocked { try steward.vault(["unlock"], password: Self.password).check() }
        for number in 1...3 { try steward.moveIn(BytePath("comics/\(number).cbz"), try comic(number)) }
        try await steward.endedThere()
        try await steward.start()
        try steward.vault(["unlock"], password: Self.password).check()
        try steward.wait()
        try await steward.waitForDeposits(3)
        try await steward.until("no deposit waits") { try steward.numberOfDrops() == 0 }
        // A source goes last, after its deposit is recorded as taken.
        try await steward.until("no source is left") { try steward.files("comics").isEmpty }
        #expect(Set(try steward.comicsInVault().map { $0["name"].text }) == ["1.cbz", "2.cbz", "3.cbz"])
        try steward.vault(["verify"]).check()
    }

    /// The third is the source's hidden rename; the ones before are the deposit's.
    @Test("Killed while its source is hidden for removal, nothing is left of a comic", arguments: 1...3)
    func killedInRemoval(_ number: Int) async throws {
        let steward = try AgentFixture.withVault(password: Self.password, rule: AgentFixture.sealing)
        try await steward.start(endingAt: "renamed:\(number)")
        try steward.moveIn("comics/Shelf/1.cbz", try comic(1))
        try await steward.endedThere()
        try await steward.start()
        try steward.wait()
        #expect(try steward.files("comics") == [])
        try steward.vault(["unlock"], password: Self.password).check()
        try await steward.waitForDeposits(1)
        #expect(try steward.comicsInVault().map { $0["name"].text } == ["1.cbz"])
        #expect(try steward.past("comics/Shelf/1.cbz").map { $0["state"].text } == ["done"])
    }

    @Test("A refused comic is quarantined with a reason that does not name it, and comes back under its name")
    func refused() async throws {
        let steward = try AgentFixture.withVault(password: Self.password, rule: AgentFixture.sealing)
        try await steward.start()
        let bytes = try packed([Packed(name: "../Heron.png", bytes: picture(1))])
        try steward.moveIn("comics/Heron/bad.cbz", bytes)
        try steward.wait()
        let held = try #require(try steward.json(["quarantine"]).items.first)
        #expect(held["code"].text == "traversal" && held["path"].text == "Heron/bad.cbz")
        #expect(!held["reason"].text.contains("Heron"))
        try steward.run(["quarantine", "restore", held["id"].text]).check()
        #expect(try ContentHash.ofFile(steward.path("comics/Heron/bad.cbz")) == ContentHash(of: bytes))
    }

    @Test("`check` warns of steps and rules that write hidden names elsewhere, and of a missing vault")
    func warnings() throws {
        let steward = try AgentFixture()
        try steward.rule(
            AgentFixture.sealing + "\n" + """
                    - append-block: { note: today, text: "{{ comic.title }}" }
                - rule: Copy
                  in: comics
                  do: { copy: { place: library } }
                - rule: Unrelated
                  in: comics
                  where: { extension: md }
                  do: { copy: { place: library } }
                """)
        let complaints = try steward.json(["check"])["diagnostics"].items.map { $0["message"].text }
        #expect(complaints.count == 2, "\(complaints)")
        #expect(complaints.count { $0.contains("`comic.title` in the clear") } == 1, "\(complaints)")
        #expect(complaints.count { $0.contains("`copy` leaves the file's name in the clear") } == 1, "\(complaints)")
    }
}
