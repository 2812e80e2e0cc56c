import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Files that exist when the agent starts.
@Suite("Starting, end to end")
struct StartTests {
    /// Records each event in `log.md`: `<event name>`.
    private func rule(
        _ name: String, in place: String, on events: String = "[arrived, changed, renamed, removed]",
        _ more: String = ""
    ) -> String {
        """
        - rule: \(name)
          in: \(place)
          on: \(events)
          settle: 100ms
        \(more.isEmpty ? "" : "  \(more)\n")  do:
            - append-block: { note: log, text: "<\(name) {{ event }} {{ file.name }}>" }

        """
    }

    @Test("Files present at the first start are processed if the rule says so, and are always recorded")
    func first() async throws {
        let steward = try AgentFixture()
        try steward.rule(
            rule("Process", in: "drafts", "existing: process") + rule("Skip", in: "drafts", "existing: skip")
                + rule("Default", in: "drafts") + rule("Inbox", in: "dropbox"))
        try steward.drop("drafts/a.md", "one\n")
        try steward.drop("drafts/f/b.md", "two\n")
        try steward.drop("dropbox/c.md", "three\n")
        try await steward.start()
        try steward.wait()
        for line in ["<Process arrived a.md>", "<Process arrived b.md>", "<Inbox arrived c.md>"] {
            #expect(try steward.count(line) == 1, "\(line)")
        }
        #expect(try steward.count("<") == 3, "neither what says skip nor what says nothing in a place of drafts")
        #expect(try steward.json(["status"])["files"].number == 4, "with the note")
        try steward.drop("drafts/a.md", "changed\n")
        try steward.wait()
        for line in ["<Process changed a.md>", "<Skip changed a.md>", "<Default changed a.md>"] {
            #expect(try steward.count(line) == 1, "\(line)")
        }
        try await steward.stop()
        try await steward.start()
        try steward.wait()
        #expect(try steward.count("<") == 6, "a second start finds nothing new")
    }

    @Test("A file dropped during the first scan counts as arrived", .timeLimit(.minutes(30)))
    func duringTheFirstLook() async throws {
        let steward = try AgentFixture()
        try steward.rule(rule("Skip", in: "drafts", "existing: skip"))
        for number in 0..<200 { try steward.drop(BytePath("drafts/old/\(number).md"), "old\n") }
        try await steward.start()
        try steward.drop("drafts/new.md", "new\n")
        try steward.wait()
        #expect(try steward.count("<Skip arrived new.md>") == 1)
        #expect(try steward.count("<") == 1, "and what was there before has not")
    }

    @Test("A place added later gets its baseline like the first ones")
    func place() async throws {
        let steward = try AgentFixture()
        try steward.rule(rule("Old", in: "drafts"))
        try await steward.start()
        try await steward.stop()
        try steward.addPlace("attic")
        try steward.drop("attic/a.md", "one\n")
        try steward.rule("20-new.yaml", rule("Process", in: "attic", "existing: process") + rule("Skip", in: "attic"))
        try await steward.start()
        try steward.wait()
        #expect(try steward.count("<Process arrived a.md>") == 1)
        #expect(try steward.count("<") == 1)
    }

    @Test("A rule added later processes existing files if it says so, once")
    func newRule() async throws {
        let steward = try AgentFixture()
        try steward.rule(rule("Old", in: "drafts"))
        try await steward.start()
        try steward.drop("drafts/a.md", "one\n")
        try steward.wait()
        try steward.rule("20-new.yaml", rule("Process", in: "drafts", "existing: process") + rule("Skip", in: "drafts"))
        try steward.run(["reload"]).check()
        try steward.wait()
        #expect(try steward.count("<Process arrived a.md>") == 1)
        try await steward.stop()
        try steward.rule("30-new.yaml", rule("Third", in: "drafts", "existing: process"))
        try await steward.start()
        try steward.wait()
        #expect(try steward.count("<Third arrived a.md>") == 1)
        #expect(try steward.count("<") == 3)
    }

    @Test("Files changed, renamed, removed and added without an agent are noticed at the next start, each once")
    func whileDown() async throws {
        let steward = try AgentFixture()
        try steward.rule(rule("R", in: "drafts"))
        try await steward.start()
        for name in ["changed", "renamed", "removed", "same", "touched"] {
            try steward.drop(BytePath("drafts/f/\(name).md"), "\(name)\n")
        }
        try steward.wait()
        #expect(try steward.count("<R arrived") == 5)
        try await steward.stop()
        try steward.drop("drafts/f/changed.md", "changed, really\n")
        try steward.shell(["mv", steward.path("drafts/f/renamed.md").text, steward.path("drafts/new name.md").text])
            .check()
        try steward.shell(["rm", steward.path("drafts/f/removed.md").text]).check()
        try steward.shell(["touch", steward.path("drafts/f/touched.md").text]).check()
        try steward.drop("drafts/g/added.md", "added\n")
        try await steward.start()
        try steward.wait()
        for line in [
            "<R changed changed.md>", "<R renamed new name.md>", "<R removed removed.md>", "<R arrived added.md>",
        ] {
            #expect(try steward.count(line) == 1, "\(line)")
        }
        #expect(try steward.count("<") == 9)
    }

    @Test("A lost ledger: existing files count as seen, status says so, and rebuild processes a place")
    func lost() async throws {
        let steward = try AgentFixture()
        try steward.rule(rule("R", in: "[dropbox, drafts]", "existing: process"))
        try await steward.start()
        try steward.drop("dropbox/a.md", "one\n")
        try steward.wait()
        try await steward.stop()
        try Durable.remove(steward.home.path.appending(".local/state/steward/ledger.sqlite"))
        for command in [["rebuild", "--process", "dropbox"], ["pause"], ["retry"]] {
            let result = try steward.run(command)
            #expect(result.status == 1, "without an agent no command begins a ledger that knows nothing: \(command)")
            #expect(result.errors.contains("steward run"))
        }
        try steward.drop("dropbox/b.md", "two\n")
        try await steward.start()
        try steward.wait()
        #expect(try steward.count("<") == 1, "nothing is done again, and nothing that may have been done")
        #expect(try steward.json(["status"])["files"].number == 3)
        #expect(try steward.run(["status"]).check().output.contains("the ledger was lost"))
        try steward.drop("dropbox/c.md", "three\n")
        try steward.wait()
        #expect(try steward.count("<R arrived c.md>") == 1, "what comes from now on is news")
        let unknown = try steward.run(["rebuild", "--process", "attic"])
        #expect(unknown.status == 64)
        #expect(unknown.errors.contains("there are notes, drafts, comics, dropbox"))
        #expect(try steward.json(["rebuild", "--process", "dropbox"])["jobs"].number == 2, "a and b; c is known")
        try steward.wait()
        #expect(try steward.count("<R arrived a.md>") == 2)
        #expect(try steward.count("<R arrived b.md>") == 1)
        #expect(try steward.count("<R arrived c.md>") == 1)
        #expect(try steward.json(["status"])["warnings"].items.isEmpty)
    }

    @Test("A permanent error ends the agent with 64, and systemd does not restart it")
    func unmendable() async throws {
        let steward = try AgentFixture()
        try steward.rule(rule("R", in: "dropbox"))
        try await steward.start()
        try await steward.stop()
        _ = try steward.inLedger("INSERT INTO grdb_migrations VALUES ('999 from the future')")
        let newer = try steward.run(["run"])
        #expect(newer.status == 64 && newer.errors.contains("was written by a newer version"), "\(newer.errors)")
        #expect(try steward.run(["pause"]).status == 1, "a command has failed")
        _ = try steward.inLedger("DELETE FROM grdb_migrations WHERE identifier = '999 from the future'")
        let deep = BytePath(String(repeating: "long", count: 40))
        steward.variables["STEWARD_RUNTIME"] = steward.home.path.appending(deep).text
        let long = try steward.run(["run"])
        #expect(long.status == 64 && long.errors.contains("set STEWARD_RUNTIME to a shorter one"), "\(long.errors)")
    }

    @Test("Signals during the start do not kill it")
    func signalled() async throws {
        let steward = try AgentFixture()
        try steward.rule(rule("R", in: "dropbox"))
        try await steward.start()
        try await steward.stop()
        // An exclusive lock on the ledger makes the start wait.
        let held = steward.home.path.appending("held")
        let words = Pipe()
        let holder = Process(["sqlite3", steward.home.path.appending(".local/state/steward/ledger.sqlite").text])
        holder.standardInput = words
        holder.standardOutput = FileHandle.nullDevice
        try holder.run()
        words.fileHandleForWriting.write(
            Data("PRAGMA locking_mode = EXCLUSIVE;\nBEGIN EXCLUSIVE;\n.shell touch '\(held.text)'\n".utf8))
        try await steward.until("the ledger is held") { try FileStatus.of(held) != nil }
        let agent = try await steward.launch()
        try await steward.until("it is about to open its ledger") {
            try steward.home.read(".local/state/steward/lock").hasPrefix("\(agent.processIdentifier)\n")
        }
        for number in [SIGHUP, SIGUSR1] { kill(agent.processIdentifier, number) }
        try words.fileHandleForWriting.close()
        holder.waitUntilExit()
        try await steward.until("it has started") {
            guard agent.isRunning else { throw TestFailure("it has ended with \(agent.terminationStatus)") }
            return try steward.run(["status", "--json"]).output.contains("\"isRunning\" : true")
        }
        try await steward.stop()
    }

    @Test("An unreadable ledger is set aside, never deleted, and then treated as lost")
    func corrupt() async throws {
        let steward = try AgentFixture()
        try steward.rule(rule("R", in: "dropbox"))
        try await steward.start()
        try steward.drop("dropbox/a.md", "one\n")
        try steward.wait()
        try await steward.stop()
        // With its log, SQLite would restore everything, garbage or not.
        for log in ["-wal", "-shm"] {
            try? Durable.remove(steward.home.path.appending(BytePath(".local/state/steward/ledger.sqlite\(log)")))
        }
        let garbage = "This is no database. " + String(repeating: "?", count: 5000)
        try steward.home.write(".local/state/steward/ledger.sqlite", garbage)
        #expect(try steward.run(["status"]).status == 1)
        try await steward.start()
        try steward.wait()
        #expect(try steward.count("<") == 1)
        #expect(try steward.log().contains("lost or damaged"))
        #expect(!(try steward.json(["status"])["warnings"].items.isEmpty))
        let state = steward.home.path.appending(".local/state/steward")
        let aside = try listDirectory(state).filter { String(decoding: $0.name, as: UTF8.self).contains(".corrupt-") }
        #expect(
            try aside.map { try String(decoding: Descriptor(state.appending(name: $0.name)).readAll(), as: UTF8.self) }
                == [garbage])
    }
}
