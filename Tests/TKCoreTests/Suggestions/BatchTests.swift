import TKCore
import TestSupport
import Testing

@Suite("Suggestions of several advisors", .timeLimit(.minutes(30)))
struct BatchTests {
    static let draft = DraftText("The system can be utilized to process data. It is very slow, and we like it.\n")

    static func options(_ ids: String...) throws -> ReviewOptions {
        ReviewOptions(advisors: try ids.map(AdvisorFixture.role))
    }

    @Test("One call for all; each finding belongs to the advisor it names, others are dropped and counted")
    func oneCall() async throws {
        let server = try ScriptedServer(
            AdvisorFixture.answer(
                AdvisorFixture.list(
                    AdvisorFixture.item("utilized", "used", advisor: "editor"),
                    AdvisorFixture.item("very slow", "slow", advisor: "Technical Writer"),
                    AdvisorFixture.item("like it", "love it", advisor: "pirate"), AdvisorFixture.item("data", "facts")))
        )
        let result = try await AdvisorFixture.engine(server)
            .review(Self.draft, try Self.options("technical_writer", "editor"))
        #expect(server.requests.count == 1)
        #expect(result.suggestions.map(\.advisorID) == ["editor", "technical_writer"])
        #expect(result.dropped.unknownAdvisor == 2 && result.failures.isEmpty)
        let body = server.requests[0].body
        #expect(
            body.contains("ADVISOR editor") && body.contains("ADVISOR technical_writer") && body.contains("advisor_id"))
    }

    @Test("Without a usable answer each advisor is asked alone; one that fails then is reported")
    func fallback() async throws {
        let all = try ScriptedServer(AdvisorFixture.answer("I would rather not."))
        let editor = try ScriptedServer(
            AdvisorFixture.answer(AdvisorFixture.list(AdvisorFixture.item("utilized", "used"))))
        let academic = try ScriptedServer(.reply(500, #"{"error":"out of memory"}"#))
        let copywriter = try ScriptedServer(AdvisorFixture.answer(AdvisorFixture.list()))
        let provider = RoutedProvider(routes: [
            ("ADVISOR editor", try AdvisorFixture.provider(all)),
            (try AdvisorFixture.role("editor").voiceAndTone, try AdvisorFixture.provider(editor)),
            (try AdvisorFixture.role("academic").voiceAndTone, try AdvisorFixture.provider(academic)),
            (try AdvisorFixture.role("copywriter").voiceAndTone, try AdvisorFixture.provider(copywriter)),
        ])
        let engine = SuggestionEngine(model: ModelAccess(provider: provider), prompts: try AdvisorFixture.prompts())
        let result = try await engine.review(Self.draft, try Self.options("editor", "academic", "copywriter"))
        #expect(all.requests.count == 1 && editor.requests.count == 1 && copywriter.requests.count == 1)
        #expect(result.suggestions.map(\.advisorID) == ["editor"])
        #expect(result.failures.map(\.advisorID) == ["academic"])
        #expect(result.failures.first?.message.contains("out of memory") == true)
        #expect(result.notices.contains { $0.contains("asked alone") })
    }

    @Test("A failing service is not asked again for each advisor")
    func noFallback() async throws {
        let server = try ScriptedServer(.reply(401, #"{"error":"bad key"}"#))
        await #expect {
            try await AdvisorFixture.engine(server).review(Self.draft, try Self.options("editor", "academic"))
        } throws: {
            ($0 as? LLMError)?.kind == .authentication
        }
        #expect(server.requests.count == 1)
    }

    @Test("If the answer was cut, advisors missing from it are asked alone")
    func cutShort() async throws {
        let both = AdvisorFixture.list(
            AdvisorFixture.item("utilized", "used", advisor: "editor"),
            AdvisorFixture.item("very slow", "slow", advisor: "academic"))
        let server = try ScriptedServer(
            AdvisorFixture.answer(String(both.dropLast(30)), reason: "length"),
            AdvisorFixture.answer(AdvisorFixture.list(AdvisorFixture.item("very slow", "slow"))))
        let result = try await AdvisorFixture.engine(server).review(Self.draft, try Self.options("editor", "academic"))
        #expect(server.requests.count == 2 && result.isPartial)
        #expect(result.suggestions.map(\.advisorID) == ["editor", "academic"])
    }

    @Test("If no finding names its advisor, each is asked alone")
    func nameless() async throws {
        let both = AdvisorFixture.list(
            AdvisorFixture.item("utilized", "used"), AdvisorFixture.item("very slow", "slow", advisor: "Reviewer 2"))
        let server = try ScriptedServer(
            AdvisorFixture.answer(both),
            AdvisorFixture.answer(AdvisorFixture.list(AdvisorFixture.item("utilized", "used"))),
            AdvisorFixture.answer(AdvisorFixture.list(AdvisorFixture.item("very slow", "slow"))))
        let result = try await AdvisorFixture.engine(server).review(Self.draft, try Self.options("editor", "academic"))
        #expect(server.requests.count == 3 && result.calls.count == 3)
        #expect(result.suggestions.map(\.originalText) == ["utilized", "very slow"])
        #expect(Set(result.suggestions.map(\.advisorID)) == ["editor", "academic"])
        #expect(result.dropped == DroppedFindings() && result.failures.isEmpty)
        #expect(result.notices.contains { $0.contains("name none of them") })
    }

    @Test("Findings without a known advisor are dropped and reported, if others have one")
    func partlyNameless() async throws {
        let server = try ScriptedServer(
            AdvisorFixture.answer(
                AdvisorFixture.list(
                    AdvisorFixture.item("utilized", "used", advisor: "editor"),
                    AdvisorFixture.item("very slow", "slow"),
                    AdvisorFixture.item("very slow", "slow", advisor: "reviewer"),
                    AdvisorFixture.item("not there", "x", advisor: "editor"))))
        let result = try await AdvisorFixture.engine(server).review(Self.draft, try Self.options("editor", "academic"))
        #expect(server.requests.count == 1 && result.suggestions.count == 1)
        #expect(
            result.notices.suffix(2) == [
                "2 findings were dropped, because they name no advisor who was asked.",
                "1 finding was dropped, because it does not fit the text.",
            ])
    }

    @Test("If all fail, the first error is thrown")
    func allFail() async throws {
        let server = try ScriptedServer(AdvisorFixture.answer("No."))
        await #expect {
            try await AdvisorFixture.engine(server).review(Self.draft, try Self.options("editor", "academic"))
        } throws: {
            ($0 as? LLMError)?.kind == .malformed
        }
        #expect(server.requests.count == 3)
    }
}
