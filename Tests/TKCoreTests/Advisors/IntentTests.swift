import TKCore
import TestSupport
import Testing

@Suite("Understanding the writer's request", .timeLimit(.minutes(30)))
struct IntentTests {
    @Test(
        "Plain requests need no model",
        arguments: [
            ("Please give me some feedback on this", WriterIntent.feedback), ("Let the council debate this", .council),
            ("How should I structure this?", .question), ("Shorten the second paragraph", .rewrite),
            ("Assemble a team for a novel", .team), ("Export it as PDF", .export), ("Is this clear?", .question),
            ("Can you shorten this?", .rewrite), ("Why is passive voice bad?", .question),
        ])
    func plain(_ text: String, _ intent: WriterIntent) async throws {
        let server = try ScriptedServer(AdvisorFixture.answer("unused"))
        let detector = IntentDetector(prompts: try AdvisorFixture.prompts(), model: try AdvisorFixture.access(server))
        let detected = try await detector.detect(text)
        #expect(detected.intent == intent && !detected.isFromModel && server.requests.isEmpty, "\(detected)")
    }

    @Test("A model is asked about the rest; if it cannot tell, the guess from the words stays")
    func ambiguous() async throws {
        let prompts = try AdvisorFixture.prompts()
        let text = "the thing with the second paragraph again"
        let server = try ScriptedServer(AdvisorFixture.answer(#"{"intent":"rewrite","confidence":0.7}"#))
        let detected = try await IntentDetector(prompts: prompts, model: try AdvisorFixture.access(server)).detect(text)
        #expect(detected.intent == .rewrite && detected.isFromModel && detected.calls.count == 1)
        for answer in [AdvisorFixture.answer("No idea."), .reply(500, #"{"error":"x"}"#)] {
            let access = try AdvisorFixture.access(try ScriptedServer(answer))
            let guess = try await IntentDetector(prompts: prompts, model: access).detect(text)
            #expect(guess.intent == .feedback && !guess.isFromModel)
        }
        #expect(try await IntentDetector(prompts: prompts).detect(text).confidence < IntentDetector.certain)
    }
}
