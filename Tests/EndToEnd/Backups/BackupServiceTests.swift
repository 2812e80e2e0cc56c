import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Backups where other things lie in the state folder, or do not lie where they should.
@Suite("Backups of stores within each other, and of stores that are away")
struct BackupServiceTests {
    /// As the system's service has it: its home is its state folder.
    private func service() async throws -> AgentFixture {
        let steward = try AgentFixture()
        let configuration: BytePath = ".config/steward/steward.yaml"
        let text = try steward.home.read(configuration)
        try steward.home.write(
            configuration, text.replacingOccurrences(of: "~/", with: steward.home.path.text + "/"))
        let state = steward.home.path.appending("state")
        steward.variables["HOME"] = state.text
        steward.variables["STATE_DIRECTORY"] = state.text
        steward.variables["CONFIGURATION_DIRECTORY"] = steward.home.path.appending(".config/steward").text
        try Durable.makeDirectory(state, mode: 0o700)
        try steward.rule(AgentFixture.capturing)
        try await steward.start()
        for number in 1...3 { try steward.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try steward.wait()
        try await steward.stop()
        try steward.home.write("state/.tk/secrets", "key")
        try steward.home.write("state/.tk/config.json", "{}")
        try steward.home.write("state/.local/share/Trash/files/mine", "mine")
        return steward
    }

    private func inStore(_ steward: AgentFixture) throws -> String {
        let store = steward.home.path.appending("state/captures/captures.sqlite").text
        return try steward.shell(["sqlite3", store, "SELECT COUNT(*) FROM experience"]).check().output
    }

    @Test("The service's state is restored in place and anew, and holds neither tk's keys nor the trash, which stays")
    func inState() async throws {
        let steward = try await service()
        try steward.backUp()
        let backup = try #require(try steward.finishedBackups().first)
        #expect(try FileStatus.of(backup.appending("state/.tk")) == nil)
        #expect(try FileStatus.of(backup.appending("state/.local/share/Trash")) == nil)
        #expect(try listDirectory(backup.appending("tk")).map { BytePath(bytes: $0.name) } == ["config.json"])
        try steward.home.write("state/.local/share/later", "later")
        let report = try steward.json(["restore", steward.backups.text, "--replace"])
        #expect(try inStore(steward) == "3\n")
        #expect(try steward.home.read("state/.local/share/Trash/files/mine") == "mine")
        #expect(try steward.home.read("state/.tk/secrets") == "key", "what no backup holds stays")
        let aside = try #require(report["aside"].items.map(\.text).first { $0.contains("/state.before") })
        #expect(try TemporaryFolder.text(BytePath(aside + "/.local/share/later")) == "later")
        try FileManager.default.removeItem(atPath: steward.home.path.appending("state").text)
        try steward.run(["restore", steward.backups.text]).check()
        #expect(try inStore(steward) == "3\n")
        #expect(try steward.home.read("state/.tk/config.json") == "{}")
    }

    @Test("What cannot be put into its place is found before the first name changes")
    func inTheWay() async throws {
        let steward = try await service()
        try steward.home.write("state/spot", "a file")
        try steward.backUp()
        try Durable.remove(steward.home.path.appending("state/spot"))
        steward.variables["TK_HOME"] = steward.home.path.appending("state/spot").text
        try steward.home.write("state/spot/.tk/config.json", "{}")
        try steward.home.write("state/later", "later")
        let refused = try steward.run(["restore", steward.backups.text, "--replace"])
        #expect(refused.status == 1 && refused.errors.contains("nothing was restored"), "\(refused.errors)")
        #expect(try steward.home.read("state/later") == "later")
        let left = try listDirectory(steward.home.path.appending("state")).map { BytePath(bytes: $0.name) }
        #expect(!left.contains("restore.json") && !left.contains(".steward-restore"))
        #expect(try inStore(steward) == "3\n")
    }

    @Test("A vault whose disk is away makes the backup fail, and those that hold it stay")
    func vaultAway() async throws {
        let steward = try AgentFixture.withVault(password: "correct horse battery", rule: AgentFixture.sealing)
        try await steward.start()
        try await steward.stop()
        try steward.backUp()
        let made = try steward.finishedBackups()
        let (vault, away) = (steward.path("vault"), steward.home.path.appending("away"))
        #expect(rename(vault.text, away.text) == 0)
        for isMountPoint in [false, true] {
            if isMountPoint { try Durable.makeDirectory(vault) }
            let refused = try steward.run(["backup", steward.backups.text, "--keep", "1"])
            #expect(refused.status == 1 && refused.errors.contains("mount its disk"), "\(refused.errors)")
            #expect(refused.errors.contains("vaults/main"))
            #expect(try steward.finishedBackups() == made)
        }
        #expect(rmdir(vault.text) == 0 && rename(away.text, vault.text) == 0)
        #expect(try steward.backUp(["--keep", "1"])["removed"].items.count == 1)
    }

    @Test("A folder that others may enter is restored so, and one that they may not is not")
    func modes() async throws {
        let steward = try AgentFixture()
        try await steward.start()
        try await steward.stop()
        let rules = steward.home.path.appending(".config/steward/rules.d")
        let (open, closed) = (rules.parent, rules.appending("closed"))
        try steward.home.write(".config/steward/rules.d/closed/notes.txt", "mine")
        try steward.rule(AgentFixture.capturing)
        for (path, mode) in [(open, 0o755), (rules, 0o775), (closed, 0o700)] as [(BytePath, mode_t)] {
            chmod(path.text, mode)
        }
        try steward.backUp()
        try steward.emptyHome()
        try steward.run(["restore", steward.backups.text]).check()
        #expect(try [open, rules, closed].map { try FileStatus.of($0)?.mode } == [0o755, 0o755, 0o700])
    }
}
