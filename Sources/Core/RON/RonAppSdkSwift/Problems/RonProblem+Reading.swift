import Foundation
import HTTPKit

extension RonProblem: Codable {
    private enum CodingKeys: String, CodingKey {
        case code, message, kind, status, reason, retryable, details
        case correlationId = "correlation_id"
        case retryAfterMs = "retry_after_ms"
    }

    /// Decodes a problem in any of the shapes that servers send.
    ///
    /// A missing code becomes `unknown_error`, a missing message `HTTP` with the status, and a missing status 0;
    /// unknown and invalid fields are ignored.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` if it is not an object.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.singleValueContainer().decode([String: JSONValue].self)
        self.init(ProblemFields(object), status: nil, headers: [:])
    }

    /// Encodes the problem with its wire names; nil values are omitted.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: Any error from the encoder.
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

    /// The problem of an unsuccessful answer.
    ///
    /// A JSON object is decoded like in ``init(from:)``. Any other body becomes `transport_error` of the kind
    /// `transport`, with a fixed message. The status is the answer's, and determines whether it is retryable
    /// (docs/design/ron.md, "Where they differ").
    ///
    /// - Parameters:
    ///   - status: The answer's status.
    ///   - headers: The answer's headers, with lower-case names.
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

    /// Whether the status alone means that the same call may succeed later.
    package static func isRetryable(_ status: Int) -> Bool { HTTPStatus.isRetryable(status) }

    /// Servers send no kind yet.
    private static func kind(code: String, status: Int) -> String {
        let code = code.lowercased()
        if status == 451 || code.hasPrefix("policy_") || code == "legal_restriction" { return "policy" }
        if [401, 403].contains(status) { return "auth" }
        return code == "upstream_unavailable" ? transportKind : "app"
    }

    /// The wait requested in the body, else in the header; capped at 24 days, so that arithmetic with it cannot
    /// overflow.
    private static func wait(asked: Int?, headers: [String: String]) -> Int? {
        (asked ?? headers["retry-after"].flatMap { RetryAfter.wait($0) }.map { Int(($0 / .milliseconds(1)).rounded()) })
            .map { min($0, longestWaitMs) }
    }

    private static func correlationId(in headers: [String: String]) -> String? {
        ["x-correlation-id", "x-corr-id", "x-request-id"].lazy.compactMap { headers[$0] }.first { !$0.isEmpty }
    }
}

extension RonProblem {
    /// An answer that arrived, but cannot be read.
    static func unreadableAnswer(status: Int, retryable: Bool) -> RonProblem {
        RonProblem(
            code: "transport_error", message: "Unexpected response from the server", kind: transportKind,
            status: status, retryable: retryable)
    }

    /// No complete answer; the network's own message is not for users.
    ///
    /// - Parameter kind: The kind of error.
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
            // A retry does not make a certificate trusted.
            RonProblem(
                code: "local_network_failure", message: "Network error", kind: transportKind, status: 0,
                retryable: kind != .tls)
        }
    }

    /// The answer exceeds the client's limit.
    static func tooLong(status: Int, limit: Int) -> RonProblem {
        RonProblem(
            code: "local_response_too_large",
            message: "The answer is longer than \(limit) bytes; ask for less, or raise maxResponseBytes",
            kind: localKind, status: status, retryable: false)
    }
}

/// The header `Content-Type`.
enum MediaType {
    /// Whether a body of this type is JSON: `application/json` and types ending in `+json`.
    static func isJSON(_ contentType: String) -> Bool {
        // Fast path for nearly every answer; parsing costs as much as building the call's URL.
        if contentType == "application/json" { return true }
        let type = contentType.prefix { $0 != ";" && $0 != "," }.trimmingCharacters(in: .whitespaces).lowercased()
        return type == "application/json" || type.hasSuffix("+json")
    }

    /// Whether parsing is worth a try: the type is JSON or missing.
    static func mayBeJSON(_ contentType: String?) -> Bool { contentType.map(isJSON) ?? true }
}
