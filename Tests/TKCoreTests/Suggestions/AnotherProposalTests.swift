import Platform
import TKCore
import TestSupport
import Testing

@Suite("Another proposal for a finding", .timeLimit(.minutes(30)))
struct AnotherProposalTests {
    private static let draft = DraftText("We met.\n\nThe rain fell on the `old` old town.\n\nIt was late.\n")

    private static func finding(_ quote: String = "old town") throws -> Suggestion {
        guard case .exact(let range) = AnchorResolver(draft).find(quote) else { throw CancellationError() }
        return Suggestion(
            id: "0a1b", advisorID: "editor", type: .improve, category: "style", priority: 2, confidence: 1,
            originalText: quote, suggestedText: "old city", hasReplacement: true, reasoning: "It is a city.",
            anchor: draft.anchor(of: range))
    }

    private static func ask(
        _ server: ScriptedServer, _ question: String, about finding: Suggestion, in draft: DraftText = Self.draft
    ) async throws -> AnotherProposal.Answer {
        try await AnotherProposal(model: AdvisorFixture.access(server), prompts: AdvisorFixture.prompts()).ask(
            about: finding, in: draft, question: question, refused: ["old city"], AdvisorFixture.role("editor"))
    }

    @Test(
        "What the advisor says is a wording, an answer, or why there is neither",
        arguments: [
            (#"{"replacement":"historic town","reason":"The usual term.","answer":""}"#, "historic town", ""),
            (#"Here: {"replacement":"historic town","answer":"Cities are larger."}"#, "historic town", "Cities"),
            (#"{"replacement":null,"reason":"","answer":"It stays."}"#, nil, "It stays."),
            (#"{"replacement":"old city","reason":"Again.","answer":""}"#, nil, AnotherProposal.noOther),
            (#"{"replacement":"old town","reason":"Again.","answer":""}"#, nil, AnotherProposal.noOther),
            (#"{"replacement":"new\n\n# Heading","reason":"More.","answer":""}"#, nil, "would change"),
            ("I would rather not.", nil, "could not be read"), (#"{"note":"nothing"}"#, nil, "could not be read"),
        ] as [(String, String?, String)])
    func answers(_ text: String, _ wording: String?, _ reply: String) async throws {
        let server = try ScriptedServer(AdvisorFixture.answer(text))
        let answer = try await Self.ask(server, "Why a city?", about: Self.finding())
        #expect(answer.finding?.suggestedText == wording && answer.by == "editor")
        #expect(reply.isEmpty ? answer.reply.isEmpty : answer.reply.contains(reply), "\(answer.reply)")
        let body = try #require(server.requests.first?.body)
        #expect(body.contains("Why a city?") && body.contains("old city") && !body.contains("It was late"))
    }

    @Test("Nobody is asked about words that are gone")
    func gone() async throws {
        let server = try ScriptedServer(AdvisorFixture.answer("{}"))
        let answer = try await Self.ask(server, "", about: Self.finding(), in: DraftText("All is new.\n"))
        #expect(answer.finding == nil && answer.reply.contains("no longer in the draft") && server.requests.isEmpty)
    }

    @Test("Without a model the next wording is an equivalent finding's")
    func next() throws {
        let quick = try QuickPass()
        var other = try Self.finding()
        (other.advisorID, other.suggestedText) = ("academic", "historic town")
        func next(_ refused: [String]) throws -> AnotherProposal.Answer? {
            AnotherProposal.next(
                for: try Self.finding(), others: [other], in: Self.draft, refused: refused, quick: quick)
        }
        let answer = try #require(try next(["old city"]))
        #expect(answer.by == "academic" && answer.finding?.suggestedText == "historic town")
        #expect(try next(["old city", "historic town"]) == nil)
    }
}
