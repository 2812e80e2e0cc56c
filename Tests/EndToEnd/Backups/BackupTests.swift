import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Backups of a busy agent, restored into an empty home.
@Suite("Backups, end to end")
struct BackupTests {
    private static let password = "correct horse battery staple"
    private static let stores: [BytePath] = [".local/state/steward", ".local/share/steward/captures", "Steward/vault"]

    private func home() throws -> AgentFixture {
        let steward = try AgentFixture.withVault(
            password: Self.password, rule: AgentFixture.sealing, configuration: "log: { level: info }")
        try steward.rule("20-captures.yaml", AgentFixture.capturing)
        return steward
    }

    private func comic(_ number: Int) throws -> [UInt8] {
        try packed([Packed(name: "1.png", bytes: picture(number))])
    }

    /// Stops the agent with a signal while the places are copied, like a disk snapshot.
    private func saveAtOnce(_ steward: AgentFixture, _ name: String) throws {
        let agent = try #require(steward.processID)
        kill(agent, SIGSTOP)
        defer { kill(agent, SIGCONT) }
        try steward.savePlaces(as: name)
    }

    @Test(
        "Made under load and restored to an empty home, each backup is consistent, and the agent goes on without loss"
    )
    func underLoad() async throws {
        let steward = try home()
        try await steward.start()
        let rounds = 3
        var held: [Bool] = []
        for round in 1...rounds {
            // Slow to read but small, so that much happens between the first look and the last.
            try steward.home.write(".tk/large", "\(round)")
            let large = try Descriptor(steward.home.path.appending(".tk/large"), O_RDWR)
            try large.truncate(to: 512 << 20)
            for number in 1...40 {
                try steward.drop(BytePath("dropbox/\(round)-\(number).md"), "capture \(round)-\(number)")
                if number % 10 == 0 {
                    try steward.moveIn(BytePath("comics/Heron \(round)-\(number).cbz"), try comic(round * 100 + number))
                }
            }
            try await steward.until("some of it is done") { try steward.trash().count > (round - 1) * 40 + 3 }
            let answer = try steward.backUp()
            held.append(answer["consistency"].text == "held")
            #expect(held.last == true || answer["consistency"].text == "step-at-work")
            try saveAtOnce(steward, "\(round)")
        }
        try steward.wait()
        try await steward.stop()
        let made = try steward.finishedBackups()
        #expect(made.count == rounds)
        for round in 1...rounds {
            try steward.emptyHome()
            try steward.run(["restore", "--verify", made[round - 1].text]).check()
            try steward.restoreAll(made[round - 1])
            try steward.bringPlaces(from: "\(round)")
            let written = try steward.inNotes()
            let lying = Set(try steward.files("dropbox").map { try TemporaryFolder.text($0) })
            let waiting = Set(try steward.files("comics").map(\.nameText))
            #expect(try steward.inLedger("PRAGMA integrity_check") == "ok")
            func done(_ action: String) throws -> Int? {
                Int(try steward.inLedger("SELECT COUNT(*) FROM step WHERE action = '\(action)' AND state = 'done'"))
            }
            let (stored, sealed) = (try #require(try done("index-capture")), try #require(try done("import-comic")))
            let (texts, drops) = (try steward.inStore().count, try steward.numberOfDrops())
            #expect(texts >= stored && drops >= sealed, "what has a receipt is there")
            if held[round - 1] { #expect(texts == stored && drops == sealed, "what is there has a receipt") }
            try await steward.start()
            try steward.wait()
            let notes = try steward.inNotes()
            for number in 1...40 {
                let text = "capture \(round)-\(number)"
                // Its block was written after the backup, and its file still existed when the places were copied.
                let isInBoth = lying.contains(text) && written[text] != nil
                #expect(notes[text] == 1 || isInBoth && notes[text] == 2, "\(text) in the notes")
            }
            let kept = try steward.inStore()
            #expect(Set(kept).count == kept.count, "none is in the store twice")
            #expect(lying.isSubset(of: kept), "what lay there has been taken in")
            #expect(try steward.files("dropbox").isEmpty && steward.leftovers().isEmpty)
            #expect(try steward.status().parked.map(\.problem) == [])
            try steward.vault(["unlock"], password: Self.password).check()
            try await steward.until("no deposit waits") { try steward.numberOfDrops() == 0 }
            try steward.vault(["verify"]).check()
            let comics = try steward.comicsInVault().map { $0["name"].text }
            #expect(Set(comics).count == comics.count, "none is in the vault twice")
            #expect(waiting.isSubset(of: comics), "what lay there is in the vault")
            try steward.drop("dropbox/after.md", "after \(round)")
            try steward.wait()
            #expect(try steward.inNotes()["after \(round)"] == 1)
            try await steward.stop()
        }
    }

    @Test("Every file of a restored home has its original bytes, and the vault opens as before")
    func equal() async throws {
        let steward = try home()
        try await steward.start()
        for number in 1...5 { try steward.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try steward.moveIn("dropbox/dot.png", picture(7))
        try steward.moveIn("comics/Heron 1.cbz", try comic(1))
        try steward.moveIn("comics/broken.cbz", Array("PK no comic".utf8))
        try steward.wait()
        try steward.vault(["unlock"], password: Self.password).check()
        try await steward.waitForDeposits(1)
        try await steward.until("no deposit waits") { try steward.numberOfDrops() == 0 }
        try steward.moveIn("comics/Heron 2.cbz", try comic(2))
        try steward.wait()
        try steward.backUp()
        try await steward.stop()
        try steward.savePlaces(as: "end")
        let before = try Self.stores.map { try steward.hashes(below: $0) }
        let (texts, jobs) = (try steward.inStore(), try steward.inLedger("SELECT id, state FROM job ORDER BY id"))
        try steward.emptyHome()
        try steward.restoreAll(steward.backups)
        #expect(try Self.stores.map { try steward.hashes(below: $0) } == before)
        #expect(try steward.inStore() == texts && steward.inLedger("SELECT id, state FROM job ORDER BY id") == jobs)
        #expect(try FileStatus.of(steward.home.path.appending(".local/state/steward/ledger.sqlite"))?.mode == 0o600)
        try steward.bringPlaces(from: "end")
        try await steward.start()
        try steward.wait()
        #expect(try steward.inLedger("SELECT COUNT(*) FROM job").description == "\(jobs.split(separator: "\n").count)")
        let unlocked = try steward.vault(["unlock"], password: Self.password).check()
        #expect(!unlocked.errors.contains("differs from its last state"))
        #expect(Set(try steward.comicsInVault().map { $0["name"].text }) == ["Heron 1.cbz", "Heron 2.cbz"])
        try steward.run(["dots", "check"]).check()
        try steward.vault(["verify"]).check()
    }

    @Test(
        "On another machine, pending work is done once, and finished work is not repeated despite new inodes"
    )
    func moved() async throws {
        let steward = try AgentFixture()
        try steward.addPlace("papers")
        try steward.rule(
            """
            - rule: Arrivals
              in: papers
              on: [arrived, changed, removed]
              settle: 50ms
              do: [{ append-block: { heading: Papers, text: "got {{ event }} {{ file.name }}" } }]
            """)
        try steward.rule("20-captures.yaml", AgentFixture.capturing)
        try await steward.start()
        for number in 1...20 { try steward.drop(BytePath("papers/\(number).txt"), "paper \(number)") }
        try steward.wait()
        try steward.run(["pause"]).check()
        for number in 1...5 { try steward.drop(BytePath("dropbox/\(number).md"), "waits \(number)") }
        try steward.wait()
        try await steward.stop()
        #expect(try steward.backUp()["consistency"].text == "stopped")
        try steward.savePlaces(as: "moved")
        try steward.shell(["cp", "-a", steward.path("papers").text, steward.home.path.appending("saved-moved").text])
            .check()
        try steward.emptyHome()
        try steward.run(["restore", steward.backups.text]).check()
        try steward.bringPlaces(from: "moved")
        try steward.shell(["cp", "-a", steward.home.path.appending("saved-moved/papers").text, steward.path("").text])
            .check()
        try await steward.start()
        try steward.run(["resume"]).check()
        try steward.wait()
        let expected = (1...20).map { "arrived \($0).txt" } + (1...5).map { "waits \($0)" }
        #expect(try steward.inNotes() == Dictionary(uniqueKeysWithValues: expected.map { ($0, 1) }))
        #expect(try steward.inStore() == (1...5).map { "waits \($0)" })
        #expect(try steward.status().parked.map(\.problem) == [])
    }

    @Test(
        "Unchanged files are shared with the previous backup, never with the store; old backups go after a new one"
    )
    func shared() async throws {
        let steward = try home()
        try await steward.start()
        try steward.moveIn("comics/Heron 1.cbz", try comic(1))
        try steward.moveIn("dropbox/dot.png", picture(7))
        try steward.wait()
        try steward.backUp()
        let first = try #require(try steward.finishedBackups().first)
        try steward.moveIn("comics/Heron 2.cbz", try comic(2))
        try steward.wait()
        #expect(try #require(try steward.backUp()["linked"].number) > 3)
        let second = try #require(try steward.finishedBackups().last)
        func inode(_ path: BytePath) throws -> UInt64? { try FileStatus.of(path)?.inode }
        let drop = try #require(try listDirectory(first.appending("vaults/main/drop")).first)
        let name = BytePath("vaults/main/drop").appending(name: drop.name)
        #expect(try inode(first.appending(name)) == inode(second.appending(name)))
        let original = try #require(try FileStatus.of(steward.path("vault/drop").appending(name: drop.name)))
        #expect(original.links == 1, "who destroys a comic overwrites its file, which must be nobody else's")
        try await steward.stop()
        let anew = try steward.backUp(["--anew", "--keep", "2"])
        #expect(anew["linked"].number == 0)
        #expect(anew["removed"].items.map(\.text) == [first.description])
        #expect(try steward.finishedBackups().count == 2 && steward.finishedBackups().first == second)
        for backup in try steward.finishedBackups() {
            try steward.run(["restore", "--verify", backup.text]).check()
            try steward.shell(["sh", "-c", "cd '\(backup.text)' && sha256sum --check --strict manifest.sha256"]).check()
        }
        // It removes nothing of another agent's.
        steward.variables["STEWARD_STATE"] = steward.home.path.appending("other").text
        try steward.run(["pause"])
        try await steward.start()
        try await steward.stop()
        try steward.backUp(["--keep", "1"])
        #expect(try steward.finishedBackups().count == 3)
    }
}
