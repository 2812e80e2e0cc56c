import Foundation
import TestSupport
import Testing

@testable import TKCore

@Suite("Diagnosing failed answers", .timeLimit(.minutes(30)))
struct ProviderDiagnosisTests {
    private let clock = RecordingClock()

    private func anthropic(_ url: String) throws -> AnthropicProvider {
        AnthropicProvider(
            model: "m", endpoint: try ProviderFixture.endpoint(url), transport: HTTPTransport(environment: [:]),
            clock: clock)
    }

    private static let begun = ProviderFixture.anthropic.components(separatedBy: "event: content_block_stop")[0]

    private func council(_ answer: ScriptedServer.Answer) async throws -> CouncilReport {
        let server = try ScriptedServer { _ in answer }
        let engine = CouncilEngine(
            model: ModelAccess(provider: try anthropic(server.url)), prompts: try AdvisorFixture.prompts())
        return try await engine.debate(
            DraftText("The draft is here."), .init(advisors: try AdvisorFixture.roles("editor", "general")))
    }

    @Test("A server overloaded in the middle of a council is reported as overloaded, not as a token limit")
    func overloaded() async throws {
        let busy =
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Busy\"}}\n\n"
        let error = try await #require(throws: LLMError.self) { try await council(.stream(Self.begun + busy)) }
        #expect(
            error.kind == .overloaded && error.message.contains("overloaded") && !error.message.contains("token limit"))
    }

    @Test("A connection dropped in the middle of a council is reported as broken off")
    func dropped() async throws {
        let error = try await #require(throws: LLMError.self) { try await council(.stream(Self.begun, ending: .cut)) }
        #expect(error.kind == .network && error.message.contains("broke off") && !error.message.contains("token limit"))
        let early = try await #require(throws: LLMError.self) { try await council(.stream(Self.begun)) }
        #expect(early.kind == .truncated && early.message.contains("broke off"))
    }

    @Test(
        "A web page instead of a server's answer is reported at once, and not requested again",
        arguments: ["text/html", "text/event-stream", "application/json"])
    func webPage(type: String) async throws {
        let server = try ScriptedServer { _ in
            .reply(200, "\n<!DOCTYPE html><html>Sign in</html>", headers: ["content-type": type])
        }
        let error = try await #require(throws: LLMError.self) {
            try await anthropic(server.url).generate(ProviderFixture.request)
        }
        #expect(error.message.contains("web page") && error.message.contains("base URL"))
        #expect(server.requests.count == 1 && clock.pauses.isEmpty)
    }

    @Test("Impossible token counts are ignored: the cost of the call is unknown", arguments: [-5, Int.max])
    func counts(_ number: Int) async throws {
        let text = ProviderFixture.anthropic.replacing("\"output_tokens\":15", with: "\"output_tokens\":\(number)")
        let server = try ScriptedServer(.stream(text))
        #expect(try await anthropic(server.url).generate(ProviderFixture.request).usage == nil)
        let chat = ProviderFixture.openAI.replacing("\"prompt_tokens\":215", with: "\"prompt_tokens\":\(number)")
        let second = try ScriptedServer(.stream(chat))
        let provider = OpenAIProvider(
            model: "m", endpoint: try ProviderFixture.endpoint(second.url), transport: HTTPTransport(environment: [:]))
        #expect(try await provider.generate(ProviderFixture.request).usage == nil)
    }

    @Test("An answer longer than allowed is not read to its end")
    func bounded() async throws {
        let parts = ProviderFixture.anthropic.components(separatedBy: "event: content_block_delta\n")
        let words = String(repeating: "word ", count: 1_000)
        let delta =
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"\(words)\"}}\n\n"
        let pieces = [Array(parts[0].utf8)] + Array(repeating: Array(delta.utf8), count: 400)
        let server = try ScriptedServer(.stream(pieces))
        let error = try await #require(throws: LLMError.self) {
            try await anthropic(server.url).generate(ProviderFixture.request)
        }
        #expect(error.kind == .malformed && error.message.contains("allowed to write") && !error.isRetryable)
        #expect((error.partial?.text.utf8.count ?? 0) < 400_000 && server.requests.count == 1)
    }
}
