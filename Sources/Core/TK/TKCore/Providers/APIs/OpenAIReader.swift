import Foundation
import HTTPKit

/// Reads the Chat Completions API's answers, first choice only. `delta` and `message` have the same fields.
package struct OpenAIReader: ReplyReader {
    private struct Chunk: Decodable {
        struct Content: Decodable {
            let content: String?
            let refusal: String?
            let reasoning_content: String?
        }

        struct Choice: Decodable {
            let index: Int?
            let delta: Content?
            let message: Content?
            let finish_reason: String?
        }

        struct Usage: Decodable {
            struct Prompt: Decodable {
                let cached_tokens: Int?
                let cache_write_tokens: Int?
            }
            struct Completion: Decodable { let reasoning_tokens: Int? }

            let prompt_tokens: Int?
            let completion_tokens: Int?
            let prompt_tokens_details: Prompt?
            let completion_tokens_details: Completion?
        }

        /// Of any form: ``ServerComplaint`` reads it.
        struct Failure: Decodable { init(from decoder: any Decoder) {} }

        let model: String?
        let choices: [Choice]?
        let usage: Usage?
        let error: Failure?
    }

    private var parser = SSEParser()
    private var response: LLMResponse
    private var hasStopped = false
    /// The model has begun to write, even if only its reasoning: that is billed.
    private var hasBegun = false
    private var refusal = ""
    package private(set) var isComplete = false
    private let place: String
    private let redaction: KeyRedaction

    package init(provider: String, model: String, place: String, redaction: KeyRedaction) {
        response = LLMResponse(text: "", model: model, provider: provider, stopReason: .interrupted)
        self.place = place
        self.redaction = redaction
    }

    package var partial: LLMResponse? { hasBegun || !response.text.isEmpty ? response : nil }

    package mutating func feed(_ bytes: [UInt8], yield: (String) -> Void) throws {
        for event in try parser.feed(bytes) where !isComplete {
            if let text = try consume(event.data) { yield(text) }
        }
    }

    package mutating func drain() throws -> String? {
        guard let event = try parser.finish() else { return nil }
        return try consume(event.data)
    }

    package mutating func finish() throws -> LLMResponse {
        guard hasStopped else { throw LLMError.cut(response, place: place) }
        if !refusal.isEmpty {
            response.refusal = redaction.clean(refusal, limit: 1000)
            response.stopReason = .refusal
        }
        return response
    }

    package mutating func read(whole body: [UInt8]) throws -> LLMResponse {
        _ = try absorb(body)
        return try finish()
    }

    private mutating func consume(_ data: String) throws -> String? {
        let text = data.trimmingCharacters(in: .whitespaces)
        if text == "[DONE]" {
            isComplete = true
            return nil
        }
        return try absorb(Array(text.utf8))
    }

    private mutating func absorb(_ bytes: [UInt8]) throws -> String? {
        guard let chunk = try? JSONDecoder().decode(Chunk.self, from: Data(bytes)) else {
            throw LLMError.garbled(response, place: place)
        }
        if chunk.error != nil {
            throw ServerComplaint(body: bytes).error(
                provider: response.provider, place: place, model: response.model, status: nil, redaction: redaction)
        }
        if let model = chunk.model, !model.isEmpty { response.model = model }
        if let usage = chunk.usage { response.usage = Self.usage(usage) }
        guard let choice = chunk.choices?.first(where: { ($0.index ?? 0) == 0 }) else { return nil }
        let content = choice.delta ?? choice.message
        refusal += content?.refusal ?? ""
        hasBegun = hasBegun || [content?.refusal, content?.reasoning_content].contains { $0?.isEmpty == false }
        if let reason = choice.finish_reason { stop(reason) }
        guard let text = content?.content, !text.isEmpty else { return nil }
        response.text += text
        return text
    }

    private static func usage(_ usage: Chunk.Usage) -> LLMUsage? {
        let read = usage.prompt_tokens_details?.cached_tokens ?? 0
        let written = usage.prompt_tokens_details?.cache_write_tokens ?? 0
        // Read both before subtracting.
        let all = usage.prompt_tokens ?? 0
        guard [all, read, written].allSatisfy((0...LLMUsage.most).contains) else { return nil }
        return LLMUsage.counted(
            inputTokens: max(0, all - read - written), cacheReadTokens: read,
            cacheWriteTokens: written, outputTokens: usage.completion_tokens ?? 0,
            reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0)
    }

    private mutating func stop(_ reason: String) {
        hasStopped = true
        switch reason {
        // A stop text is reported in the same way.
        case "stop": response.stopReason = .end
        case "length": response.stopReason = .length
        case "content_filter":
            response.stopReason = .refusal
            response.refusal = "the server's content filter withheld the answer"
        default: response.stopReason = .other
        }
    }
}
