import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// The first contact of a new user of `tk`: help, completions, mistyped names, an installation, a missing key.
@Suite("First use", .timeLimit(.minutes(30)))
struct NewcomerTests {
    private let fixture: CommandFixture

    init() throws {
        fixture = try CommandFixture()
        try fixture.write("draft.md", sampleDraft)
    }

    @Test("Every command has help, in lines that fit a terminal")
    func help() throws {
        let commands = [
            "", "suggest", "council", "ask", "pipe", "export", "roles", "roles list", "roles show", "roles create",
            "roles delete", "story-types", "story-types list", "story-types show", "story-types assemble", "config",
            "config show", "config get", "config set", "config init", "config unmute", "usage", "search",
        ]
        for command in commands {
            let words = command.split(separator: " ").map(String.init)
            let result = try fixture.tk(words + ["--help"])
            #expect(result.status == 0 && result.errors == "", "\(command)")
            #expect(result.output.hasPrefix("OVERVIEW: ") && result.output.contains("USAGE: tk"), "\(command)")
            let options = result.output.split(separator: "\n").drop { !$0.hasPrefix("OPTIONS:") }
            #expect(options.allSatisfy { $0.count <= 80 }, "\(command)")
        }
    }

    @Test("A mistyped name gets a suggestion; usage errors exit with 64, an unknown name with 1")
    func nearMisses() throws {
        let cases: [([String], Int32, String)] = [
            (["sugest", "draft.md"], 64, "`suggest`"), (["roles", "lst"], 64, "`list`"),
            (["story-types", "shwo", "brd_prd"], 64, "`show`"), (["config", "unmtue", "x"], 64, "`unmute`"),
            (["draft.md"], 64, "tk suggest draft.md"), (["xyzzy"], 64, "`export`"),
            (["suggest", "draft.md", "--format", "sarfi"], 64, "`sarif`"),
            (["export", "draft.md", "--format", "docs"], 64, "`docx`"),
            (["suggest", "draft.md", "--stage", "erly"], 64, "`early`"), (["usage", "--by", "mnoth"], 64, "`month`"),
            (["suggest", "draft.md", "--categories", "claritty"], 64, "`clarity`"),
            (["suggest", "draft.md", "--rol", "editor"], 64, "--role"),
            (["suggest", "draft.md", "--role", "editr"], 1, "`editor`"),
            (["suggest", "draft.md", "--advisors", "editor,acdemic"], 1, "`academic`"),
            (["suggest", "draft.md", "--story-type", "brdprd"], 1, "`brd_prd`"),
            (["suggest", "draft.md", "--provider", "antropic"], 1, "`anthropic`"),
            (["suggest", "draft.md", "--quick", "--ignore", "wrody"], 1, "`wordy`"),
            (["suggest", "draft.md", "--quick", "--rule", "pasive"], 64, "`passive`"),
            (["story-types", "show", "blog"], 1, "`blog_personal` or `blog_professional`"),
            (["roles", "show", "copywritr"], 1, "`copywriter`"),
            (["config", "set", "fallbak", "any"], 1, "`fallback`"),
            (["config", "set", "ignored_rules", "wordy,pasive"], 1, "`passive`"),
        ]
        for (arguments, status, words) in cases {
            let result = try fixture.tk(arguments)
            #expect(result.status == status && result.output == "", "\(arguments)")
            #expect(result.errors.contains(words), "\(arguments): \(result.errors)")
        }
    }

    @Test("Completions for bash, zsh and fish; names of advisors come from the catalogue")
    func completions() throws {
        for shell in ["bash", "zsh", "fish"] {
            let result = try fixture.tk(["--generate-completion-script", shell])
            #expect(result.status == 0 && result.output.contains("story-types"), "\(shell)")
        }
        let check = try fixture.shell(
            "tk --generate-completion-script bash > tk.bash && bash -n tk.bash && source tk.bash && complete -p tk")
        #expect(check.status == 0 && check.output.contains("tk"), "\(check.errors)")
        // The effect of pressing Tab after `tk roles show te`.
        let offered = try fixture.shell(
            """
            PATH="$(dirname '\(CommandFixture.binary)'):$PATH"; unset -f tk; source tk.bash
            COMP_WORDS=(tk roles show te); COMP_CWORD=3; COMP_LINE='tk roles show te'; COMP_POINT=${#COMP_LINE}
            _tk tk te show; printf '%s\\n' "${COMPREPLY[@]}"
            """)
        #expect(offered.output == "technical_writer\n", "\(offered.errors)")
    }

    @Test("The program runs from PREFIX/bin with its data in PREFIX/share/steward/tk, and names the places it searched")
    func installed() throws {
        let data = URL(fileURLWithPath: CommandFixture.binary).deletingLastPathComponent()
            .appendingPathComponent("steward_TKCore.resources/Resources")
        let prefix = fixture.home.path.appending("prefix")
        try Durable.makeDirectory(prefix.appending("bin"))
        // A copy or, if possible, a hard link: a program finds itself by the name that was run.
        let binary = prefix.appending("bin/tk").text
        if link(CommandFixture.binary, binary) != 0 {
            try FileManager.default.copyItem(atPath: CommandFixture.binary, toPath: binary)
        }
        let missing = try fixture.shell("'\(binary)' roles list")
        #expect(missing.status == 1 && missing.output == "")
        #expect(missing.errors.contains("\(prefix)/share/steward/tk"), "\(missing.errors)")
        #expect(missing.errors.contains("STEWARD_TK_RESOURCES"))
        try Durable.makeDirectory(prefix.appending("share/steward"))
        try FileManager.default.copyItem(atPath: data.path, toPath: prefix.appending("share/steward/tk").text)
        let found = try fixture.shell("'\(binary)' roles list && '\(binary)' suggest --quick draft.md --quiet")
        #expect(found.status == 0, "\(found.errors)")
        #expect(found.output.contains("technical_writer") && found.output.hasSuffix("used\nwas\nto\n"))
    }

    @Test("If a key is missing, the advice keeps it out of the arguments")
    func missingKey() throws {
        for arguments in [["ask", "Why?"], ["council", "draft.md"], ["suggest", "draft.md", "--no-quick"]] {
            let result = try fixture.tk(arguments)
            #expect(result.status == 1 && result.errors.contains("`tk config set api_key --stdin`"), "\(arguments)")
            #expect(!result.errors.contains("api_key KEY"))
        }
        #expect(try fixture.tk(["config", "set", "api_key"]).status == 64, "there is nobody to ask")
    }

    @Test("If nobody can answer, each reason is reported once")
    func nobody() throws {
        try fixture.write(".tk/config.json", #"{"base_url": "http://127.0.0.1:1"}"#)
        for arguments in [["ask", "Why?"], ["suggest", "draft.md"]] {
            let result = try fixture.tk(arguments)
            #expect(result.status == 1)
            for reason in ["  anthropic: ", "  ollama: "] {
                #expect(result.errors.components(separatedBy: reason).count == 2, "\(reason) in \(result.errors)")
            }
            #expect(!result.errors.contains("Going on without it"), "\(result.errors)")
        }
    }

    @Test("tk leaves no core dump, which would contain keys and drafts")
    func coreDumps() throws {
        // When the draft can be opened for writing, the program is reading it: it has begun. SIGXCPU ends it with a
        // core dump.
        try fixture.write(
            "dump.py",
            """
            import os, resource, signal, subprocess, sys
            hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
            resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
            os.mkfifo("pipe")
            tk = subprocess.Popen([sys.argv[1], "suggest", "pipe", "--quick"])
            with open("pipe", "wb"):
                tk.send_signal(signal.SIGXCPU)
                status = os.waitpid(tk.pid, 0)[1]
            print(os.WTERMSIG(status) == signal.SIGXCPU, os.WCOREDUMP(status))
            """)
        let result = try fixture.shell("python3 dump.py '\(CommandFixture.binary)'")
        #expect(result.output == "True False\n", "\(result.errors)")
    }

    @Test("Control characters in a draft do not affect the findings, and are kept")
    func controls() throws {
        let result = try fixture.tk([
            "pipe", "--quick", "--text", "a\u{1}b utilized\u{8} each and every\u{1F} go\u{7F}\n",
        ])
        #expect(result.output == "a\u{1}b used\u{8} each\u{1F} go\u{7F}\n", "\(result.errors)")
        #expect(try fixture.tk(["pipe", "--quick", "--text", "a\u{1}b utilized"]).output == "a\u{1}b used")
        let shown = try fixture.shell(
            "printf 'a\\001b\\033]0;x\\007 utilized\\r\\n' > raw.md; export TERM=xterm; "
                + "script -qec \"'\(CommandFixture.binary)' pipe --quick raw.md\" /dev/null")
        #expect(shown.output == "a\\x01b\\x1B]0;x\\x07 used\r\n", "on a terminal they are shown")
    }

    @Test("Weak words and passives are reported if they are asked for")
    func strictStyle() throws {
        let cases: [([String], String)] = [
            ([], "It is a very old house.\n"), (["--strict-style"], "It is an old house.\n"),
            (["--rule", "weak-words"], "It is an old house.\n"), (["--rule", "passive"], "It is a very old house.\n"),
        ]
        for (flags, expected) in cases {
            let result = try fixture.tk(["pipe", "--quick", "--text", "It is a very old house.\n"] + flags)
            #expect(result.output == expected, "\(flags): \(result.errors)")
        }
    }

    @Test("A draft whose name is not UTF-8 is read, changed and exported")
    func rawNames() throws {
        let result = try fixture.shell(
            """
            name=$(printf 'a\\377.md'); cp draft.md "$name" || exit 9
            tk suggest --quick --quiet "$name" && tk pipe --quick --apply "$name" && cat "$name" &&
            tk export "$name" --output="$(printf 'b\\377.html')" && ls b*
            """)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("used\nwas\nto\n# Manual\n\nThe system can be used to process data."))
    }

    @Test("An empty answer when asked for a key removes none")
    func emptyKey() throws {
        #expect(try fixture.tk(["config", "set", "api_key", "--stdin"], input: "sk-kept\n").status == 0)
        let empty = try fixture.tk(["config", "set", "api_key", "--stdin"])
        #expect(empty.status == 1 && empty.errors.contains("nothing was changed"))
        #expect(try fixture.read(".tk/secrets/anthropic") == "sk-kept\n")
        #expect(try fixture.tk(["config", "set", "api_key", ""]).output.contains("removed"))
        #expect(try FileStatus.of(fixture.home.path.appending(".tk/secrets/anthropic")) == nil)
    }

    @Test("A question better answered by another command is referred to it")
    func betterCommand() throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        try fixture.write("draft.md", sampleDraft)
        #expect(try fixture.tk(["ask", "Rewrite this", "-f", "draft.md"]).errors.contains("tk pipe draft.md --diff"))
        #expect(try fixture.tk(["ask", "Why is it so long?", "-f", "draft.md"]).errors == "")
        #expect(try fixture.tk(["ask", "Rewrite this", "-f", "draft.md", "--quiet"]).errors == "")
    }
}
