import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Backups when other data is in the state folder, or data is missing from its place.
@Suite("Backups of nested and unavailable stores")
struct BackupServiceTests {
    @Test("The service's state is restored in place and to a new folder, without tk's keys and the trash, which stays")
    func inState() async throws {
        let steward = try await AgentFixture.service()
        try steward.backUp()
        let backup = try #require(try steward.finishedBackups().first)
        #expect(try FileStatus.of(backup.appending("state/.tk")) == nil)
        #expect(try FileStatus.of(backup.appending("state/.local/share/Trash")) == nil)
        #expect(try listDirectory(backup.appending("tk")).map { BytePath(bytes: $0.name) } == ["config.json"])
        try steward.home.write("state/.local/share/later", "later")
        let report = try steward.json(["restore", steward.backups.text, "--replace"])
        #expect(try steward.inServiceStore() == "3\n")
        #expect(try steward.home.read("state/.local/share/Trash/files/mine") == "mine")
        #expect(try steward.home.read("state/.tk/secrets") == "key", "what no backup holds stays")
        let aside = try #require(report["aside"].items.map(\.text).first { $0.contains("/state.before") })
        #expect(try TemporaryFolder.text(BytePath(aside + "/.local/share/later")) == "later")
        try FileManager.default.removeItem(atPath: steward.home.path.appending("state").text)
        try steward.run(["restore", steward.backups.text]).check()
        #expect(try steward.inServiceStore() == "3\n")
        #expect(try steward.home.read("state/.tk/config.json") == "{}")
    }

    @Test("The service's backup is restored to another home only on request, with advice on how to undo that")
    func elsewhere() async throws {
        let steward = try await AgentFixture.service()
        try steward.backUp()
        let backup = try #require(try steward.finishedBackups().first)
        let (state, other) = (steward.home.path.appending("state"), steward.home.path.appending("other"))
        try Durable.makeDirectory(other)
        // As with `sudo steward restore`.
        for name in ["STATE_DIRECTORY", "CONFIGURATION_DIRECTORY"] { steward.variables[name] = nil }
        steward.variables["HOME"] = other.text
        let folder = steward.backups.text
        for words in [[folder], [backup.text], [folder, "--dry-run"], [folder, "--replace", "--only", "captures"]] {
            let refused = try steward.run(["restore"] + words)
            #expect(refused.status == 64, "\(words): \(refused.output)\(refused.errors)")
            #expect(refused.errors.contains("keeps its state in \(state) on \(hostName())"), "\(refused.errors)")
            #expect(refused.errors.contains("--from-another"), "\(refused.errors)")
        }
        #expect(try listDirectory(other).isEmpty)
        try steward.run(["restore", "--verify", folder]).check()
        // The command that it suggests restores the data.
        try FileManager.default.removeItem(atPath: state.text)
        let message = try steward.run(["restore", folder]).errors
        let proposed = try #require(message.split(separator: "`").dropFirst().first)
        #expect(proposed.contains("STATE_DIRECTORY=\(state) ") && proposed.hasSuffix(backup.text), "\(proposed)")
        let command = proposed.hasPrefix("sudo ") ? proposed.dropFirst(5) : proposed
        let programs = BytePath(AgentFixture.binary).parent
        try steward.shell(["/bin/sh", "-c", "PATH='\(programs)':\"$PATH\"; \(command)"]).check()
        #expect(try steward.inServiceStore() == "3\n")
        #expect(try listDirectory(other).isEmpty)
        try steward.run(["restore", folder, "--from-another"]).check()
        for name: BytePath in [".local/state/steward/ledger.sqlite", ".config/steward/steward.yaml"] {
            #expect(try FileStatus.of(other.appending(name)) != nil, "\(name)")
        }
    }

    @Test("A file that cannot be restored is found before the first rename")
    func inTheWay() async throws {
        let steward = try await AgentFixture.service()
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
        #expect(try steward.inServiceStore() == "3\n")
    }

    @Test("A vault whose disk is unmounted makes the backup fail, and backups that contain it are kept")
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

    @Test("A folder that others may enter is restored as such, and a private one stays private")
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
