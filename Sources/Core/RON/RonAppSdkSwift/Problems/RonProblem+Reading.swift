import Foundation
import HTTPKit

extension RonProblem: Codable {
    private enum CodingKeys: String, CodingKey {
        case code, message, kind, status, reason, retryable, details
        case correlationId = "correlation_id"
        case retryAfterMs = "retry_after_ms"
    }

    /// Reads a problem in any of the shapes that servers send.
    ///
    /// A code that is missing is `unknown_error`, a message `HTTP` with the status, and a status 0; unknown fields are
    /// ignored, and so is a field that makes no sense.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Throws: `DecodingError`, where there is no object.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.singleValueContainer().decode([String: JSONValue].self)
        self.init(ProblemFields(object), status: nil, headers: [:])
    }

    /// Writes the problem with the wire's names; what is nil is left out.
    ///
    /// - Parameter encoder: Where it is written to.
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code, forKey: .code)
        try container.encode(message, forKey: .message)
        try container.encode(kind, forKey: .kind)
        try container.encode(status, forKey: .status)
        try container.encodeIfPresent(correlationId, forKey: .correlationId)
        try container.encodeIfPresent(retryable, forKey: .retryable)
        try container.encodeIfPresent(retryAfterMs, forKey: .retryAfterMs)
        try container.encodeIfPresent(reason, forKey: .reason)
        try container.encodeIfPresent(details, forKey: .details)
    }

    /// The problem that an answer without success is.
    ///
    /// A JSON object is read as ``init(from:)`` says. Any other body is `transport_error` of the kind `transport`, with a
    /// fixed message. Its status is the answer's; whether it is retryable depends on that
    /// (docs/design/ron.md, "Where they differ").
    ///
    /// - Parameters:
    ///   - status: The answer's status.
    ///   - headers: The answer's headers, names in lower case.
    ///   - body: The answer's body.
    public init(status: Int, headers: [String: String], body: Data) {
        if MediaType.mayBeJSON(headers["content-type"]),
            let object = try? JSONDecoder().decode([String: JSONValue].self, from: body)
        {
            self.init(ProblemFields(object), status: status, headers: headers)
        } else {
            self = .unreadableAnswer(status: status, retryable: Self.isRetryable(status))
            correlationId = Self.correlationId(in: headers)
            retryAfterMs = Self.wait(asked: nil, headers: headers)
        }
    }

    private init(_ fields: ProblemFields, status httpStatus: Int?, headers: [String: String]) {
        let status = httpStatus ?? fields.count("status").flatMap { (0...999).contains($0) ? $0 : nil } ?? 0
        let details = fields.object("details")
        let code = fields.text("code") ?? fields.text("error") ?? "unknown_error"
        self.init(
            code: code, message: fields.text("message", "detail", "error_description", "title") ?? "HTTP \(status)",
            kind: fields.text("kind") ?? Self.kind(code: code, status: status), status: status,
            correlationId: fields.text("correlation_id", "correlationId", "corr_id", "corrId")
                ?? Self.correlationId(in: headers),
            retryable: fields.flag("retryable") ?? (httpStatus == nil ? nil : Self.isRetryable(status)),
            retryAfterMs: Self.wait(asked: fields.count("retry_after_ms", "retryAfterMs"), headers: headers),
            reason: fields.text("reason") ?? details.flatMap { ProblemFields($0).text("reason") }, details: details)
    }

    /// Whether a status alone says that the same call may succeed later: all of 500 and above, as in the original, and
    /// those below that say so themselves.
    static func isRetryable(_ status: Int) -> Bool { status >= 500 || [408, 425, 429].contains(status) }

    /// Servers send no kind yet.
    private static func kind(code: String, status: Int) -> String {
        let code = code.lowercased()
        if status == 451 || code.hasPrefix("policy_") || code == "legal_restriction" { return "policy" }
        if [401, 403].contains(status) { return "auth" }
        return code == "upstream_unavailable" ? transportKind : "app"
    }

    /// What the body asks to wait, else the header; what is longer than 24 days counts as that, so that nobody who adds to
    /// it or multiplies it overflows.
    private static func wait(asked: Int?, headers: [String: String]) -> Int? {
        (asked ?? headers["retry-after"].flatMap { RetryAfter.wait($0) }.map { Int(($0 / .milliseconds(1)).rounded()) })
            .map { min($0, longestWaitMs) }
    }

    private static func correlationId(in headers: [String: String]) -> String? {
        ["x-correlation-id", "x-corr-id", "x-request-id"].lazy.compactMap { headers[$0] }.first { !$0.isEmpty }
    }
}

extension RonProblem {
    /// An answer that came, but cannot be read.
    static func unreadableAnswer(status: Int, retryable: Bool) -> RonProblem {
        RonProblem(
            code: "transport_error", message: "Unexpected response from the server", kind: transportKind,
            status: status, retryable: retryable)
    }

    /// No answer, or not the whole of it; what the network said is not for users.
    ///
    /// - Parameter kind: What happened.
    /// - Returns: `local_timeout`, `local_cancelled` or `local_network_failure`, with status 0.
    static func noAnswer(_ kind: TransportError.Kind) -> RonProblem {
        switch kind {
        case .timeout:
            RonProblem(
                code: "local_timeout", message: "Request timed out", kind: transportKind, status: 0, retryable: true)
        case .cancelled:
            RonProblem(
                code: "local_cancelled", message: "Request cancelled", kind: localKind, status: 0, retryable: false)
        case .unreachable, .reset, .tls, .tooLong, .other:
            // A certificate that is not trusted now is not trusted a moment later either.
            RonProblem(
                code: "local_network_failure", message: "Network error", kind: transportKind, status: 0,
                retryable: kind != .tls)
        }
    }

    /// The answer is longer than what the client takes.
    static func tooLong(status: Int, limit: Int) -> RonProblem {
        RonProblem(
            code: "local_response_too_large",
            message: "The answer is longer than \(limit) bytes; ask for less, or raise maxResponseBytes",
            kind: localKind, status: status, retryable: false)
    }
}

/// The header `Content-Type`.
enum MediaType {
    /// Whether a body of this type is JSON: `application/json` and whatever ends in `+json`.
    static func isJSON(_ contentType: String) -> Bool {
        // What nearly every answer says; to look into it costs as much as to make the call's URL.
        if contentType == "application/json" { return true }
        let type = contentType.prefix { $0 != ";" && $0 != "," }.trimmingCharacters(in: .whitespaces).lowercased()
        return type == "application/json" || type.hasSuffix("+json")
    }

    /// Whether it is worth a try: it says so, or nothing.
    static func mayBeJSON(_ contentType: String?) -> Bool { contentType.map(isJSON) ?? true }
}
