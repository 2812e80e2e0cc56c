import Foundation
import Glibc
import OwnFiles
import Platform
import TKCore
import TestSupport
import Testing

/// What a script can rely on: exit codes, the two streams, precedence, and that drafts and keys are safe.
@Suite("Guarantees for scripts", .timeLimit(.minutes(30)))
struct CommandBehaviourTests {
    @Test("Exit codes: 0 done, 1 failed, 2 strict, 64 usage error; errors never on standard output")
    func exitCodes() throws {
        let fixture = try CommandFixture()
        try fixture.write("draft.md", sampleDraft)
        let cases: [([String], Int32)] = [
            (["suggest", "draft.md", "--quick"], 0), (["suggest", "missing.md"], 1),
            (["suggest", "draft.md", "--role", "editr"], 1), (["suggest", "draft.md", "--quick", "--strict"], 2),
            (["suggest", "draft.md", "--json", "--quiet"], 64),
            (["suggest", "--categories", "nonsense", "draft.md"], 64),
            (["council", "draft.md", "--advisors", "editor"], 1), (["council", "draft.md"], 1),
            (["roles", "show", "x"], 1),
            (["config", "get", "api_key"], 1), (["nonsense"], 64),
        ]
        for (arguments, status) in cases {
            let result = try fixture.tk(arguments)
            #expect(result.status == status, "\(arguments): \(result.errors)")
            if status == 1 || status == 64 {
                #expect(result.output == "", "\(arguments)")
                #expect(!result.errors.isEmpty, "\(arguments)")
            }
        }
        #expect(try fixture.tk(["suggest", "draft.md", "--role", "editr"]).errors.contains("`editor`"))
    }

    @Test("A baseline leaves what is new", arguments: ["json", "sarif"])
    func baseline(_ format: String) throws {
        let fixture = try CommandFixture()
        // Longer than the neighbours by which a finding is known.
        let old = "The cat sat on the mat, went to the door and looked at the snow for a long time.\n\n" + sampleDraft
        try fixture.write("draft.md", old)
        let before = try fixture.tk(["suggest", "draft.md", "--quick", "--format", format])
        try fixture.write("before", before.output)
        try fixture.write("draft.md", "We met in order to talk.\n\n" + old)
        let suggest = ["suggest", "draft.md", "--quick", "--strict", "--format", "line", "--baseline"]
        let news = try fixture.tk(suggest + ["before"])
        #expect(news.status == 2 && news.output.split(separator: "\n").count == 1, "\(news.output)\(news.errors)")
        #expect(news.output.hasPrefix("draft.md:1:8: "))
        try fixture.write("draft.md", old)
        let none = try fixture.tk(suggest + ["before"])
        #expect(none.status == 0 && none.output == "", "\(none.output)")
        try fixture.write("other.json", #"{"runs": [{"results": [{"ruleId": "x"}]}]}"#)
        for wrong in ["other.json", "draft.md", "missing"] {
            let refused = try fixture.tk(suggest + [wrong])
            #expect(refused.status != 0 && refused.status != 2 && refused.errors.contains(wrong), "\(refused.errors)")
        }
    }

    @Test("The version option works in any position")
    func version() throws {
        let fixture = try CommandFixture()
        let alone = try fixture.tk(["--version"])
        #expect(alone.status == 0)
        #expect(alone.output.contains("."))
        #expect(try fixture.tk(["roles", "--version"]).output == alone.output)
    }

    @Test("One unreadable file exits with 1, and the others are reviewed")
    func missingFileAmongOthers() throws {
        let fixture = try CommandFixture()
        try fixture.write("draft.md", sampleDraft)
        let result = try fixture.tk(["suggest", "missing.md", "draft.md", "--quick", "--parallel", "--ndjson"])
        #expect(result.status == 1)
        #expect(result.errors.contains("missing.md"))
        let lines = try result.output.split(separator: "\n").map { try Answer(parsing: String($0)) }
        #expect(lines.last?["record"].text == "metadata")
        #expect(lines.dropLast().allSatisfy { $0["file"].text == "draft.md" } && lines.count > 2)
    }

    @Test("Without a key or a local model the quick pass runs, and one line says so")
    func quickPassAlone() throws {
        let fixture = try CommandFixture()
        let result = try fixture.tk(["suggest", "--quiet"], input: "The system can be utilized to process data\n")
        #expect(result.status == 0)
        #expect(!result.output.isEmpty)
        #expect(result.errors.split(separator: "\n").count == 1)
        #expect(result.errors.contains("quick pass only"))
        let asked = try fixture.tk(["ask", "Why?"])
        #expect(asked.status == 1 && asked.errors.contains("api_key"), "what needs a model says what is missing")
    }

    @Test("Precedence: flag, environment, project, user, default")
    func precedence() throws {
        let fixture = try CommandFixture()
        func source(_ arguments: [String] = [], _ variables: [String: String] = [:]) throws -> (String, String) {
            let result = try fixture.tk(["config", "show", "--json"] + arguments, variables: variables)
            let model = try Answer(parsing: result.output)["settings"]["model"]
            return (model["value"].text, model["source"].text)
        }
        // The user's file is elsewhere, because within the home directory it would be the same as the project's file.
        let away = ["TK_HOME": fixture.home.path.appending("user").text]
        #expect(try source([], away) == ("claude-sonnet-4-6", "default"))
        try fixture.write("user/.tk/config.json", #"{"model": "from-user"}"#)
        #expect(try source([], away).0 == "from-user")
        try fixture.write(".tk/config.json", #"{"role": "editor"}"#)
        let role = try fixture.tk(["config", "get", "role", "--json"], variables: away).output
        #expect(try Answer(parsing: role)["value"].text == "editor" && role.contains(".tk/config.json"))
        let all = away.merging(["TK_MODEL": "from-environment"]) { $1 }
        #expect(try source([], all) == ("from-environment", "environment, TK_MODEL"))
        #expect(try source(["--model", "from-flag"], all) == ("from-flag", "command line"))
    }

    @Test("Config: set, get, init; an unknown name gets a suggestion")
    func configuration() throws {
        let fixture = try CommandFixture()
        #expect(try fixture.tk(["config", "init"]).status == 0)
        #expect(try fixture.tk(["config", "init"]).output.contains("already"))
        #expect(try fixture.tk(["config", "set", "monthly_budget", "5"]).status == 0)
        #expect(try fixture.tk(["config", "get", "monthly_budget"]).output == "5\n")
        let debt = try fixture.tk(["config", "set", "monthly_budget", "-5"])
        #expect(debt.status == 64 && debt.errors.contains("US dollars from 0 to 1000000"), "\(debt.errors)")
        #expect(try fixture.tk(["config", "set", "model", "-5"]).errors.contains("tk config set model -- -5"))
        #expect(try fixture.tk(["config", "set", "modle", "x"]).errors.contains("`model`"))
        let key = try fixture.tk(["config", "set", "api_key", "--stdin"], input: "sk-from-stdin\n")
        #expect(key.status == 0 && key.errors == "")
        let shown = try fixture.tk(["config", "show"])
        #expect(shown.output.contains("(hidden)") && !shown.output.contains("sk-from"))
    }

    @Test("A draft through --text, a pipe and - gives the same findings")
    func inputs() throws {
        let fixture = try CommandFixture()
        try fixture.write("draft.md", sampleDraft)
        func found(_ arguments: [String], _ input: String = "") throws -> [String] {
            let result = try fixture.tk(["suggest", "--quick", "--json"] + arguments, input: input)
            return try Answer(parsing: result.output)["suggestions"].items.map { $0["id"].text }
        }
        let expected = try found(["draft.md"])
        #expect(!expected.isEmpty)
        #expect(try found(["--text", sampleDraft]) == expected)
        #expect(try found([], sampleDraft) == expected)
        #expect(try found(["-"], sampleDraft) == expected)
    }

    @Test("Filters: categories, confidence, number")
    func filters() throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        try fixture.write("draft.md", sampleDraft)
        func found(_ arguments: [String]) throws -> [String] {
            let result = try fixture.tk(["suggest", "draft.md", "--json"] + arguments)
            return try Answer(parsing: result.output)["suggestions"].items.map { $0["original_text"].text }
        }
        #expect(try found(["--categories", "completeness"]) == ["process data"])
        #expect(try !found(["--min-confidence", "0.8"]).contains("process data"))
        #expect(try found(["--max-suggestions", "1"]).count == 1)
        #expect(try found(["--no-quick"]) == ["utilized", "process data"])
        let asked = stub.requests.count
        #expect(try !found(["--quick"]).isEmpty)
        #expect(stub.requests.count == asked, "the quick pass asks nobody")
    }

    @Test("--interactive: accept, edit, skip and quit; what was accepted is written at the end")
    func interactive() throws {
        let fixture = try CommandFixture()
        try fixture.write("draft.md", sampleDraft)
        chmod(fixture.home.path.appending("draft.md").text, 0o640)
        let result = try fixture.tk(["suggest", "draft.md", "--quick", "--interactive"], input: "a\ne\nis\nq\n")
        #expect(result.status == 0)
        let draft = try fixture.read("draft.md")
        #expect(draft.contains("can be used"))
        #expect(draft.contains("It is built in order to help."))
        #expect(try FileStatus.of(fixture.home.path.appending("draft.md"))?.mode == 0o640)
        #expect(result.errors.contains("2 of 2 accepted applied, 0 skipped, 1 left open"))
    }

    @Test("Export never puts another format in the draft's place, nor overwrites a file open in an editor")
    func export() throws {
        let fixture = try CommandFixture()
        let draft = try fixture.write("draft.md", sampleDraft)
        #expect(symlink("draft.md", fixture.home.path.appending("link.txt").text) == 0)
        #expect(link(draft.text, fixture.home.path.appending("twin.txt").text) == 0)
        for target in ["draft.md", "link.txt", "twin.txt", draft.text] {
            let refused = try fixture.tk(["export", "draft.md", "-f", "txt", "-o", target])
            #expect(
                refused.status == 1 && refused.errors.contains("is the draft itself"), "\(target): \(refused.errors)")
        }
        #expect(try fixture.shell("tk export -f html -o twin.txt < draft.md").status == 1)
        #expect(try fixture.read("draft.md") == sampleDraft)
        #expect(try fixture.tk(["export", "draft.md", "-f", "md", "-o", "draft.md"]).status == 0)
        try fixture.write("other.md", "Mine.\n")
        try fixture.write(".other.md.swp", "")
        let open = try fixture.tk(["export", "draft.md", "-f", "html", "-o", "other.md"])
        #expect(open.status == 1 && open.errors.contains(".other.md.swp"))
        #expect(try fixture.read("other.md") == "Mine.\n" && fixture.read("draft.md") == sampleDraft)
        let lost = try fixture.tk(["export", "draft.md", "-o", "none/draft.html"])
        #expect(
            lost.errors
                == "tk: none/draft.html cannot be written, because the folder none does not exist; create it first\n")
        #expect(try fixture.tk(["export", "-f", "txt", "-o", "/dev/null"]).status == 0)
    }

    @Test("--apply writes atomically, and refuses while an editor has the draft open")
    func apply() throws {
        let fixture = try CommandFixture()
        try fixture.write("draft.md", sampleDraft)
        try fixture.write(".draft.md.swp", "")
        let refused = try fixture.tk(["pipe", "draft.md", "--quick", "--apply"])
        #expect(refused.status == 1 && refused.errors.contains(".draft.md.swp"))
        #expect(try fixture.read("draft.md") == sampleDraft)
        try Durable.remove(fixture.home.path.appending(".draft.md.swp"))
        let applied = try fixture.tk(["pipe", "draft.md", "--quick", "--apply"])
        #expect(applied.status == 0 && applied.output == "")
        #expect(try fixture.read("draft.md").contains("can be used"))
        #expect(try listDirectory(fixture.home.path).filter { $0.name.starts(with: ".steward-".utf8) }.isEmpty)
    }

    @Test("tk ends silently when its reader goes away")
    func brokenPipe() throws {
        let fixture = try CommandFixture()
        try fixture.write("long.md", String(repeating: sampleDraft, count: 400))
        let result = try fixture.shell(
            "set -o pipefail; tk suggest --quick --ndjson long.md | head -n 1; echo ${PIPESTATUS[0]} >&2")
        #expect(result.errors == "141\n")
        #expect(result.output.split(separator: "\n").count == 1)
    }

    @Test("A key is in no argument, no child's environment, no output and no file but its own")
    func keys() throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(variables: ["TK_BASE_URL": stub.url, "TK_API_KEY": MessagesStub.key])
        try fixture.write("draft.md", sampleDraft)
        stub.refuse(1)
        let failed = try fixture.tk(["suggest", "draft.md", "--verbose"])
        #expect(failed.status == 1)
        let done = try fixture.tk(["suggest", "draft.md", "--verbose", "--json"])
        #expect(done.status == 0)
        // A substitute renderer prints its input.
        try fixture.write(
            "bin/weasyprint",
            "#!/bin/sh\nenv > \(fixture.home.path)/env; echo \"$@\" >> \(fixture.home.path)/env; echo x > page.pdf\n")
        chmod(fixture.home.path.appending("bin/weasyprint").text, 0o755)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let rendered = try fixture.tk(
            ["export", "draft.md", "-o", "draft.pdf"], variables: ["PATH": "\(fixture.home.path)/bin:\(path)"])
        #expect(rendered.status == 0, "\(rendered.errors)")
        let shown = try [failed, done, rendered].map { $0.output + $0.errors }.joined() + fixture.read("env")
        #expect(!shown.contains(MessagesStub.key))
        #expect(try fixture.shell("grep -rl --exclude='.run-*' '\(MessagesStub.key)' . || true").output == "")
    }

    @Test("--verbose reports tokens and cost, and usage sums them up")
    func usage() throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        try fixture.write("draft.md", sampleDraft)
        let result = try fixture.tk(["suggest", "draft.md", "--verbose", "--quiet"])
        let announced = /tk: draft.md: asking anthropic claude-sonnet-4-6, about \d+ tokens in 1 call, about \$0\.\d+\n/
        #expect(result.errors.prefixMatch(of: announced) != nil, "what it will cost is said first: \(result.errors)")
        #expect(result.errors.contains("1000 tokens in (100 cached), 200 out, cost $0.0057"), "\(result.errors)")
        let usage = try Answer(parsing: try fixture.tk(["usage", "--by", "model", "--json"]).output)
        #expect(usage["usage"].items.first?["key"].text == "anthropic/claude-sonnet-4-6")
        #expect(usage["usage"].items.first?["cost_usd"].number == 0.00573)
        #expect(try fixture.tk(["config", "set", "monthly_budget", "0.006"]).status == 0)
        let stopped = try fixture.tk(["suggest", "draft.md"])
        #expect(stopped.status == 1 && stopped.errors.contains("budget"), "\(stopped.errors)")
    }

    @Test("The draft's stage and genre reach the advisors")
    func stage() throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        try fixture.write("draft.md", sampleDraft)
        for arguments in [["suggest", "draft.md"], ["council", "draft.md"], ["ask", "Why?", "-f", "draft.md"]] {
            for stage in ["early", "late"] {
                let result = try fixture.tk(arguments + ["--stage", stage, "--story-type", "brd_prd"])
                #expect(result.status == 0, "\(result.errors)")
                let body = stub.requests.last?.body ?? ""
                #expect(body.contains("DRAFT STAGE: \(stage.uppercased())"), "\(arguments) \(stage)")
                #expect(body.contains("cceptance criteria"), "\(arguments): the genre's context")
            }
        }
    }

    @Test("Roles: create, show, list, delete")
    func customRoles() throws {
        let fixture = try CommandFixture()
        let created = try fixture.tk([
            "roles", "create", "--name", "Plain Speaker", "--expertise", "Plain language", "--focus", "Jargon",
            "--perspective", "A reader without training in the field", "--guideline", "Name the plain word",
        ])
        #expect(created.status == 0, "\(created.errors)")
        #expect(try fixture.tk(["roles", "show", "custom_plain-speaker"]).output.contains("Name the plain word"))
        #expect(try fixture.tk(["roles", "list"]).output.contains("custom_plain-speaker"))
        #expect(try fixture.tk(["roles", "delete", "custom_plain-speaker"]).status == 1, "nobody is there to be asked")
        #expect(try fixture.tk(["roles", "delete", "custom_plain-speaker", "--force"]).status == 0)
        #expect(try fixture.tk(["roles", "delete", "editor", "--force"]).status == 1)
    }

    @Test("--describe and assemble choose advisors")
    func assemble() throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        try fixture.write("draft.md", sampleDraft)
        let team = try fixture.tk(["story-types", "assemble", "a manual for a database", "--json"])
        #expect(try Answer(parsing: team.output)["advisors"].items.first?["id"].text == "technical_writer")
        let review = try fixture.tk(["suggest", "draft.md", "--describe", "a manual for a database", "--json"])
        let costs = try fixture.tk(["story-types", "assemble", "a manual for a database", "--verbose"]).errors
        #expect(costs.hasPrefix("tk: assemble: asking anthropic claude-sonnet-4-6, about "), "\(costs)")
        let metadata = try Answer(parsing: review.output)["metadata"]
        #expect(metadata["story_type"].text == "technical_docs")
        #expect(metadata["advisors"].items.map(\.text) == ["technical_writer"])
    }

    @Test("Search finds drafts by words, titles and prefixes")
    func search() throws {
        let fixture = try CommandFixture()
        try fixture.write("drafts/whales.md", "# Whales\n\nThe narwhal is no unicorn.\n")
        try fixture.write("drafts/whales.review.md", SidecarMark.line("whales.md") + "\n\nA narwhal.\n")
        try fixture.write("drafts/bees.md", "# Bees\n\nA hive has one queen.\n")
        let result = try fixture.tk(["search", "narw", "--in", "drafts", "--json"])
        let hits = try Answer(parsing: result.output)["hits"].items
        #expect(hits.map { $0["title"].text } == ["Whales"])
        #expect(try fixture.tk(["search", "zebra", "--in", "drafts"]).output == "Nothing found.\n")
    }
}
