import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Commands beside a running agent, and the same without one.
@Suite("Daemon commands")
struct CommandDaemonTests {
    static let captures = """
        - rule: Captures
          in: dropbox
          settle: 100ms
          do:
            - index-capture
            - append-block: { heading: Captures, anchor: cap, text: "{{ capture.text }}" }
            - trash
        """

    @Test("A failed write to standard output is reported, and is not a success")
    func fullOutput() async throws {
        let steward = try await steward()
        try await steward.start()
        for words in [
            "status", "status --json", "health", "metrics", "log", "outbox --json", "due", "check", "rules list",
            "comics list", "vault status", "dots show", "dots week", "dots add dot",
        ] {
            let result = try steward.shell(["sh", "-c", "exec \"$0\" \(words) > /dev/full", AgentFixture.binary])
            #expect(result.status == 1 && result.errors.contains("cannot write standard output"), "\(words): \(result)")
            #expect(!result.errors.contains("tried again"), "\(words)")
            let closed = try steward.shell(["sh", "-c", "\"$0\" \(words) | true", AgentFixture.binary])
            #expect(closed.errors == "", "\(words)")
        }
        try await steward.stop()
    }

    private func steward(_ rule: String = captures) async throws -> AgentFixture {
        let steward = try AgentFixture()
        try steward.rule(rule)
        try await steward.start()
        return steward
    }

    @Test("`status` says what runs, where, and what was done, even without an agent")
    func status() async throws {
        let steward = try AgentFixture()
        try steward.rule(Self.captures)
        let before = try steward.run(["status"])
        #expect(before.status == 1)
        #expect(before.errors.contains("steward run"))
        try await steward.start()
        try steward.drop("dropbox/a.md", "One.\n")
        try steward.wait()
        let text = try steward.run(["status"]).check().output
        #expect(text.hasPrefix("running as process \(steward.processID ?? 0) since "))
        #expect(text.contains("jobs: 1 done"))
        let live = try steward.json(["status"])
        #expect(live["process"].number == Double(steward.processID ?? 0))
        #expect(live["rules"].number == 1)
        #expect(live["places"].items.map { $0["name"].text } == steward.places)
        #expect(live["places"].items.allSatisfy { $0["isPresent"].isTrue })
        #expect(try await steward.stop() == 0)
        #expect(try steward.run(["status"]).check().output.hasPrefix("not running"))
        let still = try steward.json(["status"])
        #expect(!still["isRunning"].isTrue)
        #expect(still["jobs"]["done"].number == 1)
    }

    @Test("Only the user may talk to the agent, and a second agent is told who holds the state directory")
    func socketAndLock() async throws {
        let steward = try await steward()
        let socket = try FileStatus.of(steward.home.path.appending("run/control.sock"))
        #expect(socket.map { $0.mode & 0o777 } == 0o600)
        let second = try steward.run(["run"])
        #expect(second.status == 1)
        #expect(second.errors.contains("process \(steward.processID ?? 0)"))
        #expect(try steward.json(["status"])["isRunning"].isTrue, "the first one goes on")
    }

    @Test("`explain` says which rule matches, which condition fails in others, what would happen and what was done")
    func explain() async throws {
        let steward = try await steward(
            """
            - rule: Notes
              in: dropbox
              where: { extension: md, size: "> 0" }
              settle: 100ms
              do: [index-capture, trash]
            - rule: Pictures
              in: dropbox
              where: { mime: "image/*", size: "> 0" }
              do: trash
            """)
        try await steward.stop()
        let file = try steward.drop("dropbox/idea.md", "An idea.\n")
        let plan = try steward.run(["explain", file.text]).check().output
        #expect(plan.contains("Notes: matches"))
        #expect(plan.contains("Pictures: does not match"))
        #expect(plan.contains("✗ mime: image/*  (text/markdown)"))
        #expect(plan.contains("✓ size: > 0  (9 bytes)"))
        #expect(plan.contains("  1. store "))
        #expect(plan.contains("  2. put "))
        #expect(!plan.contains("Done so far:"))
        let planned = try steward.json(["explain", file.text])
        #expect(planned["rules"].items.map { $0["verdict"].text } == ["matches", "does not match"])
        #expect(planned["plans"].items.first?["steps"].items.count == 2)
        #expect(!planned["isKnown"].isTrue)
        #expect(try steward.exists("dropbox/idea.md"), "explaining does nothing")
        try await steward.start()
        try steward.wait()
        let past = try steward.run(["explain", file.text]).check().output
        #expect(past.contains("Notes (arrived): done"))
        #expect(past.contains("undo: steward undo "))
        let job = try steward.past("dropbox/idea.md").first
        #expect(job?["done"].items.count == 2)
        #expect(job?["undo"].text.hasPrefix("steward undo ") == true)
        let linked = steward.home.path.appending("linked")
        try steward.shell(["ln", "-s", steward.path("dropbox").text, linked.text]).check()
        for other in ["Steward/drafts/../dropbox/./idea.md", linked.appending("idea.md").text] {
            #expect(try steward.json(["explain", other])["path"].text == file.text)
        }
        #expect(try steward.run(["explain", file.text, "--event", "gone"]).status == 64)
        #expect(
            try steward.run(["explain", file.text, "--event", "changed"]).check().output.contains(
                "✗ on: arrived  (changed)"))
    }

    @Test("`log` prints what was done as text and as JSON lines, filters by job, and follows")
    func log() async throws {
        let steward = try await steward()
        try steward.drop("dropbox/a.md", "First.\n")
        try steward.wait()
        try steward.drop("dropbox/b.md", "Second.\n")
        try steward.wait()
        let text = try steward.run(["log"]).check().output
        #expect(text.contains("step dropbox/a.md: index-capture: stored a note as "))
        let history = try steward.history()
        #expect(history.map { $0["kind"].text }.filter { $0 == "step" }.count == 6)
        let job = try #require(try steward.past("dropbox/a.md").first?["job"].text)
        let own = try steward.run(["log", "--json", "--job", String(job.prefix(10))]).check().output
        #expect(own.split(separator: "\n").count == 4, "planned and three steps:\n\(own)")
        #expect(!own.contains("b.md"))
        #expect(try steward.run(["log", "--job", "zzz"]).status == 64)
        #expect(try steward.run(["log", "-n", "1"]).status == 64)

        let follower = try steward.spawn(["log", "--follow", "--lines", "1"])
        try await steward.until("the follower shows the last line") { try !follower.output().isEmpty }
        let shown = try follower.output().split(separator: "\n").count
        #expect(shown == 1)
        try steward.drop("dropbox/c.md", "Third.\n")
        try await steward.until("the follower shows what is done now") {
            try follower.output().contains("dropbox/c.md: trash: ")
        }
        follower.end()
    }

    @Test("`undo` takes a job back, through the agent", arguments: [true, false])
    func undo(running: Bool) async throws {
        let steward = try await steward()
        try steward.drop("dropbox/a.md", "Take me back.\n")
        try steward.wait()
        #expect(try steward.count("Take me back.") == 1)
        let job = try #require(try steward.past("dropbox/a.md").first?["job"].text)
        if !running { try await steward.stop() }
        let undone = try steward.run(["undo", String(job.prefix(12))]).check().output
        #expect(
            undone.split(separator: "\n").map { $0.prefix { $0 != ":" } } == ["trash", "append-block", "index-capture"])
        #expect(try steward.count("Take me back.") == 0)
        #expect(try steward.read("dropbox/a.md") == "Take me back.\n")
        #expect(try steward.trash().isEmpty)
        #expect(try steward.run(["undo", job]).status == 64, "only once")
        try steward.drop("dropbox/b.md", "Another.\n")
        if !running { try await steward.start() }
        try steward.wait()
        let other = try #require(try steward.past("dropbox/b.md").first?["job"].text)
        #expect(try steward.json(["undo", other]).items.count == 3)
        try steward.wait()
        #expect(try steward.read("dropbox/a.md") == "Take me back.\n", "what was taken back is not done again")
        #expect(try steward.past("dropbox/a.md").first?["state"].text == "undone")
    }

    @Test("A paused agent records arrivals and processes them when resumed, even after a restart")
    func pause() async throws {
        let steward = try await steward()
        #expect(try steward.run(["pause"]).check().output.contains("paused"))
        try steward.drop("dropbox/a.md", "Later.\n")
        try steward.wait()
        #expect(try steward.json(["status"])["isPaused"].isTrue)
        #expect(try steward.exists("dropbox/a.md"))
        try await steward.stop()
        try await steward.start()
        try steward.wait()
        #expect(try steward.exists("dropbox/a.md"), "a pause outlasts the agent")
        #expect(!(try steward.json(["resume"])["paused"].isTrue))
        try steward.wait()
        #expect(try steward.count("Later.") == 1)
        try await steward.stop()
        #expect(try steward.json(["pause"])["paused"].isTrue)
        #expect(try steward.run(["status"]).check().output.contains("(paused)"))
        #expect(try steward.run(["resume"]).check().output.contains("the next agent starts working"))
        #expect(try steward.run(["wait"]).status == 1, "there is no agent to wait for")
        #expect(try steward.run(["reload"]).errors.contains("steward run"))
    }

    @Test("`wait` and `reload` return when done")
    func waitAndReload() async throws {
        let steward = try await steward()
        try steward.drop("dropbox/a.md", "Now.\n")
        #expect(try steward.run(["wait"]).check().output == "nothing is pending\n")
        let before = Timestamp.now()
        let text = try steward.json(["wait"])["quietSince"].text
        let since = try JSONDecoder().decode(Timestamp.self, from: Data("\"\(text)\"".utf8))
        #expect((before...Timestamp.now()).contains(since), "since when nothing is pending")
        #expect(try steward.count("Now.") == 1)
        #expect(try steward.run(["reload"]).check().output.contains("reloaded"))
        #expect(try steward.json(["reload"]).items.isEmpty)
    }
}
