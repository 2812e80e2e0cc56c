import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Setup commands")
struct CommandSetupTests {
    @Test("`init` creates the configuration and the places, and changes nothing that exists")
    func initialises() throws {
        let steward = try AgentFixture()
        let file: BytePath = ".config/steward/steward.yaml"
        let first = try steward.home.read(file)
        #expect(try FileStatus.of(steward.home.path.appending(file)).map { $0.mode & 0o777 } == 0o600)
        try steward.home.write(file, first + "# mine\n")
        let again = try steward.run(["init"]).check()
        #expect(again.output.contains("kept"))
        #expect(!again.output.contains("made   "))
        #expect(try steward.home.read(file) == first + "# mine\n")
        let made = try steward.json(["init"])
        #expect(made["created"].items.isEmpty)
        #expect(made["existed"].items.count == 7)
    }

    @Test("`init --dry-run` says what would be created, and creates nothing")
    func initialisesDry() throws {
        let steward = try AgentFixture()
        let other = steward.home.path.appending("other")
        let arguments = [
            "init", "--dry-run", "--base", other.appending("S").text, "--config", other.appending("s.yaml").text,
        ]
        #expect(try steward.run(arguments).check().output.contains("would make"))
        #expect(try steward.json(arguments)["created"].items.count == 7)
        #expect(try FileStatus.of(other) == nil)
    }

    @Test("`check` finds nothing wrong with the output of `init`")
    func checksWell() throws {
        let steward = try AgentFixture()
        #expect(try steward.run(["check"]).check().output == "0 rules in 0 files, 0 errors, 0 warnings\n")
        #expect(try steward.json(["check"])["diagnostics"].items.isEmpty)
    }

    @Test("`check` reports every error in the configuration, with line and column")
    func checksConfiguration() throws {
        let steward = try AgentFixture()
        try steward.home.write(
            ".config/steward/steward.yaml",
            """
            places:
              notes: { kind: nots, path: ~/Steward/notes }
              drafts: { kind: drafts }
            time-zone: Mars/Olympus
            setle: 1s
            history: soon
            """)
        let result = try steward.run(["check"])
        #expect(result.status == 2)
        for complaint in [
            "steward.yaml:2:18: error: ", "yaml:3:3: error: ", "yaml:4:12: error: ", "yaml:5:1: error: ",
            "yaml:6:10: error: ",
        ] {
            #expect(result.output.contains(complaint), "\(complaint) in\n\(result.output)")
        }
        #expect(result.output.contains("did you mean `notes`?"))
        #expect(result.output.contains("did you mean `settle`?"))
        let report = try steward.json(["check"], status: 2)
        #expect(report["diagnostics"].items.count == 5)
        #expect(try steward.run(["run"]).status == 64)
        #expect(try steward.run(["status"]).errors.contains("steward.yaml:4:12: error: "))
    }

    @Test("`check` reports every error in the rules of all files at once")
    func checksRules() throws {
        let steward = try AgentFixture()
        try steward.rule("10-a.yaml", "- rule: A\n  in: dropbox\n  do: imdex-capture\n")
        try steward.rule(
            "20-b.yaml",
            "- rule: B\n  in: dropbx\n  on: [arived]\n  do:\n    - trash\n    - tag: { add: \"{{ file.nam }}\" }\n")
        try steward.rule("30-c.yaml", "- rule: C\n  in: [drafts\n")
        let result = try steward.run(["check"])
        #expect(result.status == 2)
        for complaint in [
            "10-a.yaml:3:7: error: ", "20-b.yaml:2:7: error: ", "20-b.yaml:3:8: error: ", "20-b.yaml:6:", "30-c.yaml:",
        ] {
            #expect(result.output.contains(complaint), "\(complaint) in\n\(result.output)")
        }
        #expect(result.output.contains("did you mean `index-capture`?"))
        let found = try steward.json(["check"], status: 2)["diagnostics"].items
        #expect(found.count >= 5)
        #expect(
            found.allSatisfy {
                $0["line"].number ?? 0 > 0 && $0["column"].number ?? 0 > 0 && !$0["message"].text.isEmpty
            })
        #expect(try steward.run(["rules", "list"]).status == 2)
    }

    @Test("`check` without a configuration says how to get one")
    func checksNothing() throws {
        let steward = try AgentFixture()
        let nowhere = steward.home.path.appending("none.yaml").text
        let result = try steward.run(["check", "--config", nowhere])
        #expect(result.status == 2)
        #expect(result.output.contains("steward init"))
        #expect(try steward.run(["status", "--config", nowhere]).status == 64)
    }

    @Test("`doctor` finds nothing wrong with the machine, and says how to fix a missing place")
    func doctor() throws {
        let steward = try AgentFixture()
        let well = try steward.run(["doctor"]).check()
        #expect(well.output.contains("ok   place notes: "))
        #expect(try steward.json(["doctor"]).items.allSatisfy { $0["isWell"].isTrue })
        try steward.shell(["rmdir", steward.path("comics").text]).check()
        chmod(steward.home.path.appending(".config/steward/steward.yaml").text, 0o666)
        let ill = try steward.run(["doctor"])
        #expect(ill.status == 2)
        #expect(ill.output.contains("!    place comics: "))
        #expect(ill.output.contains("chmod go-w"))
        let bad = try steward.json(["doctor"], status: 2).items.filter { !$0["isWell"].isTrue }
        #expect(Set(bad.map { $0["subject"].text }) == ["place comics", "configuration"])
        #expect(bad.allSatisfy { !$0["remedy"].text.isEmpty })
    }

    @Test("`rules list`, `schema` and `manual` show the rules in force and what rules can contain")
    func rules() throws {
        let steward = try AgentFixture()
        #expect(try steward.run(["rules"]).check().output == "no rules\n")
        try steward.rule("20-b.yaml", "- rule: Second\n  in: drafts\n  do: trash\n")
        try steward.rule(
            "10-a.yaml",
            "- rule: First\n  in: [dropbox, comics]\n  on: [arrived, changed]\n  do: [index-capture, trash]\n")
        let text = try steward.run(["rules", "list"]).check().output
        #expect(text.contains("First  [dropbox, comics; arrived, changed]  index-capture → trash  "))
        let list = try steward.json(["rules", "list"]).items
        #expect(list.map { $0["rule"].text } == ["First", "Second"])
        #expect(list.first?["actions"].items.map(\.text) == ["index-capture", "trash"])
        #expect(
            try Answer(parsing: try steward.run(["rules", "schema"]).check().output)["$defs"].keys.contains("rule"))
        let manual = try steward.run(["rules", "manual"]).check().output
        #expect(manual.hasPrefix("# "))
        #expect(try steward.json(["rules", "manual"])["markdown"].text == manual)
    }

    @Test("Every command has help, and completions exist for three shells")
    func help() throws {
        let steward = try AgentFixture()
        let commands = [
            "init", "check", "doctor", "rules", "rules list", "rules schema", "rules manual", "demo", "run", "pause",
            "resume", "reload", "wait", "status", "log", "explain", "due", "retry", "undo", "quarantine",
            "quarantine list",
            "quarantine restore", "quarantine drop", "blocks", "blocks list", "blocks restore", "reprocess", "rebuild",
            "dots", "dots today", "dots week", "dots month", "dots year", "dots show", "dots search", "dots add",
            "dots add note", "dots add link", "dots add photo", "dots add dot", "dots delete", "dots export",
            "dots import", "dots backup", "dots check", "comics", "comics inspect", "comics list",
            "comics show", "comics type", "comics page", "comics thumbnail", "comics progress", "comics bookmark",
            "comics favourite", "comics duplicates", "comics move", "comics delete", "vault", "vault init",
            "vault unlock", "vault lock", "vault status", "vault list", "vault show", "vault extract", "vault page",
            "vault thumbnail", "vault progress", "vault bookmark", "vault rename", "vault remove", "vault verify",
            "vault passwd", "vault slots",
            "vault slots list",
            "vault slots add", "vault slots remove", "vault rekey", "vault export-key", "vault import-key",
            "vault quarantine", "vault quarantine list", "vault quarantine take-in", "vault quarantine adopt",
            "vault quarantine discard", "vault accept-rollback", "vault trust",
        ]
        let whole = try steward.run(["--help"]).check().output
        for command in commands {
            let words = command.split(separator: " ").map(String.init)
            let help = try steward.run(words + ["--help"]).check().output
            #expect(help.hasPrefix("OVERVIEW: "), "\(command)")
            #expect(help.contains("USAGE: steward \(command)"))
            #expect(whole.contains("  \(words[0]) "), "\(command) is in the overview")
        }
        for (shell, mark) in [("bash", "complete -"), ("zsh", "#compdef steward"), ("fish", "complete -c 'steward'")] {
            #expect(try steward.run(["--generate-completion-script", shell]).check().output.contains(mark))
        }
    }

    @Test("`--version` prints the same in any position")
    func version() throws {
        let steward = try AgentFixture()
        let alone = try steward.run(["--version"]).check().output
        #expect(alone.contains("."))
        #expect(try steward.run(["status", "--version"]).check().output == alone)
    }

    @Test("Usage errors exit with 64")
    func usage() throws {
        let steward = try AgentFixture()
        for arguments in [
            ["nonsense"], ["undo"], ["log", "--lines", "many"], ["explain", "/etc/passwd"],
        ] {
            #expect(try steward.run(arguments).status == 64, "\(arguments)")
        }
        #expect(try steward.run(["explain", "/etc/passwd"]).errors.contains("is in none of the places: notes ("))
    }

    @Test("The demo shows the shipped rules in its own home, and leaves nothing behind")
    func demo() throws {
        let rules = ShippedRules.folder
        try #require(ShippedRules.files().contains { $0.hasSuffix(".yaml") })
        let steward = try AgentFixture()
        let temporary = try TemporaryFolder("demo")
        steward.variables["TMPDIR"] = temporary.path.text
        let text = try steward.run(["demo", "--rules", rules.text]).check().output
        #expect(text.contains("$ steward run &"))
        #expect(text.contains("Swap the two chapters, then read it aloud."))
        #expect(text.contains("3 in quarantine"))
        #expect(text.contains("$ steward dots today") && text.contains(": 6 experiences"))
        #expect(text.contains("Two herons by the canal.") && text.contains("holiday.png"))
        #expect(text.contains("  library/Saga/Saga 001.cbz\n"))
        #expect(text.contains("is the same comic"))
        #expect(!text.contains(".steward-"), "the agent's own files are nobody's notes")
        #expect(text.contains("POST /app/events") && text.contains("draft.arrived"))
        #expect(try listDirectory(temporary.path).isEmpty)
        #expect(try steward.json(["demo", "--rules", rules.text])["explanations"].items.count == 13)
    }
}
