import Foundation
import Platform
import TestSupport
import Testing

@testable import TKCore

/// A small model under llama.cpp's own server, both from PyPI; or the server at STEWARD_TEST_REAL_MODEL_URL, e.g.
/// http://127.0.0.1:8080.
@Suite(
    "Providers against a real model under llama.cpp", .timeLimit(.minutes(30)), .serialized,
    .enabled("llama.cpp and a model cannot be had") { await Peers.realModel != nil })
struct ProviderRealModelTests {
    let transport = HTTPTransport(environment: [:])
    /// Acceptable errors for a model of this size.
    let ofItsSize: [LLMError.Kind] = [.truncated, .malformed]

    private func providers() async throws -> [any LLMProvider] {
        let url = try #require(await Peers.realModel)
        return [
            OpenAIProvider(
                model: "any", endpoint: try ServerEndpoint(url + "/v1", idleTimeout: .seconds(600)),
                transport: transport),
            AnthropicProvider(
                model: "any", endpoint: try ServerEndpoint(url, idleTimeout: .seconds(600)), transport: transport),
        ]
    }

    /// Whatever a model of this size answers, every request finishes, and its result is valid.
    @Test("A review, a council and a question each complete", .timeLimit(.minutes(15)))
    func engines() async throws {
        let draft = DraftText("We met in order to talk. The report was written by me, and it is very nice.\n")
        let model = ModelAccess(provider: try await providers()[0], maxOutputTokens: 48)
        let prompts = try AdvisorFixture.prompts()
        do {
            let found = try await SuggestionEngine(model: model, prompts: prompts)
                .review(draft, ReviewOptions(advisors: try AdvisorFixture.roles("editor")))
            for suggestion in found.suggestions { #expect(draft[suggestion.anchor.range] == suggestion.originalText) }
        } catch let error as LLMError {
            print("a real model's review: \(error.message)")
            #expect(ofItsSize.contains(error.kind))
        }
        do {
            let report = try await CouncilEngine(model: model, prompts: prompts)
                .debate(draft, .init(advisors: try AdvisorFixture.roles("editor", "academic")))
            #expect(report.perspectives.count + report.failures.count == 2)
        } catch let error as LLMError {
            print("a real model's council: \(error.message)")
            #expect(ofItsSize.contains(error.kind))
        }
        do {
            let answer = try await QuestionEngine(model: model, prompts: prompts)
                .ask("Is it clear?", try AdvisorFixture.role("editor"), draft: draft)
            #expect(!answer.text.isEmpty)
        } catch let error as LLMError {
            print("a real model's answer: \(error.message)")
            #expect(ofItsSize.contains(error.kind))
        }
    }

    @Test("Both protocols stream text and count its tokens")
    func streaming() async throws {
        for provider in try await providers() {
            let request = LLMRequest(system: "You continue texts.", user: "Once upon a time", maxTokens: 24)
            let outcome = await StreamOutcome(provider.stream(request))
            let response = try #require(outcome.response, "\(String(describing: outcome.error))")
            let usage = try #require(response.usage)
            #expect(outcome.pieces.count > 1 || usage.outputTokens < 4)
            #expect(outcome.text == response.text)
            #expect((1...24).contains(usage.outputTokens) && usage.totalInputTokens > 3)
            #expect(response.stopReason == .length || response.stopReason == .end)
        }
    }

    @Test("A schema shapes the answer; if it is cut short, its items are salvaged")
    func schema() async throws {
        struct Item: Codable, Sendable { var word: String }
        let schema = try LLMSchema(
            name: "words",
            json: """
                {"type":"array","minItems":3,"maxItems":3,"items":{"type":"object","required":["word"],\
                "additionalProperties":false,"properties":{"word":{"type":"string","maxLength":12}}}}
                """)
        let provider = try await providers()[0]
        // A small model may fill every gap that JSON allows with blanks: the server's grammar allows some twenty in
        // each, so this is enough for any answer.
        let request = LLMRequest(system: "", user: "Three animals as JSON.", maxTokens: 1_500, schema: schema)
        let whole = try await provider.generate(request)
        let items = try #require(JSONSalvage.items(Item.self, key: "items", from: whole.text))
        #expect(items.value.elements.count == 3 && items.value.dropped == 0)
        print("a schema's answer: \(whole.text)")

        var short = request
        short.maxTokens = 8
        let cut = try await provider.generate(short)
        let salvaged = JSONSalvage.items(Item.self, key: "items", from: cut.text)
        print("cut short: \(cut.text), of which \(salvaged?.value.elements.count ?? 0) items are whole")
        #expect(cut.isTruncated && cut.stopReason == .length)
        #expect(salvaged?.isPartial != false && (salvaged?.value.elements.count ?? 0) < 3)
    }

    @Test("The cost of a call is in the ledger, from the tokens the server counted")
    func cost() async throws {
        for (index, provider) in try await providers().enumerated() {
            // The server returns its own name for the model, whatever was requested.
            let model = try await provider.generate(LLMRequest(system: "", user: "Hello", maxTokens: 1)).model
            let prices = ModelTable(models: [
                ModelEntry(provider: provider.name, id: model, name: model, input: 2, output: 10)
            ])
            let folder = try TemporaryFolder()
            let ledger = try await UsageLedger.open(
                folder.path.appending("usage.sqlite"), prices: prices, budget: Cost(dollars: 1), timeZone: .gmt
            ).ledger
            let access = ModelAccess(provider: provider, recorder: UsageRecorder(ledger))
            let request = LLMRequest(system: "You continue texts.", user: "Call \(index): the sea", maxTokens: 16)
            let usage = try #require(try await access.answer(.suggestions, advisors: ["editor"], request).usage)
            let row = try #require(try await ledger.summary(by: .model).first)
            print("\(provider.name), \(model): \(usage), \(row.cost.nanodollars) billionths of a dollar")
            #expect(row.calls == 1 && row.key == "\(provider.name)/\(model)")
            #expect(usage.totalInputTokens > 0 && usage.outputTokens > 0)
            let billionths = Int64(usage.totalInputTokens * 2_000 + usage.outputTokens * 10_000)
            #expect(row.cost == Cost(nanodollars: billionths))
            #expect(try await ledger.budgetState().spent == row.cost)
        }
    }

    @Test("A prompt beyond the context is reported as such")
    func tooLong() async throws {
        let request = LLMRequest(system: "", user: String(repeating: "word ", count: 200_000), maxTokens: 8)
        await #expect { try await providers()[0].generate(request) } throws: {
            ($0 as? LLMError)?.kind == .contextTooLong
        }
    }
}
