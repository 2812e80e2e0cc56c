import Foundation
import Platform
import TestSupport
import Testing

/// A server that never ends its answer is abandoned after the time limit; the text received so far is shown.
@Suite("Endless answers", .timeLimit(.minutes(30)))
struct TimeLimitTests {
    private let stub: MessagesStub
    private let fixture: CommandFixture
    private static func late(_ seconds: Int = 1) -> String { "had not answered to the end within \(seconds) s" }
    /// Time for operations that have to succeed, beside other tests.
    private static let enough = 10

    init() throws {
        stub = try MessagesStub()
        fixture = try CommandFixture(stub)
        try fixture.write("draft.md", sampleDraft)
    }

    /// The beginning of an answer, then silence.
    private static func begun(_ text: String) throws -> ScriptedServer.Answer {
        let piece = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        let events = [
            #"{"type":"message_start","message":{"id":"m","model":"stub","usage":{"input_tokens":9,"output_tokens":1}}}"#,
            #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\(piece)}}",
        ]
        return .stream(events.map { "data: \($0)\n\n" }.joined(), ending: .held)
    }

    @Test("If nothing has come, the quick pass's findings are shown, one line says why, and the exit code is 1")
    func silence() throws {
        stub.fail(.stream([], ending: .held))
        let found = try fixture.tk(["suggest", "draft.md", "--quiet", "--timeout", "1"])
        #expect(found.status == 1 && !found.output.isEmpty, "\(found.errors)")
        #expect(found.errors.hasPrefix("tk: draft.md: quick pass only: ") && found.errors.contains(Self.late()))
        #expect(found.errors.contains("--timeout") && found.errors.contains("tk config set timeout"))
        for arguments in [
            ["council", "draft.md"], ["ask", "Why?", "-f", "draft.md"], ["suggest", "--no-quick", "draft.md"],
        ] {
            let found = try fixture.tk(arguments + ["--timeout", "1"])
            #expect(found.status == 1 && found.errors.contains(Self.late()), "\(arguments): \(found.errors)")
        }
    }

    @Test("Suggestions complete by then are shown")
    func suggestions() throws {
        stub.fail(
            try Self.begun(
                #"{"suggestions":[{"quote":"utilized","before":"can be","replacement":"used","type":"improve","#
                    + #""category":"clarity","priority":2,"confidence":0.9,"reason":"Plain."},{"quote":"proc"#))
        let found = try fixture.tk(["suggest", "draft.md", "--no-quick", "--json", "--timeout", "\(Self.enough)"])
        let answer = try Answer(parsing: found.output)
        #expect(found.status == 1, "\(found.errors)")
        #expect(answer["suggestions"].items.map { $0["original_text"].text } == ["utilized"], "\(found.output)")
        #expect(found.errors.contains(Self.late(Self.enough)), "\(found.errors)")
    }

    @Test("The part of an answer written by then is shown")
    func question() throws {
        stub.fail(try Self.begun("Begin with what the reader"))
        let found = try fixture.tk(["ask", "How?", "--timeout", "\(Self.enough)", "--no-keep"])
        #expect(found.status == 1 && found.output.contains("Begin with what the reader"), "\(found.errors)")
        #expect(found.errors.contains(Self.late(Self.enough)), "\(found.errors)")
    }

    @Test("The limit can be set, and an invalid one is rejected")
    func setting() throws {
        #expect(try fixture.tk(["config", "get", "timeout"]).output.contains("300"))
        #expect(try fixture.tk(["config", "set", "timeout", "1"]).status == 0)
        stub.fail(.stream([], ending: .held))
        let found = try fixture.tk(["council", "draft.md"])
        #expect(found.status == 1 && found.errors.contains(Self.late()), "\(found.errors)")
        for wrong in ["0", "x", "1.5"] {
            let refused = try fixture.tk(["ask", "How?", "--timeout", wrong])
            #expect(refused.status == 1 && refused.errors.contains("number of seconds"), "\(refused.errors)")
        }
    }
}
