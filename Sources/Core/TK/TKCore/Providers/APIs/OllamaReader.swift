import Foundation
import HTTPKit

/// Reads the JSON lines of Ollama's `/api/chat`.
package struct OllamaReader: ReplyReader {
    private struct Line: Decodable {
        struct Message: Decodable { let content: String? }

        let model: String?
        let message: Message?
        let done: Bool?
        let done_reason: String?
        let prompt_eval_count: Int?
        let eval_count: Int?
        let error: String?
    }

    private var lines = LineSplitter()
    private var response: LLMResponse
    package private(set) var isComplete = false
    private let place: String
    private let redaction: KeyRedaction
    private let context: Int
    private let promptBytes: Int

    package init(
        provider: String, model: String, place: String, redaction: KeyRedaction, context: Int, promptBytes: Int
    ) {
        response = LLMResponse(text: "", model: model, provider: provider, stopReason: .interrupted)
        self.place = place
        self.redaction = redaction
        self.context = context
        self.promptBytes = promptBytes
    }

    package var partial: LLMResponse? { response.text.isEmpty ? nil : response }

    package mutating func feed(_ bytes: [UInt8], yield: (String) -> Void) throws {
        for line in try lines.feed(bytes) where !isComplete {
            if let text = try consume(line) { yield(text) }
        }
    }

    package mutating func drain() throws -> String? {
        guard let line = lines.finish() else { return nil }
        return try consume(line)
    }

    package mutating func finish() throws -> LLMResponse {
        guard isComplete else { throw LLMError.cut(response, place: place) }
        return response
    }

    package mutating func read(whole body: [UInt8]) throws -> LLMResponse {
        _ = try consume(String(decoding: body, as: UTF8.self))
        return try finish()
    }

    private mutating func consume(_ text: String) throws -> String? {
        if text.allSatisfy(\.isWhitespace) { return nil }
        let line: Line
        do {
            line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
        } catch {
            throw LLMError.garbled(response, place: place)
        }
        if line.error != nil {
            throw ServerComplaint(body: Array(text.utf8)).error(
                provider: response.provider, place: place, model: response.model, status: nil, redaction: redaction)
        }
        if let model = line.model, !model.isEmpty { response.model = model }
        var piece: String?
        if let content = line.message?.content, !content.isEmpty {
            response.text += content
            piece = content
        }
        if line.done == true { end(line) }
        return piece
    }

    private mutating func end(_ line: Line) {
        isComplete = true
        if line.prompt_eval_count != nil || line.eval_count != nil {
            response.usage = LLMUsage.counted(
                inputTokens: line.prompt_eval_count ?? 0, outputTokens: line.eval_count ?? 0)
        }
        switch line.done_reason {
        case "length": response.stopReason = .length
        case "stop", nil: response.stopReason = .end
        default: response.stopReason = .other
        }
        // No prose has eight bytes per token; a server that read so few tokens has dropped a part.
        if let count = line.prompt_eval_count, count > 0, count < promptBytes / 8 || count >= context {
            response.warnings.append(
                "ollama: the model read \(count) tokens of a prompt of \(promptBytes) bytes; the server has probably cut "
                    + "it. Set OLLAMA_CONTEXT_LENGTH=\(context) for the server, or send a shorter text.")
        }
    }
}
