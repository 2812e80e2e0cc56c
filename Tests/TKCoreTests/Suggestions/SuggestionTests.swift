import Foundation
import TKCore
import TestSupport
import Testing

@Suite("Suggestions of one advisor", .timeLimit(.minutes(30)))
struct SuggestionTests {
    static let text = """
        # Größe 🙂

        The system can be utilized to process data. It is very, very slow.

        We “utilize” it daily, and it is good. It is good for us.

        """
    static let draft = DraftText(text)

    static func review(
        _ answer: String, draft: DraftText = draft, reason: String = "stop",
        _ change: (inout ReviewOptions) -> Void = { _ in }
    ) async throws -> ReviewResult {
        let server = try ScriptedServer(AdvisorFixture.answer(answer, reason: reason))
        var options = ReviewOptions(advisors: [try AdvisorFixture.role("editor")])
        change(&options)
        return try await AdvisorFixture.engine(server).review(draft, options)
    }

    @Test("A quote's position is looked up in the draft, whatever the model says about it")
    func place() async throws {
        let result = try await Self.review(
            AdvisorFixture.list(
                AdvisorFixture.item("can be utilized to process data", "processes data", type: "rephrase"),
                AdvisorFixture.item("We \"utilize\" it  daily", "We use it daily", category: "wordiness")))
        #expect(result.suggestions.count == 2 && result.dropped == DroppedFindings())
        for suggestion in result.suggestions {
            #expect(Self.draft[suggestion.anchor.range] == suggestion.originalText)
            #expect(suggestion.advisorID == "editor" && suggestion.hasReplacement && suggestion.rule == nil)
        }
        #expect(result.suggestions[1].originalText == "We “utilize” it daily")
        #expect(result.suggestions[0].anchor.line == 3 && result.suggestions[0].type == .rephrase)
        #expect(result.usage.inputTokens == 300 && result.usage.outputTokens == 50)
    }

    @Test("A draft with CRLF: a quote of two lines is found, and its proposal gets the draft's line endings")
    func returns() async throws {
        let draft = DraftText("One line.\r\nTwo lines.\r\n")
        let result = try await Self.review(
            AdvisorFixture.list(
                AdvisorFixture.item("One line.\nTwo lines.", "One line.\nTwo lines.\nThree lines.", type: "add"),
                AdvisorFixture.item("line.\nTwo", "line.\nTwo")), draft: draft)
        #expect(result.suggestions.map(\.hasReplacement) == [true] && result.dropped.withoutChange == 1)
        #expect(
            result.suggestions.first?.suggestedText.utf8.elementsEqual("One line.\r\nTwo lines.\r\nThree lines.".utf8)
                == true)
    }

    @Test("The request has instructions, a fenced draft, and a schema that is valid JSON")
    func request() async throws {
        let server = try ScriptedServer(AdvisorFixture.answer(AdvisorFixture.list()))
        let options = ReviewOptions(
            advisors: [try AdvisorFixture.role("editor")],
            storyType: try RoleCatalogue.load(try TKResources.locate()).storyType("brd_prd"), stage: .late,
            maxSuggestions: 3)
        let engine = try AdvisorFixture.engine(server)
        #expect(try await engine.review(Self.draft, options).suggestions.isEmpty)
        let sent = try #require(server.requests.first?.json)
        let messages = try #require(sent["messages"] as? [[String: Any]])
        let system = try #require(messages.first?["content"] as? String)
        let user = try #require(messages.last?["content"] as? String)
        #expect(system.contains("line editor") && system.contains("DRAFT STAGE: LATE"))
        #expect(system.contains("requirements document"))
        let boundary = DraftFence(for: [Self.text]).boundary
        #expect(user.contains("\(boundary) BEGIN draft\n\(Self.text)\n\(boundary) END draft"))
        #expect(user.contains("at most 3 suggestions"))
        let schema = try #require(sent["format"] as? [String: Any])
        #expect((schema["required"] as? [String]) == ["suggestions"])
        let planned = try engine.plan(Self.draft, options)
        #expect(planned.calls.count == 1 && planned.inputTokens > 500)
    }

    @Test("Quotes that are missing from the text, or ambiguous, are dropped and counted")
    func notInText() async throws {
        let result = try await Self.review(
            AdvisorFixture.list(
                AdvisorFixture.item("The System can be", "x"), AdvisorFixture.item("utilised", "used"),
                AdvisorFixture.item("it is good", "it works"), AdvisorFixture.item("It is", "That is"),
                AdvisorFixture.item("It is", "This is", before: "and it is good."),
                AdvisorFixture.item("slow", "slow"), #"{"replacement":"nothing to quote"}"#))
        #expect(result.suggestions.map(\.originalText) == ["it is good", "It is"])
        #expect(result.suggestions.last?.anchor.line == 5)
        #expect(result.dropped.notInText == 2 && result.dropped.ambiguous == 1)
        #expect(result.dropped.withoutChange == 1 && result.dropped.unreadable == 1)
    }

    @Test("A model that ignores the schema is understood: other names, words for numbers, prose around it")
    func loose() async throws {
        let result = try await Self.review(
            """
            Sure! Here is my review:
            ```json
            [{"original_text":"slow","suggested_text":"sluggish","type":"Rewrite","category":"Voice","priority":"high",
              "confidence":"85%","reasoning":"a\\u001b[31m b","extra":[1]},
             {"original":"daily","suggestion":"each day","priority":99,"confidence":-3},
             {"quote":"Größe","replacement":null,"type":"???","category":"Spelling"},]
            ```
            """)
        let found = result.suggestions
        #expect(found.map(\.originalText) == ["Größe", "slow", "daily"])
        #expect(found.map(\.priority) == [3, 1, 5] && found.map(\.confidence) == [0.5, 0.85, 0])
        #expect(found.map(\.category) == ["grammar", "tone", "style"])
        #expect(
            found.map(\.type) == [.improve, .rephrase, .improve] && found.map(\.hasReplacement) == [false, true, true])
        #expect(found[1].reasoning == "a[31m b")
    }

    @Test("Removing words removes one space with them; insertions next to words may not remove these")
    func edges() async throws {
        let result = try await Self.review(
            AdvisorFixture.list(
                AdvisorFixture.item("very, very", "", type: "remove"),
                AdvisorFixture.item(" daily", "", type: "remove"),
                AdvisorFixture.item("for us.", "And cheap.", type: "add"),
                AdvisorFixture.item(" process ", " handle ")))
        let applied = SuggestionApplier.apply(result.suggestions, to: Self.draft)
        #expect(applied.text.contains("It is slow.") && applied.text.contains("it, and it"))
        #expect(
            applied.text.contains("to handle data") && applied.text.contains("good for us."),
            "\(applied) \(result.dropped)")
        #expect(applied.withoutWording.map(\.suggestedText) == ["And cheap."])
    }

    @Test("Filters: categories, confidence, number, selection, and the writer's own exemptions")
    func filters() async throws {
        let list = AdvisorFixture.list(
            AdvisorFixture.item("slow", "sluggish", priority: "3"),
            AdvisorFixture.item("daily", "each day", category: "tone", priority: "1"),
            AdvisorFixture.item("process data", "work", priority: "1", confidence: "0.2"))
        func quotes(_ change: (inout ReviewOptions) -> Void) async throws -> [String] {
            try await Self.review(list, change).suggestions.map(\.originalText)
        }
        #expect(try await quotes { $0.categories = ["tone"] } == ["daily"])
        #expect(try await quotes { $0.minConfidence = 0.5 } == ["slow", "daily"])
        #expect(try await quotes { $0.maxSuggestions = 1 } == ["daily"])
        let line = Self.draft.range(ofLine: 3)
        #expect(try await quotes { $0.selection = line } == ["process data", "slow"])
        let exempt = DraftText("<!-- tk: off -->\nIt is slow.\n<!-- tk: on -->\nWe use it daily.\n")
        let result = try await Self.review(list, draft: exempt)
        #expect(result.suggestions.map(\.originalText) == ["daily"] && result.dropped.exempt == 1)
    }

    @Test(
        "A truncated answer yields its complete findings, and is reported as partial", arguments: ["length", "stop"])
    func cut(_ reason: String) async throws {
        let whole = AdvisorFixture.list(AdvisorFixture.item("slow", "sluggish"), AdvisorFixture.item("daily", "often"))
        let result = try await Self.review(String(whole.dropLast(20)), reason: reason)
        #expect(result.suggestions.map(\.originalText) == ["slow"] && result.isPartial)
    }

    @Test("Prose instead of an answer, and a refusal, are reported as such")
    func unusable() async throws {
        await #expect { try await Self.review("I am sorry, but I like your text as it is.") } throws: {
            ($0 as? LLMError)?.kind == .malformed
        }
        let server = try ScriptedServer(
            .stream(
                """
                data: {"id":"c","model":"gpt","choices":[{"index":0,"delta":{"refusal":"I cannot help with that."},"finish_reason":"stop"}]}

                data: [DONE]


                """))
        let engine = SuggestionEngine(
            model: ModelAccess(provider: try ProviderWireTests.openAI(server)), prompts: try AdvisorFixture.prompts())
        await #expect {
            try await engine.review(Self.draft, ReviewOptions(advisors: [try AdvisorFixture.role("editor")]))
        } throws: {
            ($0 as? LLMError)?.kind == .refused && "\($0)".contains("I cannot help")
        }
    }

    @Test("An id is the same in every pass, even if text was added before it, and no two are equal")
    func identity() async throws {
        let list = AdvisorFixture.list(
            AdvisorFixture.item("process data", "work"), AdvisorFixture.item("process data", "compute"),
            AdvisorFixture.item("process data", "work"))
        let first = try await Self.review(list)
        let later = try await Self.review(list, draft: DraftText("A new beginning.\n\n" + Self.text))
        #expect(first.suggestions.map(\.id) == later.suggestions.map(\.id) && first.dropped.repeated == 1)
        #expect(Set(first.suggestions.map(\.id)).count == 2)
    }

    @Test("A long draft is sent in parts, cut between paragraphs; positions are those of the whole draft")
    func pieces() async throws {
        let long = DraftText(
            (1...400).map { "Paragraph \($0) is a plain one, with some words in it, as ever.\n\n" }.joined())
        let server = try ScriptedServer(
            AdvisorFixture.answer(AdvisorFixture.list(AdvisorFixture.item("Paragraph 390", "It"))))
        let result = try await AdvisorFixture.engine(server, contextTokens: 8_192)
            .review(long, ReviewOptions(advisors: [try AdvisorFixture.role("editor")]))
        #expect(server.requests.count > 1 && result.calls.count == server.requests.count)
        #expect(result.suggestions.count == 1 && result.dropped.notInText == server.requests.count - 1)
        let suggestion = try #require(result.suggestions.first)
        #expect(long[suggestion.anchor.range] == "Paragraph 390" && suggestion.anchor.textHash == long.hash)
        #expect(result.notices.contains { $0.contains("\(server.requests.count) parts") })
        for request in server.requests { #expect(request.body.contains("as ever.\\n\\n\\nTEXT-")) }
    }

    @Test("The pieces add up to the draft, and none is too long, for any text and any limit")
    func cutting() {
        var random = SeededGenerator(for: "pieces")
        let alphabet: [String] = ["a", "word ", "é", "🙂👩‍👩‍👧", "\n", "\n\n", "\r\n", "End. ", "漢字"]
        for _ in 0..<200 {
            let text = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? ""
            }
            .joined()
            let draft = DraftText(text)
            let limit = Int.random(in: 1...60, using: &random)
            let pieces = DraftPieces.cut(draft, limit: limit)
            #expect(pieces.map { draft[$0] }.joined() == text)
            for piece in pieces {
                #expect(!piece.isEmpty && draft.isGraphemeBoundary(piece.lowerBound))
                #expect(draft[piece].utf8.count <= limit || draft[piece].count == 1, "\(limit): \(draft[piece])")
            }
        }
    }

    @Test("Each call is recorded before its answer is used; an answer already there is not paid for again")
    func recorded() async throws {
        let server = try ScriptedServer(
            AdvisorFixture.answer(AdvisorFixture.list(AdvisorFixture.item("slow", "sluggish"))))
        let recorder = NotingRecorder()
        let options = ReviewOptions(advisors: [try AdvisorFixture.role("editor")])
        let engine = try AdvisorFixture.engine(server, recorder: recorder)
        let first = try await engine.review(Self.draft, options)
        let second = try await engine.review(Self.draft, options)
        #expect(first.suggestions == second.suggestions && server.requests.count == 1)
        #expect(recorder.planned.count == 2 && Set(recorder.planned.map(\.key)).count == 1)
        #expect(recorder.planned.first == (try engine.plan(Self.draft, options).calls.first))
        let broke = NotingRecorder(refusing: LLMError(.billing, "the month's budget is spent"))
        await #expect { try await AdvisorFixture.engine(server, recorder: broke).review(Self.draft, options) } throws: {
            "\($0)".contains("budget")
        }
        #expect(server.requests.count == 1)
    }
}
