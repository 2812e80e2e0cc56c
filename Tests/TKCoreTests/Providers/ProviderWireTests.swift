import Foundation
import Platform
import TKCore
import TestSupport
import Testing

@Suite("Wire formats of providers", .timeLimit(.minutes(30)))
struct ProviderWireTests {
    static let transport = HTTPTransport(environment: [:])

    static func anthropic(_ server: ScriptedServer) throws -> AnthropicProvider {
        AnthropicProvider(
            model: "claude-sonnet-5", endpoint: try ProviderFixture.endpoint(server.url), transport: transport,
            retry: .never)
    }

    static func openAI(
        _ server: ScriptedServer, options: OpenAIProvider.Options = .init()
    ) throws -> OpenAIProvider {
        OpenAIProvider(
            model: "gpt-6-luna", endpoint: try ProviderFixture.endpoint(server.url + "/v1/"), transport: transport,
            options: options, retry: .never)
    }

    static func ollama(_ server: ScriptedServer, options: OllamaProvider.Options = .init()) throws -> OllamaProvider {
        OllamaProvider(
            model: "llama3.2", endpoint: try OllamaProvider.endpoint(host: "127.0.0.1:\(server.port)"),
            transport: transport, options: options, retry: .never)
    }

    @Test("Anthropic: version, key, cache marks and schema are sent; a temperature is not")
    func anthropicRequest() async throws {
        let server = try ScriptedServer(.stream(ProviderFixture.anthropic))
        var request = ProviderFixture.request
        request.temperature = 0.3
        request.schema = try ProviderFixture.schema()
        request.stop = ["END"]
        let outcome = await StreamOutcome(try Self.anthropic(server).stream(request))
        #expect(outcome.text == ProviderFixture.text)
        #expect(
            outcome.response
                == LLMResponse(
                    text: ProviderFixture.text, usage: ProviderFixture.usage, model: "claude-sonnet-5-20260601",
                    provider: "anthropic", requestID: "req_test"))
        let sent = try #require(server.requests.first)
        #expect(sent.method == "POST" && sent.path == "/v1/messages")
        #expect(sent.headers["x-api-key"] == ProviderFixture.key)
        #expect(sent.headers["anthropic-version"] == "2026-10-21")
        #expect(
            sent.body
                == #"{"model":"claude-sonnet-5","max_tokens":100,"system":[{"type":"text","text":"You are an editor.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"Größe “wie” 🙂"}],"stop_sequences":["END"],"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}}},"stream":true}"#
        )
    }

    @Test("Anthropic: at most four cache marks are sent, the last ones")
    func cacheMarks() throws {
        let server = try ScriptedServer(.reply(200, "{}"))
        let request = LLMRequest(
            system: (0..<4).map { .init("s\($0)", cached: true) },
            messages: [.user("a", cached: true), .assistant("b"), .user("c", cached: true)])
        let body = try Self.anthropic(server).body(request).sent
        #expect(body.components(separatedBy: "cache_control").count == 5)
        #expect(body.contains(#"{"type":"text","text":"s1"},{"type":"text","text":"s2","cache_control""#))
    }

    @Test(
        "The part shared with other calls is a separate block if marks are supported, or else inline"
    )
    func sharedBeginning() throws {
        let server = try ScriptedServer(.reply(200, "{}"))
        let request = LLMRequest(messages: [.user("Who are you?", shared: "The draft.")])
        #expect(
            try Self.anthropic(server).body(request).sent.contains(
                #""content":[{"type":"text","text":"The draft.","cache_control":{"type":"ephemeral"}},"#
                    + #"{"type":"text","text":"Who are you?"}]"#))
        let whole = #"{"role":"user","content":"The draft.\n\nWho are you?"}"#
        #expect(try Self.ollama(server).body(request).sent.contains(whole))
        #expect(try Self.openAI(server).body(request).sent.contains(whole))
        #expect(request.promptBytes == "The draft.\n\nWho are you?".utf8.count)
    }

    @Test("OpenAI: the limit's name, the usage and a strict schema, as the endpoint requires")
    func openAIRequest() async throws {
        let server = try ScriptedServer(.stream(ProviderFixture.openAI))
        var request = ProviderFixture.request
        request.temperature = 0.25
        request.schema = try ProviderFixture.schema()
        let outcome = await StreamOutcome(try Self.openAI(server).stream(request))
        #expect(outcome.text == ProviderFixture.text)
        #expect(outcome.response?.usage == ProviderFixture.usage)
        #expect(outcome.response?.usage?.totalInputTokens == 215)
        #expect(outcome.response?.stopReason == .end && outcome.response?.model == "gpt-6-luna-2026")
        let sent = try #require(server.requests.first)
        #expect(sent.path == "/v1/chat/completions")
        #expect(sent.headers["authorization"] == "Bearer \(ProviderFixture.key)")
        #expect(sent.json["max_tokens"] as? Int == 100 && sent.json["max_completion_tokens"] == nil)
        #expect(sent.json["temperature"] as? Double == 0.25)
        #expect((sent.json["stream_options"] as? [String: Bool]) == ["include_usage": true])
        #expect(sent.body.contains(#""json_schema":{"name":"points","strict":true,"schema":{"type":"object","#))

        let official = OpenAIProvider(
            model: "gpt-6-luna", endpoint: try ProviderFixture.endpoint(OpenAIProvider.defaultBaseURL),
            transport: Self.transport)
        let body = official.body(request).sent
        #expect(body.contains(#""max_completion_tokens":100"#) && !body.contains("temperature"))
    }

    @Test("Ollama: the context is sized to the draft, and the schema is the format")
    func ollamaRequest() async throws {
        let server = try ScriptedServer(.stream(ProviderFixture.ollama, type: "application/x-ndjson"))
        var request = ProviderFixture.request
        request.schema = try ProviderFixture.schema()
        request.messages = [.user(String(repeating: "word ", count: 4000))]
        let outcome = await StreamOutcome(try Self.ollama(server).stream(request))
        #expect(outcome.text == ProviderFixture.text)
        #expect(outcome.response?.usage == LLMUsage(inputTokens: 30, outputTokens: 15))
        let sent = try #require(server.requests.first)
        #expect(sent.path == "/api/chat" && sent.headers["authorization"] == nil)
        let options = sent.json["options"] as? [String: Any]
        #expect(options?["num_ctx"] as? Int == 8192 && options?["num_predict"] as? Int == 100)
        #expect(sent.body.contains(#""format":{"type":"object","properties":{"z""#))
    }

    @Test("Ollama: a prompt truncated by the server is noticed; one that cannot fit is not sent")
    func ollamaContext() async throws {
        let server = try ScriptedServer(.stream(ProviderFixture.ollama, type: "application/x-ndjson"))
        var request = ProviderFixture.request
        request.messages = [.user(String(repeating: "word ", count: 4000))]
        let provider = try Self.ollama(server)
        let warnings = try await provider.generate(request).warnings
        #expect(warnings.count == 1 && warnings[0].contains("30 tokens"))
        #expect(try await provider.generate(ProviderFixture.request).warnings.isEmpty)

        request.messages = [.user(String(repeating: "word ", count: 40_000))]
        await #expect { try await provider.generate(request) } throws: { ($0 as? LLMError)?.kind == .contextTooLong }
        #expect(server.requests.count == 2)
    }

    @Test("Sent byte by byte, with LF or CRLF, a stream reads the same")
    func byteByByte() async throws {
        for end in ["\n", "\r\n"] {
            func drip(_ text: String) -> [[UInt8]] { text.replacing("\n", with: end).utf8.map { [$0] } }
            let anthropic = await StreamOutcome(
                try Self.anthropic(ScriptedServer(.stream(drip(ProviderFixture.anthropic)))).stream(
                    ProviderFixture.request))
            #expect(anthropic.text == ProviderFixture.text && anthropic.response?.usage == ProviderFixture.usage)
            let openAI = await StreamOutcome(
                try Self.openAI(ScriptedServer(.stream(drip(ProviderFixture.openAI)))).stream(ProviderFixture.request))
            #expect(openAI.text == ProviderFixture.text && openAI.response?.usage == ProviderFixture.usage)
            let ollama = await StreamOutcome(
                try Self.ollama(ScriptedServer(.stream(drip(ProviderFixture.ollama), type: "application/x-ndjson")))
                    .stream(ProviderFixture.request))
            #expect(ollama.text == ProviderFixture.text && ollama.response?.stopReason == .end)
        }
    }

    @Test("Ended cleanly at any event before the model's last word, a stream is an error, never an answer")
    func truncated() throws {
        func read(_ reader: any ReplyReader, _ text: String) -> Result<LLMResponse, any Error> {
            var reader = reader
            return Result {
                try reader.feed(Array(text.utf8)) { _ in }
                if !reader.isComplete { _ = try reader.drain() }
                return try reader.finish()
            }
        }
        let none = KeyRedaction(key: nil)
        let cases: [(String, String, String, () -> any ReplyReader)] = [
            (
                ProviderFixture.anthropic, "\n\n", "message_delta",
                { AnthropicReader(provider: "p", model: "m", place: "here", redaction: none) }
            ),
            (
                ProviderFixture.openAI, "\n\n", #""finish_reason":"stop""#,
                { OpenAIReader(provider: "p", model: "m", place: "here", redaction: none) }
            ),
            (
                ProviderFixture.ollama, "\n", #""done":true"#,
                {
                    OllamaReader(
                        provider: "p", model: "m", place: "here", redaction: none, context: 4096, promptBytes: 10)
                }
            ),
        ]
        for (stream, separator, lastWord, reader) in cases {
            let events = stream.components(separatedBy: separator)
            for count in 0...events.count {
                let text = events[..<count].map { $0 + separator }.joined()
                switch read(reader(), text) {
                case .success(let response):
                    #expect(text.contains(lastWord) && response.text == ProviderFixture.text)
                case .failure(let error):
                    #expect(!text.contains(lastWord))
                    let error = try #require(error as? LLMError)
                    #expect(error.kind == .truncated)
                    #expect(
                        error.partial?.text ?? "" == String(ProviderFixture.text.prefix(error.partial?.text.count ?? 0))
                    )
                }
            }
        }
    }

    @Test("A server that answers a streaming request with one object is understood")
    func notStreamed() async throws {
        let whole =
            #"{"id":"x","type":"message","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Yes"}],"model":"m","stop_reason":"max_tokens","usage":{"input_tokens":3,"output_tokens":4}}"#
        let anthropic = try await Self.anthropic(ScriptedServer(.reply(200, whole))).generate(ProviderFixture.request)
        #expect(anthropic.text == "Yes" && anthropic.isTruncated && anthropic.usage?.outputTokens == 4)
        let chat =
            #"{"model":"m","choices":[{"index":0,"message":{"content":"Yes","refusal":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#
        let openAI = try await Self.openAI(ScriptedServer(.reply(200, chat))).generate(ProviderFixture.request)
        #expect(openAI.text == "Yes" && !openAI.isTruncated && openAI.usage?.inputTokens == 3)
    }

    @Test("Stop reasons and refusals keep their meaning")
    func stopReasons() async throws {
        func anthropic(_ reason: String, _ details: String = "null") async throws -> LLMResponse {
            let text = ProviderFixture.anthropic.replacing(
                #""stop_reason":"end_turn","#, with: #""stop_reason":"\#(reason)","stop_details":\#(details),"#)
            return try await Self.anthropic(ScriptedServer(.stream(text))).generate(ProviderFixture.request)
        }
        #expect(try await anthropic("max_tokens").stopReason == .length)
        #expect(try await anthropic("model_context_window_exceeded").stopReason == .context)
        #expect(try await anthropic("stop_sequence").stopReason == .stopText)
        #expect(try await anthropic("something_new").stopReason == .other)
        let refused = try await anthropic("refusal", #"{"type":"refusal","explanation":"not that"}"#)
        #expect(refused.isRefused && refused.refusal == "not that")
        #expect { try refused.whole() } throws: { ($0 as? LLMError)?.kind == .refused }

        let openAI = ProviderFixture.openAI.replacing(#""content":"Grün ""#, with: #""refusal":"I will not""#)
        let declined = try await Self.openAI(ScriptedServer(.stream(openAI))).generate(ProviderFixture.request)
        #expect(declined.isRefused && declined.refusal == "I will not")
        let cut = ProviderFixture.openAI.replacing(#""finish_reason":"stop""#, with: #""finish_reason":"length""#)
        let long = try await Self.openAI(ScriptedServer(.stream(cut))).generate(ProviderFixture.request)
        #expect(long.isTruncated)
        #expect { try long.whole() } throws: { ($0 as? LLMError)?.kind == .truncated }
    }

    @Test("Model lists and health, in each service's format")
    func modelsAndHealth() async throws {
        let anthropic = try ScriptedServer(
            .reply(
                200,
                #"{"data":[{"type":"model","id":"claude-x","display_name":"X","max_input_tokens":1000,"max_tokens":50}],"has_more":false}"#
            ))
        #expect(
            try await Self.anthropic(anthropic).models() == [
                LLMModel(id: "claude-x", displayName: "X", contextTokens: 1000, maxOutputTokens: 50)
            ])
        #expect(anthropic.requests[0].path == "/v1/models?limit=1000")
        let openAI = try ScriptedServer(
            .reply(200, #"{"object":"list","data":[{"id":"a","meta":{"n_ctx_train":32768}},{"id":"b"}]}"#))
        #expect(try await Self.openAI(openAI).models().map(\.contextTokens) == [32768, nil])
        #expect(try await Self.openAI(ScriptedServer(.reply(404, "{}"))).checkHealth().contains("answers"))
        let tags = #"{"models":[{"name":"llama3.2:latest","model":"llama3.2:latest","size":1}]}"#
        let ollama = try ScriptedServer(.reply(200, #"{"version":"0.6.3"}"#), .reply(200, tags))
        #expect(try await Self.ollama(ollama).checkHealth() == "Ollama 0.6.3 with llama3.2")
        let empty = try ScriptedServer(.reply(200, #"{"version":"0.6.3"}"#), .reply(200, #"{"models":[]}"#))
        await #expect { try await Self.ollama(empty).checkHealth() } throws: {
            ($0 as? LLMError)?.message.contains("ollama pull llama3.2") == true
        }
    }

    @Test("OLLAMA_HOST is interpreted as by Ollama")
    func ollamaHost() throws {
        for (host, url) in [
            (nil, "http://127.0.0.1:11434"), ("", "http://127.0.0.1:11434"),
            ("example.org", "http://example.org:11434"),
            ("example.org:80", "http://example.org:80"), (":5000", "http://127.0.0.1:5000"),
            ("0.0.0.0", "http://127.0.0.1:11434"), ("https://example.org/ollama/", "https://example.org/ollama"),
            ("[::1]:9", "http://[::1]:9"),
        ] {
            #expect(try OllamaProvider.endpoint(host: host).baseURL.absoluteString == url)
        }
        #expect(throws: LLMError.self) { try OllamaProvider.endpoint(host: "ftp://x") }
    }
}
