import Foundation
import HTTPKit
import Platform

/// A server's message in the body of an error, in any of the common formats.
package struct ServerComplaint: Sendable {
    package var type: String?
    package var code: String?
    package var message: String?

    /// `{"error":{"type","code","message"}}`, `{"error":"text"}`, `{"detail":…}`, `{"message":…}`; other text as it is.
    package init(body: [UInt8]) {
        guard let object = (try? JSON(parsing: body))?.members else {
            let text = String(decoding: body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            // A proxy's HTML page is of no use.
            message = text.isEmpty || text.hasPrefix("<") ? nil : text
            return
        }
        if let error = object["error"]?.members {
            type = error["type"]?.text
            code = error["code"]?.text
            if case .integer(let number)? = error["code"] { code = String(number) }
            message = error["message"]?.text
        } else {
            message = object["error"]?.text ?? object["message"]?.text ?? object["detail"]?.text
            if message == nil, case .array(let details)? = object["detail"] {
                message = details.first?.members?["msg"]?.text
            }
        }
    }

    /// The corresponding error. `status` is nil for an error inside a stream.
    package func error(
        provider: String, place: String, model: String, status: Int?, redaction: KeyRedaction
    ) -> LLMError {
        let kind = kind(status: status)
        let said = redaction.clean(message ?? type ?? code ?? "no reason given")
        let number = status.map { "\($0): " } ?? ""
        return LLMError(
            kind,
            "\(provider): \(Self.meaning(kind, place: place, model: model)) (\(number)\(said))."
                + Self.advice(kind, status: status), provider: provider, status: status,
            code: (code ?? type).map { redaction.clean($0, limit: 60) })
    }

    private func kind(status: Int?) -> LLMError.Kind {
        let words = [type, code].compactMap { $0?.lowercased() }
        let text = message?.lowercased() ?? ""
        func says(_ any: String...) -> Bool { any.contains { text.contains($0) } }
        if words.contains(where: { $0.contains("billing") || $0 == "insufficient_quota" || $0.contains("credit") })
            || status == 402
            || says(
                "credit balance", "insufficient_quota", "exceeded your current quota", "spend limit",
                "spending limit", "usage limit")
        {
            return .billing
        }
        if words.contains("context_length_exceeded") || words.contains("exceed_context_size_error") || status == 413
            || words.contains("request_too_large")
            || says(
                "prompt is too long", "maximum context length", "context window", "exceeds the available context",
                "exceeds context", "input length exceeds")
        {
            return .contextTooLong
        }
        if words.contains("content_filter") || words.contains("content_policy_violation") { return .refused }
        if words.contains("overloaded_error") || status == 529 || status == 503 { return .overloaded }
        if status == 429 || words.contains("rate_limit_error") || words.contains("rate_limit_exceeded") {
            return .rateLimited
        }
        if [401, 403].contains(status) || words.contains("authentication_error") || words.contains("permission_error")
            || words.contains("invalid_api_key")
        {
            return .authentication
        }
        if let status {
            if status == 409 || HTTPStatus.isRetryable(status) { return .server }
            return .invalidRequest
        }
        if words.contains("invalid_request_error") || words.contains("not_found_error") { return .invalidRequest }
        return .server
    }

    private static func meaning(_ kind: LLMError.Kind, place: String, model: String) -> String {
        switch kind {
        case .authentication: "\(place) does not accept the key for \(model)"
        case .billing: "the account at \(place) has no credit, or its limit is reached"
        case .rateLimited: "too many requests at once to \(place)"
        case .overloaded: "\(place) is overloaded"
        case .contextTooLong: "the text is too long for \(model)"
        case .refused: "\(place) refused the request"
        case .invalidRequest: "\(place) does not take the request for \(model)"
        default: "\(place) failed"
        }
    }

    private static func advice(_ kind: LLMError.Kind, status: Int?) -> String {
        switch kind {
        case .authentication: " Set another key with `tk config set api_key --stdin`."
        case .billing: " Add credit or raise the limit with the provider, or use `--provider ollama`."
        case .rateLimited, .overloaded, .server: " Try again in a while, or use another provider."
        case .contextTooLong: " Send a part of it, or use a model with a longer context."
        case .refused: " Reword the text, or use another model."
        case .invalidRequest:
            status == 404
                ? " Check the model's name and the base URL; the provider's models are listed by its server."
                : " Check the provider's settings and the model's name."
        default: ""
        }
    }
}
