import Foundation
import Glibc
import Platform
import TestSupport
import Testing

/// Text from outside that is displayed: on a terminal, in the journal, in JSON.
@Suite("Hostile text")
struct HostileTextTests {
    /// OSC 52 writes the clipboard, OSC 0 the window title; C1's CSI; a text direction override; a forged line.
    private static let printed =
        "\u{1B}]52;c;cHduZWQ=\u{07}\u{1B}]0;title\u{07}\u{9B}2J\u{202E}evil\u{2066}\u{7F}\n2026-11-22 forged: line"

    private static let rules = """
        - rule: Speak
          in: drafts
          where: { name: "good*" }
          settle: 100ms
          do:
            - run: { command: ["./speak"], in: file }
            - tag: { add: ["{{ run.output }}"] }
        - rule: Fail
          in: drafts
          where: { name: "bad*" }
          settle: 100ms
          do:
            - run: { command: ["./speak", fail], in: file }
        - rule: Refuse
          in: dropbox
          settle: 100ms
          do:
            - index-capture
          refused: quarantine

        """

    private func steward(_ more: String = "") throws -> AgentFixture {
        let steward = try AgentFixture(configuration: "run: { allow: true }\n" + more)
        let script = try steward.home.write("speak", "#!/bin/sh\ncat '\(steward.home.path.text)/said'\n[ -z \"$1\" ]\n")
        chmod(script.text, 0o755)
        try steward.home.write("said", Self.printed)
        try steward.rule(Self.rules.replacing("./speak", with: script.text))
        return steward
    }

    private func expectHarmless(_ text: String, _ what: String) {
        for scalar in text.unicodeScalars where scalar != "\n" && scalar != "\t" {
            #expect(!ShownText.acts(scalar), "\(what): U+\(String(scalar.value, radix: 16))")
        }
    }

    @Test("Output of a program and a tag are readable and cannot control the terminal")
    func terminal() async throws {
        let steward = try steward()
        try await steward.start()
        let good = try steward.drop("drafts/good.txt", "x\n")
        let bad = try steward.drop("drafts/bad.txt", "x\n")
        try steward.moveIn("dropbox/\u{1B}]0;t\u{07}.bin", [1, 2, 0xFF, 0])
        try steward.wait()
        let job = try #require(try steward.past("drafts/good.txt").first?["job"].text)
        for command in [
            ["status"], ["log"], ["explain", good.text], ["explain", bad.text], ["quarantine"], ["check"], ["rules"],
            ["retry"], ["undo", job], ["log", "--job", "\u{1B}]0;t\u{07}"], ["retry", "\u{9B}2J"],
            ["reprocess", "--rule", "\u{202E}x"],
        ] {
            let result = try steward.run(command)
            expectHarmless(result.output, "\(command)")
            expectHarmless(result.errors, "\(command)")
            if ["status", "log", "explain"].contains(command[0]), command.count < 3 {
                #expect(
                    result.output.contains("\\x1B]52;c;cHduZWQ=\\x07\\x1B]0;title\\x07\\xC2\\x9B2J\\xE2\\x80\\xAEevil"))
                #expect(!result.output.contains("\n2026-11-22 forged"), "\(command)")
            }
        }
        try await steward.stop()
        expectHarmless(try steward.run(["status"]).output, "status without an agent")
        expectHarmless(try steward.log(), "the agent's log")
        #expect(try steward.log().contains("\\x1B]52;c;cHduZWQ=\\x07"))
        #expect(try !steward.log().contains("\n2026-11-22 forged"))
    }

    @Test("JSON holds the same exactly, and is also harmless on a terminal")
    func json() async throws {
        let steward = try steward("log: { level: info, format: json }")
        try await steward.start()
        let good = try steward.drop("drafts/good.txt", "x\n")
        try steward.drop("drafts/bad.txt", "x\n")
        try steward.wait()
        // A tag has no comma and no surrounding blanks; a parked job's problem is one line.
        let tag = Self.printed
        let problem = Self.printed.replacing("\n", with: " ")
        let status = try steward.run(["status", "--json"]).check().output
        expectHarmless(status, "status --json")
        #expect(try Answer(parsing: status)["parked"].items.first?["problem"].text.contains(problem) == true)
        let log = try steward.run(["log", "--json"]).check().output
        expectHarmless(log, "log --json")
        let messages = try log.split(separator: "\n").map { try Answer(parsing: String($0))["message"].text }
        #expect(messages.contains { $0.contains(tag) })
        let explained = try steward.run(["explain", good.text, "--json"]).check().output
        expectHarmless(explained, "explain --json")
        #expect(
            try Answer(parsing: explained)["past"].items.first?["done"].items.contains { $0.text.contains(tag) } == true
        )
        try await steward.stop()
        let journal = try steward.log()
        expectHarmless(journal, "the agent's log as JSON")
        let said = try journal.split(separator: "\n").map { try Answer(parsing: String($0))["message"].text }
        #expect(said.contains { $0.contains(tag) })
    }
}
