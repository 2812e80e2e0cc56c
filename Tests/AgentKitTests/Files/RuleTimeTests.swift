import Foundation
import Platform
import TestSupport
import Testing

@Suite("Rules started by time, end to end", .ownThreads)
struct RuleTimeTests {
    @Test("A file is moved when it is old enough, without any event, and never again")
    func becomesOld() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Old
              in: dropbox
              settle: 100ms
              where: { age: "> 4s" }
              do: [{ move: { place: drafts } }]
            """)
        try await steward.start()
        try steward.drop("dropbox/a.txt", "A")
        try await steward.until("it is moved") { try steward.exists("drafts/a.txt") }
        try steward.wait()
        #expect(try steward.files("dropbox").isEmpty)
        #expect(try steward.run(["due"]).output.contains("nothing is due"))
        #expect(try steward.json(["status"])["jobs"]["done"].number == 1)
    }

    @Test("Upcoming runs are listed with and without the agent")
    func told() async throws {
        let steward = try AgentFixture.inside(configuration: "time-zone: Europe/Berlin")
        try steward.rule(
            """
            - rule: Old
              in: dropbox
              settle: 100ms
              where: { age: { since: arrived, is: "> 30d" } }
              do: [{ trash: {} }]
            - rule: Nightly
              in: drafts
              at: every day 03:00
              do: [{ trash: {} }]
            - rule: Young
              in: dropbox
              where: { name: "soon*", age: "> 1h" }
              do: [{ move: { place: drafts } }]
            """)
        try await steward.start()
        try steward.drop("dropbox/a.txt", "A")
        try steward.drop("dropbox/soon.txt", "B")
        try steward.wait()
        for isRunning in [true, false] {
            if !isRunning { try await steward.stop() }
            let lines = try steward.run(["due"]).check().output.split(separator: "\n").map(String.init)
            #expect(lines.count == 4, "\(lines)")
            #expect(lines.contains { $0.contains("Young: dropbox/soon.txt") })
            #expect(lines.contains { $0.contains("Old: dropbox/a.txt") })
            #expect(
                lines.contains { $0.contains("03:00:00 +0") && $0.contains("Nightly: all its files (every day 03:00)") }
            )
            let entries = try steward.json(["due", "--place", "dropbox", "--limit", "1"])["entries"]
            #expect(entries.items.count == 1)
            #expect(entries.items.first?["rule"].text == "Young")
            #expect(try steward.run(["status"]).output.contains("next with time: "))
            let explained = try steward.run(["explain", steward.path("dropbox/a.txt").text]).check().output
            #expect(explained.contains("Old: may come to want it "))
            #expect(!explained.contains("Nightly: runs next"), "it is of another place")
        }
    }

    @Test("Runs that became due while the agent was off are done at its start")
    func missed() async throws {
        // Retries with more time, if a loaded machine takes longer to stop the agent than the file needs to become old.
        for seconds in [5, 20, 80] {
            let steward = try AgentFixture.inside()
            try steward.rule(
                """
                - rule: Young
                  in: dropbox
                  settle: 100ms
                  where: { name: "soon*", age: "> \(seconds)s" }
                  do: [{ move: { place: drafts } }]
                """)
            try await steward.start()
            try steward.drop("dropbox/a.txt", "A")
            try steward.drop("dropbox/soon.txt", "B")
            try steward.wait()
            try await steward.stop()
            guard try steward.exists("dropbox/soon.txt") else { continue }
            let end = Date().addingTimeInterval(Double(seconds) + 1)
            try await steward.until("its time has come", seconds: Double(2 * seconds + 60)) { Date() > end }
            #expect(try steward.exists("dropbox/soon.txt"))
            try await steward.start()
            try await steward.until("what was missed is done") { try steward.exists("drafts/soon.txt") }
            try steward.wait()
            #expect(try steward.files("dropbox").map(\.nameText) == ["a.txt"])
            return
        }
        throw TestFailure("the file was moved each time before the agent had stopped")
    }

    @Test("A schedule skips files that its own rule made, and `explain` says so")
    func passedOver() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Keep
              in: dropbox
              settle: 100ms
              on: [arrived]
              every: 7d
              do: [{ copy: { folder: kept } }]
            """)
        try await steward.start()
        try steward.drop("dropbox/a.txt", "A")
        try steward.wait()
        #expect(try steward.exists("dropbox/kept/a.txt"))
        func explained(_ name: BytePath) throws -> String {
            try steward.run(["explain", steward.path(name).text]).check().output
        }
        #expect(try explained("dropbox/a.txt").contains("Keep: runs next "))
        let reason = "the rule has run on what it was made from"
        let line = "Keep: passes it over at each of its times, as \(reason) (every 7d)"
        #expect(try explained("dropbox/kept/a.txt").contains(line))
        let coming = try steward.json(["explain", steward.path("dropbox/kept/a.txt").text])["coming"].items.first
        #expect(coming?["passedOver"].text == reason)

        try steward.drop("dropbox/kept/a.txt", "what somebody has saved there is his own")
        try steward.wait()
        #expect(try explained("dropbox/kept/a.txt").contains("Keep: runs next "))
    }

    @Test("Invalid arguments on the command line are rejected")
    func usage() throws {
        let steward = try AgentFixture.inside()
        #expect(try steward.run(["due", "--limit", "0"]).status == 64)
        #expect(try steward.run(["due", "--place", "nowhere"]).status == 64)
        #expect(try steward.run(["due"]).status == 1, "no agent has run yet")
    }
}
