import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Backups and restores that are interrupted.
@Suite("Interrupted backups")
struct BackupCrashTests {
    private func home() async throws -> AgentFixture {
        let steward = try AgentFixture()
        try steward.rule(AgentFixture.capturing)
        try await steward.start()
        for number in 1...3 { try steward.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try steward.wait()
        return steward
    }

    @Test(
        "Killed anywhere, a backup leaves nothing that restore accepts, the agent goes on, and the next one cleans up")
    func killed() async throws {
        let steward = try await home()
        let points = ["copied", "held", "databases", "listed", "filled"].map { "backup \($0):1" }
        for point in points + ["synced:1", "synced:5", "*:12", "*:30"] {
            steward.variables["STEWARD_FAULT"] = point
            let ended = try steward.run(["backup", steward.backups.text])
            steward.variables["STEWARD_FAULT"] = nil
            #expect(ended.status == SIGKILL, "killed at \(point)")
            let refused = try steward.run(["restore", "--verify", steward.backups.text])
            #expect(
                refused.status == 64 && refused.errors.contains("no finished backup"), "\(point): \(refused.errors)")
            for left in try listDirectory(steward.backups) {
                let path = steward.backups.appending(name: left.name)
                #expect(try steward.run(["restore", path.text]).status == 64, "at \(point)")
            }
            try steward.drop("dropbox/next.md", "after \(point)")
            try steward.wait()
            #expect(try steward.inNotes()["after \(point)"] == 1, "the agent is held by nobody")
        }
        try steward.backUp()
        #expect(try listDirectory(steward.backups).count == 1)
        try steward.run(["restore", "--verify", steward.backups.text]).check()
    }

    @Test("Killed anywhere, a restore has changed nothing, or no agent starts before it is completed")
    func restoreKilled() async throws {
        let steward = try await home()
        try steward.backUp()
        try await steward.stop()
        try steward.savePlaces(as: "end")
        try steward.home.write("saved.yaml", try steward.home.read(".config/steward/steward.yaml"))
        let before = try steward.hashes(below: ".local/state/steward")
        for point in ["restore copied:1", "restore noted:1", "restore moved:1", "restore moved:3", "*:9"] {
            try steward.emptyHome()
            steward.variables["STEWARD_FAULT"] = point
            #expect(try steward.run(["restore", steward.backups.text]).status == SIGKILL, "at \(point)")
            steward.variables["STEWARD_FAULT"] = nil
            if try FileStatus.of(steward.home.path.appending(".local/state/steward/restore.json")) != nil {
                let refused = try steward.run(["pause", "--config", steward.home.path.appending("saved.yaml").text])
                #expect(
                    refused.status == 64 && refused.errors.contains("was interrupted"), "\(point): \(refused.errors)")
            } else {
                #expect(try FileStatus.of(steward.home.path.appending(".local/state/steward/ledger.sqlite")) == nil)
            }
            try steward.run(["restore", steward.backups.text]).check()
            #expect(try steward.hashes(below: ".local/state/steward") == before, "at \(point)")
            #expect(try steward.inStore() == (1...3).map { "capture \($0)" })
            try steward.bringPlaces(from: "end")
            try await steward.start()
            try steward.wait()
            #expect(try steward.inNotes().count == 3)
            try await steward.stop()
        }
    }

    @Test("Killed at any rename, a restore over existing files is completed by the next one, and nothing is lost")
    func replaceKilled() async throws {
        let steward = try await home()
        try steward.backUp()
        try await steward.stop()
        let state: BytePath = ".local/state/steward"
        let before = try steward.hashes(below: state)
        var number = 0
        while true {
            number += 1
            try steward.home.write(state.appending("later"), "\(number)")
            steward.variables["STEWARD_FAULT"] = "restore moved:\(number)"
            let ended = try steward.run(["restore", steward.backups.text, "--replace"])
            steward.variables["STEWARD_FAULT"] = nil
            if ended.status == 0 { break }
            try #require(ended.status == SIGKILL, "at rename \(number): \(ended.errors)")
            let finished = try steward.run(["restore"])
            try #require(finished.status == 0, "at rename \(number): \(finished.errors)")
            #expect(try steward.hashes(below: state) == before, "at rename \(number)")
            #expect(try steward.inStore() == (1...3).map { "capture \($0)" }, "at rename \(number)")
        }
        #expect(number > 6)
        let aside = try listDirectory(steward.home.path.appending(state.parent)).map { BytePath(bytes: $0.name) }
            .filter { $0.text.contains("before-restore") }
        let kept = try aside.map { try steward.home.read(state.parent.appending($0).appending("later")) }
        #expect(kept.sorted() == (1...number).map(String.init).sorted())
    }

    @Test("On a full disk nothing remains of a backup, the previous one is intact, and the message says what to do")
    func fullDisk() async throws {
        let steward = try await home()
        if getuid() != 0 { try Test.cancel("only root can mount a small file system") }
        try Durable.makeDirectory(steward.backups)
        let mounted = try steward.shell(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", steward.backups.text])
        if mounted.status != 0 { try Test.cancel("mounting is not permitted here: \(mounted.errors)") }
        defer { umount2(steward.backups.text, 2) }  // MNT_DETACH
        try steward.backUp()
        // The size of a refused file.
        try steward.home.write(
            ".local/state/steward/quarantine/large", [UInt8](repeating: 7, count: 5 << 20))
        let refused = try steward.run(["backup", steward.backups.text])
        #expect(refused.status == 1 && refused.errors.contains("not enough room"), "\(refused.errors)")
        #expect(refused.errors.contains("by hand"), "\(refused.errors)")
        #expect(try listDirectory(steward.backups).count == 1)
        try steward.run(["restore", "--verify", steward.backups.text]).check()
        try steward.drop("dropbox/next.md", "goes on")
        try steward.wait()
        #expect(try steward.inNotes()["goes on"] == 1)
        try FileManager.default.removeItem(
            atPath: steward.home.path.appending(".local/state/steward/quarantine/large").text)
        let filler = try Descriptor(steward.backups.appending("filler"), O_WRONLY | O_CREAT)
        var size: Int64 = 0
        while (try? filler.write([UInt8](repeating: 7, count: 65_536), at: size)) != nil { size += 65_536 }
        // Space for the small files but not for the databases, or not for SQLite's temporary files beside them.
        let first = try #require(try listDirectory(steward.backups).first { $0.name != Array("filler".utf8) })
        let ledger = steward.backups.appending(name: first.name).appending("state/ledger.sqlite")
        let taken = try #require(try FileStatus.of(ledger)?.size)
        var refusals = 0
        let rooms: [Int64] = [-8_192, 0, 12_288, 24_576, 36_864, 61_440].map { taken + $0 }
        for room in [4 * 65_536] + rooms {
            try filler.truncate(to: size - room)
            let database = try steward.run(["backup", steward.backups.text, "--anew"])
            if database.status != 0 {
                refusals += 1
                #expect(
                    database.status == 1 && database.errors.contains("not enough room"), "\(room): \(database.errors)")
            } else {
                for folder in try listDirectory(steward.backups).map(\.name) where folder != first.name {
                    if folder == Array("filler".utf8) { continue }
                    try FileManager.default.removeItem(atPath: steward.backups.appending(name: folder).text)
                }
            }
            while (try? filler.write([UInt8](repeating: 7, count: 4_096), at: filler.status().size)) != nil {}
            size = try filler.status().size
        }
        #expect(refusals >= 3)
        #expect(try listDirectory(steward.backups).count == 2)
    }
}
