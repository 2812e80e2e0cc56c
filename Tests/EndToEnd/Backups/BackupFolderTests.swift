import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// The folder of backups: which is the newest, which are removed, and who is working there.
@Suite("Backup folders")
struct BackupFolderTests {
    private func home() async throws -> AgentFixture {
        let steward = try AgentFixture()
        try steward.rule(AgentFixture.capturing)
        try await steward.start()
        try steward.drop("dropbox/1.md", "capture")
        try steward.wait()
        try await steward.stop()
        return steward
    }

    /// Makes a backup look as if it was created elsewhere.
    private func replace(_ old: String, by new: String, in backup: BytePath, keepsHash: Bool = false) throws {
        let manifest = try TemporaryFolder.text(backup.appending("manifest.json"))
        try #require(manifest.contains(old))
        let changed = Array(manifest.replacingOccurrences(of: old, with: new).utf8)
        try Durable.replaceOwn(backup.appending("manifest.json"), with: changed)
        if keepsHash { return }
        try Durable.replaceOwn(
            backup.appending("manifest.sha256"), with: Array("\(ContentHash(of: changed))  manifest.json\n".utf8))
    }

    @Test("The new backup is kept, even if another has a later date because the clock was ahead")
    func clock() async throws {
        let steward = try await home()
        let first = BytePath(try steward.backUp()["path"].text)
        let ahead = steward.backups.appending("steward-20990101T000000Z")
        #expect(rename(first.text, ahead.text) == 0)
        let made = try steward.run(["backup", steward.backups.text, "--keep", "1"]).check()
        #expect(made.output.contains("ahead when steward-20990101T000000Z was made"), "\(made.output)")
        let left = try steward.finishedBackups()
        #expect(left.map(\.nameText) == ["steward-20990101T000001Z"])
        #expect(made.output.hasPrefix(left[0].text) && made.output.contains("removed \(ahead)"))
        let verified = try steward.run(["restore", "--verify", steward.backups.text]).check()
        #expect(verified.output.contains("20990101T000001Z"))
    }

    @Test("A damaged newest backup is not skipped; of several agents' backups, this agent's newest is chosen")
    func newest() async throws {
        let steward = try await home()
        try steward.backUp()
        let own = BytePath(try steward.backUp(["--anew"])["path"].text)
        let other = steward.backups.appending("steward-20990101T000000Z")
        try steward.shell(["cp", "-a", own.text, other.text]).check()
        try replace("\"host\" : \"\(hostName())\"", by: "\"host\" : \"elsewhere\"", in: other)
        let verified = try steward.run(["restore", "--verify", steward.backups.text]).check()
        #expect(verified.output.hasPrefix(own.text), "\(verified.output)")
        try replace("\"home\"", by: "\"hone\"", in: own, keepsHash: true)
        for words in [["--verify"], ["--replace"]] {
            let refused = try steward.run(["restore", steward.backups.text] + words)
            #expect(refused.status == 1 && refused.errors.contains(own.nameText), "\(refused.output)\(refused.errors)")
        }
        try FileManager.default.removeItem(atPath: other.text)
        #expect(try steward.run(["restore", "--verify", steward.backups.text]).status == 1)
        #expect(try steward.inStore() == ["capture"])
    }

    @Test("A backup of another host belongs to this agent too if its folders are the same")
    func otherHost() async throws {
        let steward = try await home()
        let backup = BytePath(try steward.backUp()["path"].text)
        try replace("\"host\" : \"\(hostName())\"", by: "\"host\" : \"elsewhere\"", in: backup)
        try steward.emptyHome()
        try steward.run(["restore", steward.backups.text]).check()
        #expect(try steward.inStore() == ["capture"])
    }

    private func begin(_ steward: AgentFixture, _ options: [String] = []) throws -> Process {
        let process = Process(
            [AgentFixture.binary, "backup", steward.backups.text] + options, environment: steward.environment)
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        return process
    }

    @Test("Only one backup begins at a time, and of many concurrent ones all complete")
    func together() async throws {
        let steward = try await home()
        try steward.backUp()
        let folder = try Descriptor(steward.backups, O_RDONLY | O_DIRECTORY)
        let inode = try folder.status().inode
        #expect(flock(folder.raw, LOCK_EX | LOCK_NB) == 0)
        let waiting = try begin(steward)
        defer { if waiting.isRunning { kill(waiting.processIdentifier, SIGKILL) } }
        try await steward.until("it waits") {
            guard waiting.isRunning else { throw TestFailure("it did not wait") }
            return try kernelLocks().contains { $0.contains("-> FLOCK") && $0.contains(":\(inode) ") }
        }
        flock(folder.raw, LOCK_UN)
        try await steward.until("it is done") { !waiting.isRunning }
        #expect(waiting.terminationStatus == 0)
        let many = try (1...6).map { _ in try begin(steward, ["--keep", "3"]) }
        try await steward.until("all are done") { !many.contains(where: \.isRunning) }
        #expect(many.allSatisfy { $0.terminationStatus == 0 })
        for backup in try steward.finishedBackups() { try steward.run(["restore", "--verify", backup.text]).check() }
    }

    @Test("Leftovers from another host are left for it to remove, since it may be running")
    func hosts() async throws {
        let steward = try await home()
        let names = ["elsewhere", hostName()].map { BytePath("backups/.steward-20260101T000000Z.\($0).partial") }
        for name in names { try steward.home.write(name.appending("manifest.json"), "{}") }
        try steward.backUp()
        #expect(try names.map { try FileStatus.of(steward.home.path.appending($0)) != nil } == [true, false])
    }

    @Test("A file system that cannot refuse to replace works for backups too")
    func withoutTheFlag() async throws {
        let steward = try await home()
        let served = steward.home.path.appending("saved-served")
        for folder in [served, steward.backups] { try Durable.makeDirectory(folder) }
        guard let shown = try ShownFolder(served, at: steward.backups) else {
            try Test.cancel("needs root, bindfs and the kernel's FUSE")
        }
        defer { withExtendedLifetime(shown) {} }
        for _ in 1...2 { try steward.backUp(["--keep", "1"]) }
        #expect(try listDirectory(steward.backups).count == 1)
        try steward.run(["restore", "--verify", steward.backups.text]).check()
    }
}
