import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@Suite("Programs that rules run")
struct RunProgramTests {
    /// Installs a program of this name that writes its arguments and environment into the home.
    private func install(_ name: String, _ steward: AgentFixture) throws {
        let home = steward.home.path.text
        let script = try steward.home.write(
            BytePath("bin/\(name)"),
            "#!/bin/sh\nprintf '%s\\n' \"$@\" > '\(home)/arguments'\nenv > '\(home)/environment'\n")
        chmod(script.text, 0o755)
        steward.variables["PATH"] = "\(home)/bin:/usr/local/bin:/usr/bin:/bin"
    }

    private func arguments(of command: String, program: String, on name: String) async throws -> [String] {
        let steward = try AgentFixture(configuration: "run: { allow: true }")
        try install(program, steward)
        try steward.rule("- rule: R\n  in: drafts\n  settle: 100ms\n  do:\n    - \(command)\n")
        try await steward.start()
        try steward.drop(BytePath("drafts").appending(name), "x\n")
        try steward.wait()
        #expect(try steward.status().parked.map(\.problem) == [])
        try await steward.stop()
        return try steward.home.read("arguments").split(separator: "\n").map(String.init)
    }

    @Test("A file with the name of an option is passed as a file in the manual's example")
    func manualExample() async throws {
        let manual = try AgentFixture().run(["rules", "manual"]).check().output
        let example = try #require(manual.split(separator: "\n").first { $0.hasPrefix("run: { command: [ocrmypdf") })
        #expect(
            try await arguments(of: String(example), program: "ocrmypdf", on: "--help.pdf")
                == ["./--help.pdf", "./--help.ocr.pdf"])
    }

    @Test("An argument that begins with a value is not an option; one written in the rule is")
    func options() async throws {
        let command =
            "run: { command: [show, -v, \"{{ file.name }}\", \"--in={{ file.name }}\", \"{{ file.stem }}.x\", \"{{ file.title }}\", \"\"] }"
        #expect(
            try await arguments(of: command, program: "show", on: "-rf.md")
                == ["-v", "./-rf.md", "--in=-rf.md", "./-rf.x", "x"])
    }

    @Test("A program sees none of the agent's keys, credentials and sockets, only what it needs and what the rule adds")
    func environment() async throws {
        let steward = try AgentFixture(configuration: "run: { allow: true }")
        try install("show", steward)
        let secrets = [
            "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID",
            "STEWARD_SECRET", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS",
        ]
        for name in secrets { steward.variables[name] = steward.home.path.appending("none").text }
        steward.variables["LC_ALL"] = "C.UTF-8"
        steward.variables["XDG_CACHE_HOME"] = "/cache"
        try steward.rule(
            """
            - rule: R
              in: drafts
              settle: 100ms
              do:
                - run: { command: [show], environment: { DISPLAY: ":0", MINE: "{{ file.stem }}" } }
            """)
        try await steward.start()
        let file = try steward.drop("drafts/a.md", "x\n")
        try steward.wait()
        try await steward.stop()
        let lines = try steward.home.read("environment").split(separator: "\n").map(String.init)
        for name in secrets { #expect(!lines.contains { $0.hasPrefix(name + "=") }, "\(name)") }
        for line in [
            "HOME=\(steward.home.path.text)", "LC_ALL=C.UTF-8", "XDG_CACHE_HOME=/cache", "DISPLAY=:0", "MINE=a",
            "STEWARD_FILE=\(file.text)",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(lines.contains { $0.hasPrefix("STEWARD_JOB_ID=") } && lines.contains { $0.hasPrefix("PATH=") })
        #expect(
            lines.count { $0.hasPrefix("STEWARD_") } == 2)
    }

    @Test("`check` warns of a program that starts where others can write, and of one that would not find the file")
    func check() throws {
        let steward = try AgentFixture(configuration: "run: { allow: true }")
        func warnings(_ command: String) throws -> String {
            try steward.rule("- rule: R\n  in: drafts\n  do:\n    - run: { command: [\(command)] }\n")
            return try steward.run(["check"]).check().output
        }
        #expect(try warnings("cat, /dev/fd/3").contains("0 warnings"))
        #expect(try warnings("cat, \"./{{ file.name }}\"").contains("say `in: file`"))
        let beside =
            "cat, \"./{{ file.name }}\"], in: file, environment: { A: \"b\" } }\n    - run: { command: [\"true\""
        chmod(steward.path("drafts").text, 0o755)
        #expect(try warnings(beside).contains("0 warnings"))
        chmod(steward.path("drafts").text, 0o777)
        #expect(try warnings(beside).contains("everybody can write to the place drafts"))
    }
}
