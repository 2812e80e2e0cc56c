import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Reloading rules, end to end", .ownThreads)
struct ReloadTests {
    private func captures(_ mark: String) -> String {
        """
        - rule: Captures
          in: dropbox
          settle: 100ms
          do:
            - index-capture
            - append-block: { heading: Captures, text: "{{ capture.text }} by \(mark)." }
            - trash

        """
    }

    @Test("Rules that change while two hundred captures are processed: each runs once, under one version")
    func inFlight() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(captures("version 0"))
        try await steward.start()
        for number in 0..<200 {
            try steward.drop(BytePath("dropbox/\(number).md"), "Capture \(number) taken")
            if number % 40 == 20 { try steward.rule(captures("version \(number / 40 + 1)")) }
        }
        try steward.run(["reload"]).check()
        try steward.wait()
        try steward.drop("dropbox/last.md", "The last taken")
        try steward.wait()
        for number in 0..<200 {
            #expect(try steward.count("Capture \(number) taken by version") == 1, "capture \(number)")
        }
        #expect(try steward.count("The last taken by version 5.") == 1)
        #expect(try steward.files("dropbox").isEmpty)
        #expect(try steward.trash().count == 201)
    }

    @Test("A changed rule file is noticed without a request")
    func noticed() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(captures("the first"))
        try await steward.start()
        try steward.rule(captures("the second") + "- rule: Another\n  in: comics\n  do: trash\n")
        try await steward.until("the agent has the new rules") { try steward.json(["status"])["rules"].number == 2 }
        try steward.drop("dropbox/a.md", "Taken")
        try steward.wait()
        #expect(try steward.count("Taken by the second.") == 1)
        try steward.shell(["rm", steward.home.path.appending(".config/steward/rules.d/10-test.yaml").text]).check()
        try await steward.until("the rules are gone") { try steward.json(["status"])["rules"].number == 0 }
    }

    /// A rule file with two rules, and the end of its first.
    private func twoRules(_ mark: String) -> (all: [UInt8], first: Int) {
        let first = "- { rule: Other, in: dropbox, settle: 100ms, where: { size: \"> 1 GB\" }, do: trash }\n"
        return (Array((first + captures(mark)).utf8), first.utf8.count)
    }

    private func append(_ bytes: some Collection<UInt8>, at offset: Int, _ steward: AgentFixture) throws {
        try Descriptor(steward.home.path.appending(file), O_WRONLY).write(Array(bytes), at: Int64(offset))
    }

    private var file: BytePath { ".config/steward/rules.d/10-test.yaml" }

    @Test("While a rule file is saved in place, piece by piece, the previous rules are in force")
    func savedSlowly() async throws {
        let steward = try AgentFixture.inside()
        try steward.home.write(file, twoRules("the first").all)
        try await steward.start()
        let (bytes, _) = twoRules("the second")
        var written = 0
        var number = 0
        let open = try FileHolder(steward.home.path.appending(file), .appending)
        truncate(steward.home.path.appending(file).text, 0)
        // It is empty at first, which is valid; each later piece may be valid as well.
        while written < bytes.count {
            for _ in 0..<3 {
                try steward.drop(BytePath("dropbox/\(number).md"), "Capture \(number) taken")
                try await steward.until("it is taken") {
                    try steward.count("Capture \(number) taken by the first.") == 1
                }
                number += 1
            }
            let piece = bytes[written..<min(written + 40, bytes.count)]
            try append(piece, at: written, steward)
            written += piece.count
        }
        // A request to reload is answered with the reason.
        let asked = try steward.run(["reload"])
        #expect(asked.status == 1 && asked.errors.contains("10-test.yaml is being written"), "\(asked.errors)")
        try open.release()
        try await steward.until("the new rules are in force") {
            number += 1
            try steward.drop(BytePath("dropbox/\(number).md"), "Capture \(number) taken")
            try steward.wait()
            #expect(try steward.count("Capture \(number) taken by the ") == 1)
            return try steward.count("Capture \(number) taken by the second.") == 1
        }
        #expect(try steward.files("dropbox").isEmpty)
        try await steward.stop()
    }

    @Test(
        "Files that arrive while half a rule file looks complete are also processed by the other half",
        arguments: [
            "", "- { rule: Boxes, in: library, match: folders, settle: 100ms, where: { count: '> 9' }, do: trash }\n",
        ])
    func savedInHalves(_ ofFolders: String) async throws {
        // Long enough for everything below to happen within it, even beside other tests on two cores.
        let steward = try AgentFixture.inside(configuration: "settle: 20s")
        // So many that their number matches none of those below.
        let more = (1...4).map { "- { rule: More \($0), in: library, do: trash }\n" }.joined()
        try steward.home.write(file, more + String(decoding: twoRules("before").all, as: UTF8.self))
        try await steward.start()
        let (other, first) = twoRules("the second")
        let albums = """
            - rule: Albums
              in: library
              match: folders
              settle: 100ms
              do: { append-block: { note: log, text: "{{ folder.name }} was seen" } }

            """
        let early = "- { rule: Files, in: library, settle: 100ms, where: { size: '> 1 GB' }, do: trash }\n" + ofFolders
        let bytes = Array(early.utf8) + other + Array(albums.utf8)
        try steward.home.write(file, Array(bytes[..<(early.utf8.count + first)]))
        try await steward.until("its half is in force") {
            try steward.json(["status"])["rules"].number == (ofFolders.isEmpty ? 2 : 3)
        }
        try steward.drop("library/Lisbon/1.jpg", "one")
        for number in 0..<5 { try steward.drop(BytePath("dropbox/\(number).md"), "Capture \(number) taken") }
        try await steward.until("they have settled, and no rule wants them") {
            let status = try steward.json(["status"])
            return status["settling"].items.isEmpty && status["files"].number ?? 0 >= 5
        }
        #expect(try steward.count("taken by") == 0)
        try steward.home.write(file, bytes)
        try await steward.until("they are taken") { try steward.count("taken by the second.") == 5 }
        try await steward.until("so is the folder") { try steward.count("Lisbon was seen") == 1 }
        try steward.wait()
        #expect(try steward.files("dropbox").isEmpty && steward.count("taken by") == 5)
        try await steward.stop()
    }

    @Test("A start in the middle of a save catches up on what half of the rules missed")
    func startedInBetween() async throws {
        let steward = try AgentFixture.inside()
        let (bytes, first) = twoRules("the second")
        try steward.home.write(file, Array(bytes[..<first]))
        let open = try FileHolder(steward.home.path.appending(file), .appending)
        try await steward.start()
        try steward.drop("dropbox/a.md", "Capture taken")
        try steward.wait()
        #expect(try steward.exists("dropbox/a.md"))
        try append(bytes[first...], at: first, steward)
        try open.release()
        try await steward.until("it is taken") { try steward.count("Capture taken by the second.") == 1 }
        try await steward.stop()
    }

    @Test("A broken rule file changes nothing: the rules in force stay, and every report says so")
    func broken() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(captures("the first"))
        try await steward.start()
        try steward.rule("20-broken.yaml", "- rule: B\n  in: drofts\n  do: trash\n")
        // Valid rules come into force with all the others, or not at all.
        try steward.rule(captures("the second"))
        let result = try steward.run(["reload"])
        #expect(result.status == 1)
        #expect(result.errors.contains("20-broken.yaml:2:7: error: "))
        #expect(try steward.run(["status"]).check().output.contains("the rule files have errors"))
        try steward.drop("dropbox/a.md", "Taken")
        try steward.wait()
        #expect(try steward.count("Taken by the first.") == 1)
        #expect(try steward.count("by the second.") == 0)
        try steward.rule("20-broken.yaml", "")
        try steward.run(["reload"]).check()
        #expect(try steward.json(["status"])["warnings"].items.isEmpty)
        try steward.drop("dropbox/b.md", "Taken")
        try steward.wait()
        #expect(try steward.count("Taken by the second.") == 1)
    }

    @Test("An agent started with broken rules judges nothing until they are fixed, and then everything")
    func brokenAtStart() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule("20-broken.yaml", "- rule: B\n  in: drofts\n  do: trash\n")
        try steward.rule(captures("the first"))
        try steward.drop("dropbox/before.md", "Before")
        try await steward.start()
        try steward.drop("dropbox/after.md", "After")
        #expect(try steward.run(["status"]).check().output.contains("files wait until they are valid"))
        #expect(try steward.files("dropbox").count == 2)
        try steward.rule("20-broken.yaml", "")
        try await steward.until("the captures are taken in") { try steward.files("dropbox").isEmpty }
        try steward.wait()
        #expect(try steward.count("Before by the first.") == 1)
        #expect(try steward.count("After by the first.") == 1)
    }

    @Test("Rules that change while the agent starts are read again")
    func duringStart() async throws {
        let steward = try AgentFixture()
        // More complaints than a pipe can hold: the agent has read its rules, and blocks until somebody reads its
        // output.
        try steward.rule(
            (0..<3000).map { "- rule: B\($0)\n  in: drofts\n  do: trash\n" }.joined())
        let pipe = steward.home.path.appending("said")
        #expect(mkfifo(pipe.text, 0o600) == 0)
        let end = open(pipe.text, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(end >= 0)
        try await steward.launch(wrapper: ["/bin/sh", "-c", "exec \"$@\" 2> \(pipe.text)", "sh"])
        var said = [UInt8](repeating: 0, count: 16)
        try await steward.until("it complains") { read(end, &said, said.count) > 0 }
        try steward.rule(captures("the mended"))
        _ = fcntl(end, F_SETFL, 0)
        Thread.detachNewThread {
            var rest = [UInt8](repeating: 0, count: 65_536)
            while read(end, &rest, rest.count) > 0 {}
            close(end)
        }
        try await steward.until("the agent has the mended rules") {
            try steward.run(["status", "--json"]).output.contains("\"rules\" : 1")
        }
        try steward.drop("dropbox/a.md", "Taken")
        try steward.wait()
        #expect(try steward.count("Taken by the mended.") == 1)
        try await steward.stop()
    }

    @Test("SIGHUP rereads the rules")
    func hangUp() async throws {
        let steward = try AgentFixture()
        try steward.rule(captures("the first"))
        try await steward.start()
        func reloads() throws -> Int { try steward.history().count { $0["message"].text.hasPrefix("rules reloaded") } }
        let before = try reloads()
        kill(try #require(steward.processID), SIGHUP)
        try await steward.until("the rules have been read") { try reloads() == before + 1 }
        #expect(try steward.json(["status"])["isRunning"].isTrue)
    }

    @Test("A file with the same name in a later directory replaces, an empty one masks, and both are visible")
    func precedence() async throws {
        let steward = try AgentFixture.inside()
        let folders = ["vendor", "system", "user"]
        steward.variables["STEWARD_RULES"] = folders.map { steward.home.path.appending(BytePath($0)).text }.joined(
            separator: ":")
        func write(_ path: String, _ rule: String?) throws {
            try steward.home.write(BytePath(path), rule.map { "- rule: \($0)\n  in: drafts\n  do: trash\n" } ?? "")
        }
        try write("vendor/10-a.yaml", "A of vendor")
        try write("vendor/20-b.yaml", "B of vendor")
        try write("vendor/30-c.yaml", "C of vendor")
        try write("system/20-b.yaml", "B of system")
        try write("user/30-c.yaml", nil)
        try write("user/05-d.yaml", "D of user")
        func rules() throws -> [String] { try steward.json(["rules"]).items.map { $0["rule"].text } }
        #expect(try rules() == ["D of user", "A of vendor", "B of system"])
        let check = try steward.run(["check"]).check().output
        #expect(check.contains("user/30-c.yaml: masks rules of its name"))
        #expect(check.contains("vendor/20-b.yaml: replaced by "))
        try await steward.start()
        #expect(try steward.json(["status"])["rules"].number == 3)
        for (path, rules) in [("user/10-a.yaml", 2.0), ("system/40-e.yaml", 2.0)] {
            try write(path, nil)
            try await steward.until("\(path) is in force") { try steward.json(["status"])["rules"].number == rules }
        }
        try write("vendor/50-f.yaml", "F of vendor")
        try await steward.until("each directory is watched") { try steward.json(["status"])["rules"].number == 3 }
    }
}
