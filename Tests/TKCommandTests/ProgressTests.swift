import Foundation
import Platform
import TestSupport
import Testing

/// What a terminal shows while a model works, and what `ask` does with it.
@Suite("Progress on a terminal", .timeLimit(.minutes(30)))
struct ProgressTests {
    private let stub: MessagesStub
    private let fixture: CommandFixture

    init() throws {
        stub = try MessagesStub()
        fixture = try CommandFixture(stub)
        try fixture.write("draft.md", sampleDraft)
    }

    @Test("A terminal shows who is asked and for how long")
    func waiting() async throws {
        stub.fail(.stream([], ending: .held))
        for arguments in [["suggest", "draft.md"], ["ask", "Why?", "-f", "draft.md"], ["council", "draft.md"]] {
            let talk = try Conversation(fixture, arguments, onTerminal: true)
            defer { talk.breaksOff() }
            try await talk.hears("\rasking anthropic claude-sonnet-4-6 …")
            try await waitUntil("seconds are counted") { try talk.output.contains(/claude-sonnet-4-6 … \d+ s/) }
        }
    }

    @Test("A wait before a retry is shown with its reason, and the line is removed before output")
    func retrying() async throws {
        stub.fail(.complaint(529, "overloaded_error", headers: ["retry-after-ms": "1500"]), times: 1)
        let talk = try Conversation(fixture, ["suggest", "draft.md", "--json"], onTerminal: true)
        let result = try talk.ends()
        #expect(result.output.contains(/; overloaded, next try in [34] s/), "\(result.output)")
        let before = result.output.unicodeScalars.prefix { $0 != "{" }
        let wiped = before.reversed().dropFirst().prefix { $0 != "\r" }
        #expect(before.last == "\r" && wiped.count > 30 && wiped.allSatisfy { $0 == " " }, "\(result.output)")
        let shown = String(String.UnicodeScalarView(result.output.unicodeScalars.dropFirst(before.count)))
        #expect(!shown.contains("asking") && shown.contains("\"version\": \"1.0\""))
    }

    @Test("Files and pipes get none of it")
    func noTerminal() throws {
        stub.fail(.complaint(529, "overloaded_error", headers: ["retry-after-ms": "1"]), times: 1)
        let result = try fixture.tk(["suggest", "draft.md", "--quiet"])
        #expect(result.status == 0 && result.errors == "")
    }

    @Test("An answer appears on the terminal as it is written, once")
    func streamed() async throws {
        let whole = try Conversation(fixture, ["ask", "Why?", "-f", "draft.md"], onTerminal: true).ends()
        #expect(whole.output.components(separatedBy: MessagesStub.answerText + "\r\n").count == 2, "\(whole.output)")
        #expect(whole.output.contains(":\r\n\r\n" + MessagesStub.answerText), "\(whole.output)")
        var half = ScriptedServer.Answer.message("Begin with the first words of a longer answer, then with more.")
        half.bytes.removeLast(5)
        half.ending = .held
        stub.fail(half)
        let talk = try Conversation(fixture, ["ask", "Why?", "-f", "draft.md"], onTerminal: true)
        defer { talk.breaksOff() }
        try await talk.hears("Begin with the first words")
    }

    @Test("A vague request is sent to the model with the question")
    func intent() throws {
        let open = try fixture.tk(["ask", "The beginning feels heavy", "-f", "draft.md", "--verbose"])
        #expect(open.status == 0 && open.output.contains(MessagesStub.answerText))
        #expect(open.errors.hasSuffix("tk: the draft itself, changed: tk pipe draft.md --diff\n"), "\(open.errors)")
        #expect(open.errors.contains("tokens in 2 calls") && open.errors.contains("2000 tokens in"), "\(open.errors)")
        #expect(stub.requests.count == 2)
        for arguments in [
            ["ask", "The beginning feels heavy", "-f", "draft.md", "--quiet"], ["ask", "The beginning feels heavy"],
            ["ask", "Why is it heavy?", "-f", "draft.md"], ["ask", "Rewrite this", "-f", "draft.md"],
        ] {
            let before = stub.requests.count
            #expect(try fixture.tk(arguments).status == 0)
            #expect(stub.requests.count == before + 1, "\(arguments)")
        }
    }

    @Test("--lines limits both passes to a part of the draft")
    func lines() throws {
        try fixture.write("long.md", "It was was here.\n\nWe utilized it to process data.\n\nIn order to go.\n")
        func found(_ arguments: [String]) throws -> [String] {
            let result = try fixture.tk(["suggest", "long.md", "--json"] + arguments)
            return try Answer(parsing: result.output)["suggestions"].items.map { $0["original_text"].text }
        }
        #expect(try found(["--quick"]).count == 3)
        #expect(try found(["--quick", "--lines", "3"]) == ["utilized"])
        #expect(try found(["--quick", "--lines", "3-99"]).count == 2)
        #expect(try found(["--lines", "3"]).contains("process data"))
        #expect(try found(["--lines", "1", "--no-quick"]).isEmpty)
        let beyond = try fixture.tk(["suggest", "long.md", "--quick", "--lines", "77"])
        #expect(beyond.status == 1 && beyond.errors.contains("there is no line 77: long.md has"), "\(beyond.errors)")
        for wrong in ["0", "5-3", "x", "-", "1-2-3"] {
            #expect(try fixture.tk(["suggest", "long.md", "--lines=\(wrong)"]).status == 64, "\(wrong)")
        }
    }
}
