import Foundation
import TKCore
import TestSupport

/// Shared by the tests of providers: a key that is easy to find where it must not be, and answers as the services give
/// them.
enum ProviderFixture {
    static let key = "sk-test-0123456789abcdef"

    static func endpoint(_ url: String, key: String? = key, idle: Duration = .seconds(60)) throws -> ServerEndpoint {
        guard let key else { return try ServerEndpoint(url, idleTimeout: idle) }
        return try ServerEndpoint(url, key: { Secret(key) }, idleTimeout: idle)
    }

    static let request = LLMRequest(
        system: [.init("You are an editor.", cached: true)], messages: [.user("Größe “wie” 🙂")], maxTokens: 100)

    static func schema() throws -> LLMSchema {
        try LLMSchema(
            name: "points", json: #"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}"#)
    }

    /// A stream from Anthropic, with everything that a client has to skip.
    static let anthropic = """
        event: message_start
        data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"claude-sonnet-5-20260601","stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":200,"output_tokens":1}}}

        event: ping
        data: {"type":"ping"}

        event: content_block_start
        data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

        event: content_block_delta
        data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

        : a comment
        event: later_invention
        data: {"type":"later_invention","delta":{"type":"text_delta","text":7}}

        event: content_block_start
        data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

        event: content_block_delta
        data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Grün "}}

        event: content_block_delta
        data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"🙂 “ja”"}}

        event: content_block_stop
        data: {"type":"content_block_stop","index":1}

        event: message_delta
        data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15,"output_tokens_details":{"thinking_tokens":4}}}

        event: message_stop
        data: {"type":"message_stop"}


        """

    /// A stream from OpenAI, with the final chunk without choices.
    static let openAI = """
        data: {"id":"c1","object":"chat.completion.chunk","model":"gpt-6-luna-2026","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"obfuscation":"x"}

        data: {"id":"c1","model":"gpt-6-luna-2026","choices":[{"index":0,"delta":{"content":"Grün "},"finish_reason":null}]}

        : ping

        data: {"id":"c1","model":"gpt-6-luna-2026","choices":[{"index":0,"delta":{"content":"🙂 “ja”"},"finish_reason":null}]}

        data: {"id":"c1","model":"gpt-6-luna-2026","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

        data: {"id":"c1","model":"gpt-6-luna-2026","choices":[],"usage":{"prompt_tokens":215,"completion_tokens":15,"prompt_tokens_details":{"cached_tokens":200,"cache_write_tokens":5},"completion_tokens_details":{"reasoning_tokens":4}}}

        data: [DONE]


        """

    static let ollama = """
        {"model":"llama3.2","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"Grün "},"done":false}
        {"model":"llama3.2","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"hm"},"done":false}
        {"model":"llama3.2","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"🙂 “ja”"},"done":false}
        {"model":"llama3.2","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":5,"prompt_eval_count":30,"eval_count":15}

        """

    static let text = "Grün 🙂 “ja”"
    static let usage = LLMUsage(
        inputTokens: 10, cacheReadTokens: 200, cacheWriteTokens: 5, outputTokens: 15, reasoningTokens: 4)
}

/// The result of a stream: its pieces, its response, its error.
struct StreamOutcome {
    var pieces: [String] = []
    /// The delays reported before a retry.
    var pauses: [Duration] = []
    var response: LLMResponse?
    var error: (any Error)?

    var text: String { pieces.joined() }
    var llmError: LLMError? { error as? LLMError }

    init(_ stream: AsyncThrowingStream<LLMStreamEvent, any Error>) async {
        do {
            for try await event in stream {
                switch event {
                case .retrying(let pause, _): pauses.append(pause)
                case .text(let piece): pieces.append(piece)
                case .done(let done): response = done
                }
            }
        } catch {
            self.error = error
        }
    }
}
