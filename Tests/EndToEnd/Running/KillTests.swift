import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// The agent is stopped and killed in the middle of its work.
@Suite("Stopping and killing, end to end")
struct KillTests {
    private static let captures = """
        - rule: Captures
          in: dropbox
          settle: 50ms
          do:
            - index-capture
            - append-block: { heading: Captures, text: "got {{ capture.text }}" }
            - trash
        """

    /// Every capture is exactly once in the notes, in the trash and in the dot store, and nothing else is anywhere.
    private func expectOnce(_ texts: [String], _ steward: AgentFixture) throws {
        let notes = try steward.notes()
        let inNotes = Dictionary(
            notes.split(separator: "\n").filter { $0.hasPrefix("got ") }.map { (String($0), 1) }, uniquingKeysWith: +)
        #expect(inNotes == Dictionary(uniqueKeysWithValues: texts.map { ("got \($0)", 1) }), "in the notes")
        #expect(try steward.trash().sorted() == texts.sorted(), "in the trash")
        #expect(try steward.files("dropbox").map(\.nameText) == [])
        #expect(try steward.leftovers() == [])
        let anchors = notes.split(separator: "\n").filter { $0.hasPrefix("^cap-") }
        #expect(Set(anchors).count == texts.count)
        let status = try steward.json(["status"])
        #expect(status["jobs"]["done"].number == Double(texts.count))
        #expect(status["jobs"].keys == ["done"])
        #expect(try steward.run(["quarantine"]).check().output == "nothing is in quarantine\n")
        let store = steward.home.path.appending(".local/share/steward/captures")
        let database = try #require(
            try listDirectory(store).map { BytePath(bytes: $0.name).text }.first { $0.hasSuffix(".sqlite") })
        let query = "SELECT noteText FROM experience ORDER BY noteText; PRAGMA integrity_check;"
        let rows = try steward.shell(["sqlite3", store.appending(BytePath(database)).text, query]).check().output
        #expect(rows.split(separator: "\n").map(String.init) == texts.sorted() + ["ok"], "in the dot store")
        let ledger = steward.home.path.appending(".local/state/steward/ledger.sqlite").text
        #expect(try steward.shell(["sqlite3", ledger, "PRAGMA integrity_check"]).check().output == "ok\n")
    }

    @Test("SIGTERM in the middle of three hundred captures: it exits cleanly, and the next start continues")
    func terminate() async throws {
        let steward = try AgentFixture()
        try steward.rule(Self.captures)
        try await steward.start()
        let texts = (0..<300).map { String(format: "capture %03d", $0) }
        for (number, text) in texts.enumerated() { try steward.drop(BytePath("dropbox/\(number).md"), text) }
        try await steward.until("some work is done, but not all") { try steward.trash().count > 5 }
        #expect(try await steward.stop() == 0)
        #expect(try steward.log().contains("stopped"))
        #expect(try steward.leftovers() == [])
        try await steward.start()
        try steward.wait()
        try expectOnce(texts, steward)
    }

    /// A program that waits until the test lets it continue, however long that takes.
    private static func program(_ before: String, until go: String, _ after: String) -> String {
        "run: { command: [sh, -c, \"\(before); until [ -e '\(go)' ]; do sleep 0.1; done; \(after)\"] }"
    }

    @Test("SIGTERM waits for the running step, and the job's next steps follow at the next start")
    func drain() async throws {
        let steward = try AgentFixture(configuration: "run: { allow: true }")
        let flag = steward.home.path.appending("flag").text
        let go = steward.home.path.appending("go").text
        try steward.rule(
            """
            - rule: Slow
              in: drafts
              settle: 50ms
              do:
                - \(Self.program("touch '\(flag)'", until: go, "echo ended >> '\(flag)'"))
                - append-block: { note: log, text: "<after>" }
            """)
        try await steward.start()
        try steward.drop("drafts/a.md", "x\n")
        try await steward.until("the program runs") { try FileStatus.of(BytePath(flag)) != nil }
        let status = try await steward.stop {
            #expect(try steward.home.read("flag") == "")
            try steward.home.write("go", "")
        }
        #expect(status == 0)
        #expect(try steward.home.read("flag") == "ended\n")
        #expect(try steward.count("<after>") == 0)
        try await steward.start()
        try steward.wait()
        #expect(try steward.home.read("flag") == "ended\n", "the program ran once")
        #expect(try steward.count("<after>") == 1)
    }

    @Test("A program running when the agent was killed is not run again until somebody says so")
    func unknown() async throws {
        let steward = try AgentFixture(configuration: "run: { allow: true }")
        let flag = steward.home.path.appending("flag").text
        let go = steward.home.path.appending("go").text
        try steward.rule(
            "- rule: Slow\n  in: drafts\n  settle: 50ms\n  do:\n"
                + "    - \(Self.program("echo begun >> '\(flag)'", until: go, "true"))\n")
        try await steward.start()
        try steward.drop("drafts/a.md", "x\n")
        try await steward.until("the program runs") { try FileStatus.of(BytePath(flag)) != nil }
        try await steward.kill9()
        try steward.home.write("go", "")
        try await steward.start()
        try steward.wait()
        let parked = try #require(try steward.json(["status"])["parked"].items.first)
        #expect(parked["problem"].text.hasPrefix("outcome unknown"))
        #expect(try steward.home.read("flag") == "begun\n")
        try steward.run(["retry", parked["job"].text]).check()
        try steward.wait()
        #expect(try steward.home.read("flag") == "begun\nbegun\n")
    }

    @Test("A replaced file is restored if the agent was killed midway and the new file is taken away")
    func replaced() async throws {
        let steward = try AgentFixture()
        try steward.rule(
            """
            - rule: Backups
              in: dropbox
              settle: 50ms
              do: [{ move: { place: library, exists: replace } }]
            """)
        try steward.drop("library/a.txt", "the last good one")
        try await steward.start(endingAt: "renamed:1")
        let file = try steward.drop("dropbox/a.txt", "the next")
        try await steward.endedThere()
        #expect(try !steward.exists("library/a.txt"))
        try Durable.remove(file)
        try await steward.start()
        try steward.wait()
        #expect(try steward.read("library/a.txt") == "the last good one")
        #expect(try steward.trash().isEmpty)
        #expect(try steward.past("dropbox/a.txt").map { $0["state"].text } == ["superseded"])
        #expect(try steward.past("library/a.txt").isEmpty, "it is no news there")
    }

    @Test("Fifty SIGKILLs at random moments while captures keep coming: everything happens exactly once")
    func kills() async throws {
        var random = SeededGenerator(for: "fifty SIGKILLs")
        let steward = try AgentFixture()
        try steward.rule(Self.captures)
        var texts: [String] = []
        for round in 0..<50 {
            let process = try await steward.launch()
            let end = ContinuousClock.now.advanced(by: .milliseconds(.random(in: 20...700, using: &random)))
            // Some arrive during the start, some while it works, some while the earlier ones are being processed.
            for number in 0..<6 {
                let text = "capture \(round).\(number)"
                try steward.drop(BytePath("dropbox/\(round)-\(number).md"), text)
                texts.append(text)
                if Bool.random(using: &random) {
                    try await Task.sleep(for: .milliseconds(.random(in: 1...60, using: &random)))
                }
            }
            try await Task.sleep(until: end, clock: .continuous)
            #expect(process.isRunning, "round \(round)")
            try await steward.kill9()
        }
        try await steward.start()
        try steward.wait()
        try expectOnce(texts, steward)
    }
}
