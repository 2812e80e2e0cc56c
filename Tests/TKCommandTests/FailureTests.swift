import Platform
import TestSupport
import Testing

/// If advisors cannot be asked, the quick pass's findings are still there, and one line says what is missing.
@Suite("Unavailable advisors", .timeLimit(.minutes(30)))
struct FailureTests {
    private let stub: MessagesStub
    private let fixture: CommandFixture
    private static let quick = "used\nwas\nto\n"

    init() throws {
        stub = try MessagesStub()
        fixture = try CommandFixture(stub)
        for name in ["one.md", "two.md", "three.md"] { try fixture.write(BytePath(name), sampleDraft) }
    }

    private static let failures: [(String, ScriptedServer.Answer)] = [
        ("does not accept the key", .complaint(401, "authentication_error")),
        ("the stub", .complaint(400, "invalid_request_error", "the stub")),
        // Longer than is waited for.
        ("overloaded", .complaint(529, "overloaded_error", headers: ["retry-after": "121"])),
        ("not answer in the form", .message("I would rather not.")),
    ]

    @Test("A failed call leaves the quick pass's findings, one line, and exit code 1")
    func oneFile() throws {
        for (words, answer) in Self.failures {
            stub.fail(answer)
            let found = try fixture.tk(["suggest", "one.md", "--quiet"])
            #expect(found.status == 1 && found.output == Self.quick, "\(found.errors)")
            #expect(found.errors.hasPrefix("tk: one.md: quick pass only: anthropic: "), "\(found.errors)")
            #expect(found.errors.contains(words) && found.errors.split(separator: "\n").count == 1, "\(found.errors)")
            let changed = try fixture.tk(["pipe", "one.md"])
            #expect(changed.status == 1 && changed.output.contains("can be used to process data. It was built"))
            #expect(changed.errors.contains(words))
            let alone = try fixture.tk(["suggest", "one.md", "--no-quick", "--quiet"])
            #expect(alone.status == 1 && alone.output == "" && alone.errors.contains(words), "\(alone.errors)")
        }
    }

    @Test("An unusable service is not asked about further drafts; a failure with one draft affects only that")
    func severalFiles() throws {
        let files = ["one.md", "two.md", "three.md", "--quiet"]
        for (_, answer) in [Self.failures[0], Self.failures[2]] {
            let before = stub.requests.count
            stub.fail(answer)
            let result = try fixture.tk(["suggest"] + files)
            #expect(result.status == 1 && result.output == Self.quick + Self.quick + Self.quick)
            #expect(stub.requests.count == before + 1, "\(result.errors)")
            let lines = result.errors.split(separator: "\n")
            #expect(
                lines.count == 3
                    && lines[2] == "tk: three.md: quick pass only: not asked, because that would fail in the same way")
        }
        stub.fail(Self.failures[3].1, times: 1)
        let result = try fixture.tk(["suggest", "--json"] + files.dropLast())
        let found = try Answer(parsing: result.output)
        #expect(result.status == 1 && found["metadata"]["mode"].text == "advisors")
        #expect(found["suggestions"].items.filter { $0["original_text"].text == "process data" }.count == 2)
    }

    @Test("An exhausted budget stops only the advisors")
    func budget() throws {
        #expect(try fixture.tk(["config", "set", "monthly_budget", "0.0001"]).status == 0)
        let result = try fixture.tk(["suggest", "one.md", "--quiet", "--verbose"])
        #expect(result.status == 1 && result.output == Self.quick, "\(result.errors)")
        #expect(result.errors.contains("tk: one.md: quick pass only: the budget of $"), "\(result.errors)")
        #expect(!result.errors.contains("no model was asked"))
        let described = try fixture.tk(["suggest", "one.md", "--quiet", "--describe", "a manual for a database"])
        #expect(described.status == 1 && described.output.contains("used\n"), "\(described.errors)")
        #expect(stub.requests.isEmpty)
    }

    @Test("Programs are informed as well: each advisor's failure, and the cost of an unusable answer")
    func json() throws {
        stub.fail(Self.failures[3].1)
        let result = try fixture.tk(["suggest", "one.md", "--json", "--advisors", "editor"])
        let metadata = try Answer(parsing: result.output)["metadata"]
        #expect(result.status == 1 && metadata["mode"].text == "quick")
        #expect(metadata["failures"].items.map { $0["advisor_id"].text } == ["editor"])
        #expect(metadata["usage"]["input_tokens"].number == 1000)
    }

    @Test("--interactive steps through the quick pass's findings, and still exits with 1")
    func interactive() throws {
        stub.fail(Self.failures[0].1)
        let result = try fixture.tk(["suggest", "one.md", "--interactive"], input: "a\na\na\n")
        #expect(result.status == 1 && result.errors.contains("3 of 3 accepted applied"), "\(result.errors)")
        #expect(try fixture.read("one.md").contains("can be used to process data. It was built to help."))
    }
}
