import TKCore
import TestSupport
import Testing

@Suite("Untrusted connections", .timeLimit(.minutes(30)))
struct ProviderTrustTests {
    @Test("A server with an untrusted certificate is reported at once, without a retry, and gets no key")
    func unknownCertificate() async throws {
        let server = try TLSServer()
        let clock = RecordingClock()
        let provider = AnthropicProvider(
            model: "claude-sonnet-5", endpoint: try ProviderFixture.endpoint(server.url),
            transport: HTTPTransport(environment: [:]), clock: clock)
        let outcome = await StreamOutcome(provider.stream(ProviderFixture.request))
        let error = try #require(outcome.llmError, "\(outcome)")
        #expect(error.kind == .network && !error.isRetryable && error.allowsFallback)
        #expect(error.message.contains("no trusted connection came about: certificate verify failed"))
        #expect(clock.pauses.isEmpty)
        #expect(!server.end().contains(ProviderFixture.key))
    }
}
