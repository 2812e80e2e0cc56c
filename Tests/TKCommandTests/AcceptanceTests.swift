import Foundation
import OwnFiles
import Platform
import TKCore
import TestSupport
import Testing

/// The twelve acceptance steps of the command line, as a user types them, against the built program.
@Suite("The twelve acceptance steps", .timeLimit(.minutes(30)))
struct AcceptanceTests {
    private let stub: MessagesStub
    private let fixture: CommandFixture

    init() throws {
        stub = try MessagesStub()
        fixture = try CommandFixture(stub)
        try fixture.write("README.md", sampleDraft)
        try fixture.write("draft.md", sampleDraft)
    }

    @Test("1. config init && config set api_key: setup works")
    func setUp() throws {
        let fresh = try CommandFixture()
        let result = try fresh.shell("tk config init && tk config set api_key sk-test-0815")
        #expect(result.status == 0)
        #expect(result.errors.contains("--stdin"), "whoever passes a key as an argument is warned")
        #expect(!(result.output + result.errors).contains("sk-test-0815"))
        #expect(try !fresh.read(".tk/config.json").contains("sk-test"))
        #expect(try fresh.read(".tk/secrets/anthropic") == "sk-test-0815\n")
        #expect(try FileStatus.of(fresh.home.path.appending(".tk/secrets/anthropic"))?.mode == 0o600)
    }

    @Test("2. roles list shows 11 built-in roles")
    func roles() throws {
        #expect(try fixture.tk(["roles", "list"]).output.split(separator: "\n").count == 12)
        let json = try Answer(parsing: try fixture.tk(["roles", "list", "--json"]).output)
        #expect(json["roles"].items.count == 11)
        #expect(json["roles"].items.first?["id"].text == "general")
    }

    @Test("3. story-types list shows 9 story types")
    func storyTypes() throws {
        #expect(try fixture.tk(["story-types", "list"]).output.split(separator: "\n").count == 10)
        let json = try Answer(parsing: try fixture.tk(["story-types", "list", "--json"]).output)
        #expect(json["story_types"].items.count == 9)
    }

    @Test("4. echo TEXT | suggest --quiet returns suggestions")
    func quiet() throws {
        let result = try fixture.shell("echo 'The system can be utilized to process data' | tk suggest --quiet")
        #expect(result.status == 0)
        #expect(result.output == "used\n")
        #expect(result.errors == "")
    }

    @Test("5. suggest FILE --json parses")
    func json() throws {
        let result = try fixture.tk(["suggest", "README.md", "--json"])
        let answer = try Answer(parsing: result.output)
        #expect(result.status == 0)
        #expect(answer["version"].text == "1.0")
        #expect(answer["suggestions"].items.count == 4, "two of the advisor's, two of the quick pass")
        let first = try #require(answer["suggestions"].items.first { $0["original_text"].text == "utilized" })
        let scalars = Array(sampleDraft.unicodeScalars)
        let range = Int(first["range_start"].number ?? 0)..<Int(first["range_end"].number ?? 0)
        #expect(String(String.UnicodeScalarView(scalars[range])) == "utilized")
        #expect(answer["metadata"]["usage"]["input_tokens"].number == 1000)
    }

    @Test("6. suggest --advisors a,b names the advisors, with colours only on a terminal")
    func severalAdvisors() throws {
        let result = try fixture.tk(["suggest", "README.md", "--advisors", "technical_writer,editor"])
        #expect(result.output.contains("Technical Writer") && result.output.contains("Editor"))
        #expect(!result.output.contains("\u{1B}"))
        #expect(stub.requests.count == 1, "several advisors are one call")
        let line = "tk suggest README.md --advisors technical_writer,editor"
        let typescript = try fixture.shell(
            "export TERM=xterm-256color; script -qec \"'\(CommandFixture.binary)' \(line.dropFirst(3))\" /dev/null")
        #expect(typescript.output.contains("\u{1B}["))
        let colourless = try fixture.shell(
            "export TERM=xterm NO_COLOR=1; script -qec \"'\(CommandFixture.binary)' \(line.dropFirst(3))\" /dev/null")
        #expect(!colourless.output.contains("\u{1B}["))
    }

    @Test("7. suggest --strict exits with 2 if there are suggestions")
    func strict() throws {
        #expect(try fixture.tk(["suggest", "README.md", "--strict"]).status == 2)
        try fixture.write("good.md", "We use it daily.\n")
        #expect(try fixture.tk(["suggest", "good.md", "--strict", "--quick"]).status == 0)
    }

    @Test("8. council -q shows perspectives and synthesis")
    func council() throws {
        let result = try fixture.tk([
            "council", "README.md", "--advisors", "general,technical_writer,editor", "-q", "Is this clear?",
        ])
        #expect(result.status == 0)
        for words in ["3 perspectives", "Is this clear?", "General", "Technical Writer", "Editor", "Synthesis"] {
            #expect(result.output.contains(words), "\(words) in:\n\(result.output)\(result.errors)")
        }
        #expect(stub.requests.count == 3, "one call an advisor")
    }

    @Test("9. ask --file --role returns the advisor's answer")
    func ask() throws {
        let result = try fixture.tk([
            "ask", "How should I structure this?", "--file", "draft.md", "--role", "academic",
        ])
        #expect(result.status == 0)
        #expect(result.output.contains("Academic") && result.output.contains(MessagesStub.answerText))
        #expect(stub.requests.last?.body.contains("utilized") == true, "the draft goes with the question")
        let again = try fixture.tk(["ask", "And then?", "--role", "academic", "--continue", "--json"])
        #expect(try Answer(parsing: again.output)["turns"].number == 2)
        #expect(stub.requests.last?.body.contains("How should I structure this?") == true)
    }

    @Test("10. cat draft | pipe prints the rewritten text")
    func pipe() throws {
        let result = try fixture.shell("cat draft.md | tk pipe > draft.improved.md")
        #expect(result.status == 0)
        let improved = try fixture.read("draft.improved.md")
        #expect(improved.contains("can be used to process data. It was built"))
        #expect(improved.hasPrefix("# Manual\n\nThe system"))
    }

    @Test("11. pipe --diff prints a unified diff that patch accepts")
    func diff() throws {
        let result = try fixture.tk(["pipe", "draft.md", "--diff"])
        #expect(result.output.hasPrefix("--- a/draft.md\n+++ b/draft.md\n@@ -1,3 +1,3 @@\n"))
        try fixture.write("changes.diff", result.output)
        #expect(try fixture.shell("patch -p1 < changes.diff").status == 0)
        #expect(try fixture.read("draft.md") == fixture.tk(["pipe", "README.md"]).output)
    }

    @Test("12. export --format html --output produces valid HTML")
    func export() throws {
        #expect(try fixture.tk(["export", "draft.md", "--format", "html", "--output", "draft.html"]).status == 0)
        let html = try fixture.read("draft.html")
        #expect(html.hasPrefix("<!DOCTYPE html>\n<html"))
        #expect(html.contains("<title>Manual</title>") && html.contains("<h1>Manual</h1>"))
        let check = """
            import html.parser, sys
            class P(html.parser.HTMLParser):
                void = {"meta", "br", "hr", "img", "link", "input"}
                stack = []
                def handle_starttag(self, tag, attrs):
                    if tag not in self.void: self.stack.append(tag)
                def handle_endtag(self, tag):
                    assert self.stack.pop() == tag, tag
            p = P(); p.feed(open("draft.html", encoding="utf-8").read()); p.close(); assert not p.stack
            """
        try fixture.write("check.py", check)
        #expect(try fixture.shell("python3 check.py").errors == "")
    }
}
