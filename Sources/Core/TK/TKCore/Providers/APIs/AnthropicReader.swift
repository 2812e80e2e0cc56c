import Foundation
import HTTPKit

/// Reads the Messages API's answers. Unknown event types and content blocks are ignored, as the API's versioning rules
/// require.
package struct AnthropicReader: ReplyReader {
    private struct Usage: Decodable {
        struct Details: Decodable { let thinking_tokens: Int? }

        let input_tokens: Int?
        let output_tokens: Int?
        let cache_creation_input_tokens: Int?
        let cache_read_input_tokens: Int?
        let output_tokens_details: Details?
    }

    private struct StopDetails: Decodable { let explanation: String? }

    private struct Block: Decodable {
        let type: String?
        let text: String?
    }

    private struct Message: Decodable {
        let content: [Block]?
        let model: String?
        let stop_reason: String?
        let stop_details: StopDetails?
        let usage: Usage?
    }

    private struct Event: Decodable {
        struct Delta: Decodable {
            let type: String?
            let text: String?
            let stop_reason: String?
            let stop_details: StopDetails?
        }

        let type: String
        let message: Message?
        let content_block: Block?
        let delta: Delta?
        let usage: Usage?
    }

    private struct Kind: Decodable { let type: String }

    private var parser = SSEParser()
    private var response: LLMResponse
    private var hasStopped = false
    private var isMiscounted = false
    /// The model has begun to write, even if only its reasoning: that is billed.
    private var hasBegun = false
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
            if let text = try consume(event) { yield(text) }
        }
    }

    package mutating func drain() throws -> String? {
        guard let event = try parser.finish() else { return nil }
        return try consume(event)
    }

    package mutating func finish() throws -> LLMResponse {
        guard hasStopped else { throw LLMError.cut(response, place: place) }
        return response
    }

    package mutating func read(whole body: [UInt8]) throws -> LLMResponse {
        let message: Message
        do {
            message = try JSONDecoder().decode(Message.self, from: Data(body))
        } catch {
            throw LLMError.garbled(response, place: place)
        }
        response.text = (message.content ?? []).compactMap { $0.type == "text" ? $0.text : nil }.joined()
        absorb(message)
        guard hasStopped else { throw LLMError.cut(response, place: place) }
        return response
    }

    private mutating func consume(_ event: SSEEvent) throws -> String? {
        let data = Data(event.data.utf8)
        let decoded: Event
        do {
            // A later event type may use a known field for something else.
            let kind = try JSONDecoder().decode(Kind.self, from: data).type
            guard Self.known.contains(kind) else { return nil }
            if kind == "error" {
                throw ServerComplaint(body: Array(data)).error(
                    provider: response.provider, place: place, model: response.model, status: nil, redaction: redaction)
            }
            decoded = try JSONDecoder().decode(Event.self, from: data)
        } catch let error as LLMError {
            throw error
        } catch {
            throw LLMError.garbled(response, place: place)
        }
        switch decoded.type {
        case "message_start":
            if let message = decoded.message { absorb(message) }
        case "content_block_start":
            return piece(decoded.content_block?.type == "text" ? decoded.content_block?.text : nil)
        case "content_block_delta":
            hasBegun = true
            return piece(decoded.delta?.type == "text_delta" ? decoded.delta?.text : nil)
        case "message_delta":
            if let usage = decoded.usage { absorb(usage) }
            if let reason = decoded.delta?.stop_reason { stop(reason, decoded.delta?.stop_details) }
        case "message_stop": isComplete = true
        default: break
        }
        return nil
    }

    private static let known: Set<String> = [
        "message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "error",
    ]

    private mutating func piece(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        response.text += text
        return text
    }

    private mutating func absorb(_ message: Message) {
        if let model = message.model, !model.isEmpty { response.model = model }
        if let usage = message.usage { absorb(usage) }
        if let reason = message.stop_reason { stop(reason, message.stop_details) }
    }

    /// Later counts replace earlier ones: they are totals.
    private mutating func absorb(_ usage: Usage) {
        let known = response.usage ?? LLMUsage()
        guard !isMiscounted,
            let total = LLMUsage.counted(
                inputTokens: usage.input_tokens ?? known.inputTokens,
                cacheReadTokens: usage.cache_read_input_tokens ?? known.cacheReadTokens,
                cacheWriteTokens: usage.cache_creation_input_tokens ?? known.cacheWriteTokens,
                outputTokens: usage.output_tokens ?? known.outputTokens,
                reasoningTokens: usage.output_tokens_details?.thinking_tokens ?? known.reasoningTokens)
        else {
            // After one invalid count, later ones are not trusted either.
            isMiscounted = true
            response.usage = nil
            return
        }
        response.usage = total
    }

    private mutating func stop(_ reason: String, _ details: StopDetails?) {
        hasStopped = true
        switch reason {
        case "end_turn": response.stopReason = .end
        case "max_tokens": response.stopReason = .length
        case "model_context_window_exceeded": response.stopReason = .context
        case "stop_sequence": response.stopReason = .stopText
        case "refusal":
            response.stopReason = .refusal
            response.refusal = redaction.clean(details?.explanation ?? "the model declined to answer")
        default: response.stopReason = .other
        }
    }
}

extension LLMError {
    /// The stream ended without the model's end marker.
    package static func cut(_ response: LLMResponse, place: String) -> LLMError {
        LLMError(
            .truncated, "\(response.provider): the answer from \(place) broke off. Try again.",
            provider: response.provider, partial: response.text.isEmpty ? nil : response)
    }

    package static func garbled(_ response: LLMResponse, place: String) -> LLMError {
        LLMError(
            .malformed,
            "\(response.provider): \(place) sent something that is not of its protocol. Check the base URL "
                + "and the provider's name; if they are right, try again.", provider: response.provider,
            partial: response.text.isEmpty ? nil : response)
    }
}
