import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Corrupt or missing databases are reported until a person acknowledges the loss.
@Suite("Lost databases")
struct LossTests {
    private static let captures: BytePath = ".local/share/steward/captures"
    private static let state: BytePath = ".local/state/steward"

    private func steward(_ count: Int) async throws -> AgentFixture {
        let steward = try AgentFixture()
        try steward.rule(AgentFixture.capturing)
        try await steward.start()
        for number in 1...count { try steward.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try steward.wait()
        try await steward.stop()
        return steward
    }

    private func damage(_ file: BytePath, _ steward: AgentFixture) throws {
        // With its log, SQLite would restore it.
        for log in ["-wal", "-shm"] { try? Durable.remove(steward.home.path.appending(BytePath("\(file)\(log)"))) }
        try steward.home.write(file, String(repeating: "no database ", count: 1000))
    }

    private func lost(_ steward: AgentFixture) throws -> [String] {
        try steward.json(["losses"]).items.map { $0["id"].text }
    }

    @Test("A capture store that was set aside makes the agent unhealthy until a user acknowledges it")
    func captureStore() async throws {
        let steward = try await steward(3)
        try damage(Self.captures.appending("captures.sqlite"), steward)
        try await steward.start()
        try steward.drop("dropbox/4.md", "capture 4")
        try steward.wait()
        #expect(try steward.inStore() == ["capture 4"])
        for _ in 1...2 {
            let health = try steward.run(["health"])
            #expect(health.status == 2 && health.output.contains("database of the captures was corrupt"), "\(health)")
            #expect(try steward.json(["health"], status: 2)["findings"].items.map { $0["subject"].text } == ["loss"])
            #expect(try steward.run(["status"]).check().output.contains("! 2"), "with its time")
            #expect(try steward.run(["metrics"]).check().output.contains("\nsteward_stores_lost 1\n"))
            let doctor = try steward.run(["doctor"])
            #expect(doctor.status == 2 && doctor.output.contains("!    database captures.sqlite"), "\(doctor.output)")
            let check = try steward.run(["dots", "check"])
            #expect(check.status == 2 && check.output.contains("lost: ") && !check.output.contains("sound"))
            #expect(try steward.run(["dots", "week"]).check().errors.contains("losses acknowledge"))
            try await steward.stop()
            #expect(try steward.run(["status"]).check().output.contains("was corrupt"), "also without an agent")
            try await steward.start()
        }
        let ids = try lost(steward)
        #expect(ids.count == 1 && ids[0].hasPrefix("captures.sqlite.loss-"))
        #expect(try steward.run(["losses", "acknowledge", "nothing"]).status == 64)
        try steward.run(["losses", "acknowledge", ids[0]]).check()
        for _ in 1...2 {
            #expect(try steward.run(["health"]).check().output == "healthy\n")
            #expect(try steward.run(["metrics"]).check().output.contains("\nsteward_stores_lost 0\n"))
            #expect(try steward.run(["dots", "check"]).check().output.hasSuffix("sound\n"))
            try await steward.stop()
            try await steward.start()
        }
        try await steward.stop()
    }

    @Test("A missing state folder is not a first start if its agent's captures or notes exist")
    func stateFolder() async throws {
        for alsoGone in [nil, Self.captures, "Steward/notes"] as [BytePath?] {
            let steward = try await steward(2)
            for folder in [Self.state, alsoGone].compactMap(\.self) {
                try FileManager.default.removeItem(atPath: steward.home.path.appending(folder).text)
            }
            try Durable.makeDirectory(steward.path("notes"))
            try steward.drop("dropbox/3.md", "capture 3")
            try await steward.start()
            try steward.wait()
            #expect(try steward.exists("dropbox/3.md"), "what lies there counts as seen")
            let health = try steward.run(["health"])
            #expect(health.status == 2 && health.output.contains("the state folder was lost"), "\(health.output)")
            try steward.run(["losses", "acknowledge"]).check()
            #expect(try steward.run(["health"]).check().output == "healthy\n")
            try await steward.stop()
        }
    }

    @Test("If the captures and notes were made by a user, it is")
    func firstStart() async throws {
        let steward = try AgentFixture()
        try steward.rule(AgentFixture.capturing)
        try steward.run(["dots", "add", "note", "by hand"]).check()
        try steward.drop("notes/other.md", "## Captures\n\n^cap-0930__elsewhere\nfrom another device\n")
        try steward.drop("dropbox/1.md", "capture 1")
        try await steward.start()
        try steward.wait()
        #expect(try !steward.exists("dropbox/1.md"))
        #expect(try steward.run(["health"]).check().output == "healthy\n")
        try await steward.stop()
    }

    @Test("A start that dies while setting the ledger aside counts as one loss when repeated")
    func cutOff() async throws {
        let steward = try await steward(1)
        try damage(Self.state.appending("ledger.sqlite"), steward)
        steward.variables["STEWARD_FAULT"] = "loss noted:1"
        #expect(try steward.run(["run"]).status != 0)
        steward.variables["STEWARD_FAULT"] = nil
        #expect(try lost(steward).count == 1)
        try await steward.start()
        let ids = try lost(steward)
        #expect(ids.count == 1 && ids[0].hasPrefix("ledger.sqlite.loss-"))
        let aside = BytePath(ids[0].replacingOccurrences(of: ".loss-", with: ".corrupt-"))
        #expect(try FileStatus.of(steward.home.path.appending(Self.state).appending(aside)) != nil)
        #expect(try steward.run(["metrics"]).check().output.contains("\nsteward_stores_lost 1\n"))
        try await steward.stop()
    }

    @Test("The agent knows what tk has set aside")
    func drafts() async throws {
        let steward = try AgentFixture()
        try steward.home.write(".tk/usage.sqlite", String(repeating: "no database ", count: 1000))
        try steward.shell(["bash", "-c", "exec -a tk \"$0\" usage", AgentFixture.binary]).check()
        try await steward.start()
        #expect(try lost(steward).map { $0.hasPrefix("usage.sqlite.loss-") } == [true])
        #expect(try steward.run(["health"]).status == 2)
        try await steward.stop()
    }

    @Test("The last backup with more than the current state is kept, and the report says so")
    func backups() async throws {
        let steward = try await steward(3)
        let full = BytePath(try steward.backUp()["path"].text)
        try damage(Self.captures.appending("captures.sqlite"), steward)
        try await steward.start()
        try steward.drop("dropbox/4.md", "capture 4")
        try steward.wait()
        try await steward.stop()
        for _ in 1...3 {
            let made = try steward.run(["backup", steward.backups.text, "--keep", "1"]).check()
            #expect(made.output.contains("kept \(full) beyond --keep: captures/captures.sqlite has 3 entries"))
            #expect(try steward.finishedBackups().count == 2 && steward.finishedBackups().first == full)
        }
        // It is removed once there is as much again.
        try await steward.start()
        for number in 5...6 { try steward.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try steward.wait()
        try await steward.stop()
        let last = try steward.backUp(["--keep", "1"])
        #expect(last["removed"].items.map(\.text).contains(full.text) && last["spared"].items.isEmpty)
        #expect(try steward.finishedBackups().count == 1)
    }
}
