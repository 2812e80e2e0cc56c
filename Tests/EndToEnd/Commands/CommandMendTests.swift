import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// What people do when something has gone wrong.
@Suite("Repair commands")
struct CommandMendTests {
    static let captures = CommandDaemonTests.captures

    @Test(
        "A refused file is in quarantine with the reason beside it; it is listed, restored, processed again, dropped"
    )
    func quarantine() async throws {
        let steward = try AgentFixture()
        try steward.rule(Self.captures)
        #expect(try steward.run(["quarantine"]).check().output == "nothing is in quarantine\n")
        try await steward.start()
        try steward.moveIn("dropbox/broken.bin", [1, 2, 3, 0xFF, 0])
        try steward.moveIn("dropbox/other.bin", [0xFF, 0xFE, 0, 1])
        try steward.wait()
        #expect(try steward.files("dropbox").isEmpty)
        let list = try steward.json(["quarantine", "list"]).items
        #expect(list.count == 2)
        let held = try #require(list.first { $0["path"].text == "broken.bin" })
        let stored = BytePath(held["stored"].text)
        #expect(try Descriptor(stored).readAll() == [1, 2, 3, 0xFF, 0])
        let reason = String(decoding: try Descriptor(stored.parent.appending("reason.txt")).readAll(), as: UTF8.self)
        #expect(reason.contains("is not a capture"))
        #expect(reason.contains(steward.path("dropbox/broken.bin").text))
        let data = String(decoding: try Descriptor(stored.parent.appending("reason.json")).readAll(), as: UTF8.self)
        #expect(try Answer(parsing: data)["rule"].text == "Captures")
        #expect(try steward.run(["quarantine", "list"]).check().output.contains("broken.bin\n    "))
        #expect(try steward.run(["status"]).check().output.contains("2 in quarantine"))

        let id = held["id"].text
        let back = try steward.json(["quarantine", "restore", id])
        #expect(back["path"].text == steward.path("dropbox/broken.bin").text)
        try steward.wait()
        #expect(try steward.exists("dropbox/broken.bin"), "what was restored counts as seen")
        #expect(try FileStatus.of(stored.parent) == nil)
        #expect(
            try steward.run(["reprocess", steward.path("dropbox/broken.bin").text]).check().output == "1 jobs planned\n"
        )
        try steward.wait()
        #expect(try !steward.exists("dropbox/broken.bin"), "and is refused again when asked for")

        try await steward.stop()
        for entry in try steward.json(["quarantine", "list"]).items {
            #expect(try steward.run(["quarantine", "drop", entry["id"].text]).check().output.contains("deleted"))
            #expect(try FileStatus.of(BytePath(entry["stored"].text)) == nil)
        }
        #expect(try steward.json(["quarantine"]).items.isEmpty)
        #expect(try steward.run(["quarantine", "drop", id]).status == 64)
    }

    @Test(
        "A refused job is retried on request: its file leaves quarantine first, without counting as news")
    func retryRefused() async throws {
        let steward = try AgentFixture()
        try steward.rule(
            """
            - rule: Captures
              in: dropbox
              settle: 50ms
              do: [index-capture, trash]
            """)
        try await steward.start()
        try steward.moveIn("dropbox/broken.bin", [1, 2, 3, 0xFF, 0])
        try steward.wait()
        let job = try #require(try steward.past("dropbox/broken.bin").first)
        #expect(job["state"].text == "refused")
        for _ in 0..<2 {
            let held = try #require(try steward.json(["quarantine"]).items.first)
            try steward.run(["retry", job["job"].text]).check()
            try steward.wait()
            // Nothing has been fixed, so it is refused again for the same reason.
            let again = try steward.json(["quarantine"]).items
            #expect(again.map { $0["path"].text } == ["broken.bin"])
            #expect(again.map { $0["reason"].text } == [held["reason"].text])
        }
        #expect(try steward.past("dropbox/broken.bin").map { $0["state"].text } == ["refused"])
        #expect(try steward.judgements("Captures", in: "dropbox") == ["arrived broken.bin"])
    }

    @Test("A parked job is retried on request, and completes the remaining steps")
    func retry() async throws {
        let steward = try AgentFixture(configuration: "run: { allow: true }")
        try steward.rule(
            """
            - rule: Program
              in: drafts
              settle: 100ms
              do:
                - append-block: { note: log, anchor: run, text: "{{ file.name }} begins" }
                - run: { command: [test, -e, "\(steward.home.path.appending("flag").text)"] }
                - append-block: { note: log, anchor: run, text: "{{ file.name }} ends" }
            """)
        try await steward.start()
        try steward.drop("drafts/a.md", "x\n")
        try steward.wait()
        let parked = try #require(try steward.json(["status"])["parked"].items.first)
        #expect(parked["problem"].text.contains("ended with 1"))
        let id = String(parked["job"].text.prefix(12))
        #expect(try steward.run(["status"]).check().output.contains(id))
        try steward.home.write("flag", "")
        #expect(try steward.run(["retry", id]).check().output.contains("to be tried again"))
        try steward.wait()
        #expect(try steward.count("a.md begins") == 1)
        #expect(try steward.count("a.md ends") == 1)
        #expect(try steward.run(["retry", id]).status == 64)
        #expect(try steward.run(["retry", "zzz"]).status == 64)
        #expect(try steward.json(["retry"]).items.isEmpty)

        try steward.shell(["rm", steward.home.path.appending("flag").text]).check()
        try steward.drop("drafts/b.md", "y\n")
        try steward.wait()
        try await steward.stop()
        try steward.home.write("flag", "")
        #expect(try steward.json(["retry"]).items.count == 1, "without an agent it is noted for the next one")
        try await steward.start()
        try steward.wait()
        #expect(try steward.count("b.md ends") == 1)
    }

    @Test("A note that somebody keeps open is retried with backoff, which continues after a restart")
    func backoff() async throws {
        let steward = try AgentFixture(configuration: "notes: { wait-open: 100ms }")
        try steward.rule(
            "- rule: R\n  in: drafts\n  settle: 100ms\n  do:\n    - append-block: { note: log, text: \"{{ file.name }}\" }\n"
        )
        try steward.drop("notes/log.md", "# Log\n")
        try await steward.start()
        let open = try Descriptor(steward.path("notes/log.md"), O_WRONLY)
        try steward.drop("drafts/a.md", "x\n")
        // At once: during a retry it is not shown as waiting.
        try await steward.until("the job waits, and says for what") {
            try steward.json(["status"])["waiting"].items.first?["problem"].text
                .contains("is kept open for writing by") == true
        }
        try await steward.stop()
        try await steward.start()
        try await steward.until("the second try has failed") {
            try steward.history().contains { $0["message"].text.hasPrefix("try 2 failed") }
        }
        #expect(try steward.history().count { $0["message"].text.hasPrefix("try 1 failed") } == 1)
        withExtendedLifetime(open) {}
        try steward.run(["retry"]).check()
        _ = consume open
        try await steward.until("the block is there") { try steward.count("a.md") == 1 }
        try steward.wait()
        #expect(try steward.past("drafts/a.md").first?["state"].text == "done")
    }

    @Test("`reprocess` runs a rule again on a file, on a folder and on everything it matches")
    func reprocess() async throws {
        let steward = try AgentFixture()
        try steward.rule(
            "- rule: R\n  in: drafts\n  settle: 100ms\n  do:\n    - append-block: { note: log, text: \"<{{ file.path }}>\" }\n"
        )
        try await steward.start()
        for name in ["a.md", "f/b.md", "f/c.md"] { try steward.drop(BytePath("drafts/\(name)"), name) }
        try steward.wait()
        #expect(try steward.json(["reprocess", steward.path("drafts/a.md").text])["jobs"].number == 1)
        try steward.wait()
        #expect(try steward.json(["reprocess", steward.path("drafts/f").text, "--rule", "R"])["jobs"].number == 2)
        try steward.wait()
        #expect(try steward.run(["reprocess", "--rule", "R"]).check().output == "3 jobs planned\n")
        try steward.wait()
        for name in ["<a.md>", "<f/b.md>", "<f/c.md>"] { #expect(try steward.count(name) == 3) }
        #expect(try steward.run(["reprocess"]).status == 64)
        #expect(try steward.run(["reprocess", "--rule", "Q"]).errors.contains("no rule is called"))
        #expect(try steward.run(["reprocess", "/etc/passwd"]).status == 64)
    }
}
