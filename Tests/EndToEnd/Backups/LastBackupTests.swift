import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// What the agent reports about backups made by other programs.
@Suite("How the agent reports the last backup")
struct LastBackupTests {
    private let note: BytePath = ".local/state/steward/last-backup.json"

    private func time(in steward: AgentFixture) throws -> Double? {
        let name = "steward_last_backup_timestamp_seconds "
        let line = try steward.run(["metrics"]).check().output.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Double($0.dropFirst(name.count)) }
    }

    private func subjects(_ steward: AgentFixture, status: Int32) throws -> [String] {
        try steward.json(["health"], status: status)["findings"].items.map { $0["subject"].text }
    }

    @Test("Status, metrics and health report it; a failed one changes nothing, and an old one is a finding")
    func told() async throws {
        let steward = try AgentFixture()
        try await steward.start()
        try steward.wait()
        #expect(try time(in: steward) == nil)
        #expect(try steward.json(["status"])["lastBackup"].keys.isEmpty)
        #expect(try subjects(steward, status: 0) == [], "none was ever made")
        let made = BytePath(try steward.backUp()["path"].text)
        let last = try steward.json(["status"])["lastBackup"]
        let manifest = try Answer(parsing: TemporaryFolder.text(made.appending("manifest.json")))
        #expect(last["path"].text == made.text)
        #expect(last["time"] == manifest["time"] && !last["time"].text.isEmpty)
        let seconds = try #require(try time(in: steward))
        #expect(seconds > 1_700_000_000)
        let lines = try steward.run(["status"]).output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("last backup: 20") && $0.hasSuffix(", \(made)") })
        #expect(try subjects(steward, status: 0) == [])
        #expect(try steward.run(["backup", steward.path("notes/backups").text]).status == 64)
        #expect(try time(in: steward) == seconds)

        let text = try steward.home.read(note)
        let old = text.replacingOccurrences(of: last["time"].text, with: "2020-01-01T00:00:00.000000000Z")
        try #require(old != text)
        try steward.home.write(note, old)
        let found = try steward.json(["health"], status: 2)["findings"].items
        #expect(found.map { $0["subject"].text } == ["backup"])
        #expect(found.first?["message"].text.contains("run `steward backup \(steward.backups)`") == true)
        try steward.home.write(note, "{")
        #expect(try subjects(steward, status: 2) == ["warning"])
        #expect(try time(in: steward) == nil)
        let next = BytePath(try steward.backUp()["path"].text)
        #expect(try subjects(steward, status: 0) == [])
        try await steward.stop()
        #expect(try steward.json(["status"])["lastBackup"]["path"].text == next.text, "where no agent runs as well")
    }

    @Test("A backup that cannot be recorded is valid anyway, and says so; backup and restore leave the record alone")
    func kept() async throws {
        let steward = try AgentFixture()
        try await steward.start()
        try await steward.stop()
        // Nothing replaces a folder with a file.
        try Durable.makeDirectory(steward.home.path.appending(note))
        let told = try steward.run(["backup", steward.backups.text]).check()
        #expect(told.output.contains("the backup could not be recorded for the agent"), "\(told.output)")
        try FileManager.default.removeItem(atPath: steward.home.path.appending(note).text)
        let made = BytePath(try steward.backUp()["path"].text)
        #expect(try FileStatus.of(made.appending("state/ledger.sqlite")) != nil)
        #expect(try FileStatus.of(made.appending("state/last-backup.json")) == nil)
        let text = try steward.home.read(note)
        try steward.run(["restore", steward.backups.text, "--replace"]).check()
        #expect(try steward.home.read(note) == text)
    }
}
