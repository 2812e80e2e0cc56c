import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Which parts of a backup are trusted: not where it goes, and its origin only if the seal is valid.
@Suite("Origin and destination of backups")
struct BackupOriginTests {
    private let key: BytePath = ".local/state/steward/backup.key"

    private func home() async throws -> AgentFixture {
        let steward = try AgentFixture()
        try steward.rule(AgentFixture.capturing)
        try await steward.start()
        try steward.drop("dropbox/1.md", "capture")
        try steward.wait()
        try await steward.stop()
        return steward
    }

    @Test("Store locations in the manifest are ignored, and a store with an unknown name is not restored")
    func destinations() async throws {
        let steward = try await home()
        let backup = BytePath(try steward.backUp()["path"].text)
        let ssh = try steward.home.write(".ssh/id", "mine").parent
        let lay = steward.home.path.appending(".local/share/steward/captures")
        try steward.emptyHome()
        try steward.home.write(".ssh/id", "mine")
        try steward.forge(backup, "\"\(lay)\"", "\"\(ssh)\"")
        try steward.run(["restore", backup.text]).check()
        #expect(try steward.inStore() == ["capture"], "it went where this agent keeps it")
        #expect(try listDirectory(ssh).map { BytePath(bytes: $0.name) } == ["id"])
        // As a vault that is not configured.
        try steward.forge(backup, "\"name\" : \"captures\"", "\"name\" : \"vaults/x\"")
        for words in [["--replace"], ["--dry-run"], ["--replace", "--only", "vaults/x"]] {
            let refused = try steward.run(["restore", backup.text] + words)
            #expect(
                refused.status == 64 && refused.errors.contains("vaults/x, for which"), "\(words): \(refused.errors)")
        }
        #expect(try steward.home.read(".ssh/id") == "mine")
    }

    @Test("Verify says whether this installation made it; a newer foreign one is not used")
    func forged() async throws {
        let steward = try await home()
        let made = BytePath(try steward.backUp()["path"].text)
        #expect(try FileStatus.of(steward.home.path.appending(key))?.mode == 0o600)
        #expect(try FileStatus.of(made.appending("state/backup.key")) == nil, "who has the backup has no key")
        let verified = try steward.run(["restore", "--verify", steward.backups.text]).check()
        #expect(verified.output.contains("made by this installation"), "\(verified.output)")
        #expect(try steward.json(["restore", "--verify", made.text])["madeBy"].text == "here")
        let forged = steward.backups.appending("steward-20990101T000000Z")
        try steward.shell(["cp", "-a", made.text, forged.text]).check()
        // From a version that sealed nothing, and one with the seal of another manifest.
        for (old, new) in [
            ("\"seal\"", "\"real\""), ("\"real\"", "\"seal\""), ("\"version\" : \"", "\"version\" : \"9"),
        ] {
            try steward.forge(forged, old, new)
            if new == "\"seal\"" {
                #expect(
                    try steward.run(["restore", "--verify", forged.text]).status == 0, "it is the copy of a good one")
                continue
            }
            for words in [["--verify"], ["--replace"], ["--dry-run"]] {
                let refused = try steward.run(["restore", steward.backups.text] + words)
                #expect(refused.status == 64 && refused.errors.contains(forged.nameText), "\(words): \(refused.errors)")
            }
            let verified = try steward.run(["restore", "--verify", forged.text])
            #expect(
                verified.status == 2 && verified.output.contains("not known to be made by this"), "\(verified.output)")
            let refused = try steward.run(["restore", forged.text, "--replace"])
            #expect(refused.status == 64 && refused.errors.contains("--from-another"), "\(refused.errors)")
        }
        try steward.run(["restore", made.text, "--replace"]).check()
        let another = try steward.run(["restore", forged.text, "--replace", "--from-another"]).check()
        #expect(another.output.contains("not known to be made by this"), "\(another.output)")
    }

    @Test("If the state is lost, a copy of the key identifies it, and is kept")
    func copiedKey() async throws {
        let steward = try await home()
        let made = BytePath(try steward.backUp()["path"].text)
        let copy = steward.home.path.appending("saved-key")
        try steward.shell(["cp", steward.home.path.appending(key).text, copy.text]).check()
        try steward.emptyHome()
        let unknown = try steward.run(["restore", "--verify", steward.backups.text]).check()
        #expect(unknown.output.contains("its origin is unknown"), "\(unknown.output)")
        let other = try steward.home.write("saved-other", [UInt8](repeating: 7, count: 32))
        #expect(try steward.run(["restore", "--verify", made.text, "--key", other.text]).status == 2)
        let strange = try steward.home.write("saved-strange", "no key")
        #expect(try steward.run(["restore", "--verify", made.text, "--key", strange.text]).status == 64)
        #expect(try steward.run(["restore", steward.backups.text, "--key", other.text]).status == 64)
        try steward.run(["restore", steward.backups.text, "--key", copy.text]).check()
        #expect(try steward.inStore() == ["capture"])
        #expect(try steward.json(["restore", "--verify", steward.backups.text])["madeBy"].text == "here")
    }

    @Test("A vault's exported key contains the backup key")
    func exportedKey() async throws {
        let steward = try AgentFixture.withVault(password: "correct horse battery", rule: AgentFixture.sealing)
        try await steward.start()
        try await steward.stop()
        let sheet = steward.home.path.appending("saved-sheet")
        try steward.vault(["export-key", "-o", sheet.text], password: "correct horse battery").check()
        let made = BytePath(try steward.backUp()["path"].text)
        try steward.emptyHome()
        let words = ["restore", "--verify", made.text, "--key", sheet.text]
        #expect(try steward.json(words)["madeBy"].text == "here")
    }

    @Test("Nothing is shared with a foreign backup")
    func shared() async throws {
        let steward = try await home()
        try steward.home.write(".local/state/steward/quarantine/kept", "kept")
        let first = BytePath(try steward.backUp()["path"].text)
        #expect(try #require(try steward.backUp()["linked"].number) > 0)
        for backup in try steward.finishedBackups() where backup != first {
            try FileManager.default.removeItem(atPath: backup.text)
        }
        try steward.forge(first, "\"seal\"", "\"real\"")
        #expect(try steward.backUp()["linked"].number == 0)
    }
}
