import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// What restore refuses, and its messages.
@Suite("Restoring backups")
struct RestoreTests {
    private func home(as user: TestUser? = nil) async throws -> AgentFixture {
        let steward = try AgentFixture(as: user)
        try steward.rule(AgentFixture.capturing)
        try await steward.start()
        for number in 1...3 { try steward.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try steward.wait()
        return steward
    }

    private func files(below root: BytePath) throws -> [BytePath] {
        try listDirectory(root).flatMap { entry -> [BytePath] in
            let path = root.appending(name: entry.name)
            return entry.isDirectory == true ? try files(below: path) : [path]
        }
    }

    @Test(
        "A damaged byte, a missing file and an extra one are detected and named, and nothing is restored")
    func damaged() async throws {
        let steward = try await home()
        try steward.backUp()
        try await steward.stop()
        let backup = try #require(try steward.finishedBackups().first)
        try steward.emptyHome()
        func expectRefused(_ path: BytePath, _ what: String) throws {
            let verified = try steward.run(["restore", "--verify", backup.text])
            #expect([1, 2].contains(verified.status), "\(what) \(path)")
            let told = verified.output + verified.errors
            #expect(told.contains(path.nameText), "\(what) \(path): \(told)")
            if what != "one too many" {
                #expect(try steward.run(["restore", backup.text]).status == 1, "\(what) \(path)")
            }
            #expect(
                try FileStatus.of(steward.home.path.appending(".local/state/steward/ledger.sqlite")) == nil,
                "\(what) \(path)")
        }
        for path in try files(below: backup) {
            let file = try Descriptor(path, O_RDWR)
            let size = try file.status().size
            for offset in Set([0, size / 2, size - 1]) where size > 0 {
                // The name after the hash is only for people.
                if path.nameText == "manifest.sha256", offset >= 64 { continue }
                let byte = try file.read(at: offset, count: 1)
                try file.write(byte.map { $0 ^ 0x10 }, at: offset)
                try expectRefused(path, "a changed byte at \(offset) of")
                try file.write(byte, at: offset)
            }
            let aside = steward.home.path.appending("saved-aside")
            #expect(rename(path.text, aside.text) == 0)
            let verified = try steward.run(["restore", "--verify", backup.text])
            #expect(
                verified.status != 0 && (verified.output + verified.errors).contains(path.nameText), "missing: \(path)")
            #expect(try steward.run(["restore", backup.text]).status != 0)
            #expect(rename(aside.text, path.text) == 0)
        }
        try expectRefused(
            try steward.home.write(BytePath("backups/\(backup.nameText)/state/stranger"), "here"), "one too many")
        try Durable.remove(backup.appending("state/stranger"))
        try steward.run(["restore", "--verify", backup.text]).check()
        try steward.run(["restore", backup.text]).check()
    }

    @Test(
        "Existing files are never removed: the command refuses or moves them aside; it refuses while an agent runs"
    )
    func inTheWay() async throws {
        let steward = try await home()
        try steward.backUp()
        let running = try steward.run(["restore", steward.backups.text])
        #expect(running.status == 64 && running.errors.contains("stop it first"), "\(running.errors)")
        try steward.drop("dropbox/later.md", "later")
        try steward.wait()
        try await steward.stop()
        let refused = try steward.run(["restore", steward.backups.text])
        #expect(refused.status == 64 && refused.errors.contains("--replace"), "\(refused.errors)")
        #expect(try steward.inStore().contains("later"))
        let plan = try steward.json(["restore", steward.backups.text, "--dry-run"])
        #expect(plan["stores"].items.contains { !$0["inTheWay"].items.isEmpty })
        let report = try steward.json(["restore", steward.backups.text, "--replace"])
        #expect(try steward.inStore() == (1...3).map { "capture \($0)" })
        let aside = report["aside"].items.map { BytePath($0.text) }
        let kept = try #require(aside.first { $0.text.contains("captures") }).appending("captures.sqlite").text
        let later = try steward.shell(["sqlite3", kept, "SELECT noteText FROM experience WHERE noteText = 'later'"])
        #expect(later.output == "later\n")
        #expect(try steward.home.read(".config/steward/rules.d/10-test.yaml") == AgentFixture.capturing)
        let strange = try steward.run(["restore", steward.backups.text, "--only", "cellar"])
        #expect(strange.status == 64 && strange.errors.contains("state, captures"), "\(strange.errors)")
    }

    @Test("A backup must not be in a place or in its own sources, and needs a ledger")
    func refusals() async throws {
        let steward = try AgentFixture()
        let nothing = try steward.run(["backup", steward.backups.text])
        #expect(nothing.status == 64 && nothing.errors.contains("no ledger"), "\(nothing.errors)")
        try await steward.start()
        try await steward.stop()
        let inside = [
            steward.path("notes/backups"), steward.home.path.appending(".local/state/steward/backups"),
            steward.path("dropbox"),
        ]
        for folder in inside {
            let refused = try steward.run(["backup", folder.text])
            #expect(refused.status == 64 && refused.errors.contains("elsewhere"), "\(refused.errors)")
            #expect(try FileStatus.of(folder.appending("backups")) == nil)
        }
        #expect(symlink(steward.path("notes").text, steward.home.path.appending("way").text) == 0)
        #expect(try steward.run(["backup", steward.home.path.appending("way").text]).status == 64, "through a link")
        let away = try steward.run(["backup", steward.home.path.appending("no/such").text])
        #expect(away.status == 64 && away.errors.contains("mount the backup disk"), "\(away.errors)")
        try steward.backUp()
        let backup = try #require(try steward.finishedBackups().first)
        let manifest = try steward.home.read(BytePath("backups/\(backup.nameText)/manifest.json"))
        let newer = manifest.replacingOccurrences(of: "\"format\" : 1", with: "\"format\" : 2")
        try steward.home.write(BytePath("backups/\(backup.nameText)/manifest.json"), newer)
        try steward.home.write(
            BytePath("backups/\(backup.nameText)/manifest.sha256"), "\(ContentHash(of: Array(newer.utf8)))\n")
        let refused = try steward.run(["restore", backup.text])
        #expect(refused.status == 64 && refused.errors.contains("format 2"), "\(refused.errors)")
    }

    @Test("A token for tk's services is backed up only on request")
    func secrets() async throws {
        let steward = try await home()
        try steward.home.write(".tk/secrets", "key")
        try steward.home.write(".tk/config.json", "{}")
        try steward.backUp()
        let first = try #require(try steward.finishedBackups().last)
        #expect(try listDirectory(first.appending("tk")).map { BytePath(bytes: $0.name).text } == ["config.json"])
        try steward.backUp(["--with-secrets"])
        let second = try #require(try steward.finishedBackups().last)
        #expect(try FileStatus.of(second.appending("tk/secrets")) != nil)
    }

    @Test(
        "Files that root restores into a user's home belong to that user",
        .enabled(if: TestUser.areBothHere, Comment(rawValue: TestUser.comment))
    )
    func owner() async throws {
        let steward = try await home(as: .victim)
        try steward.run(["backup", steward.backups.text]).check()
        try await steward.stop()
        try steward.savePlaces(as: "end")
        try steward.emptyHome()
        try runProgram(
            [AgentFixture.binary, "restore", steward.backups.text], in: steward.home.path,
            environment: steward.environment
        ).check()
        for folder: BytePath in [".local", ".config"] {
            for path in try files(below: steward.home.path.appending(folder)) {
                #expect(try FileStatus.of(path)?.owner == TestUser.victim.id, "\(path)")
            }
        }
        try steward.bringPlaces(from: "end")
        try await steward.start()
        try steward.wait()
        #expect(try steward.inNotes().count == 3)
    }
}
