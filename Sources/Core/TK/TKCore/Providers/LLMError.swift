import Foundation
import HTTPKit

/// Why a call to a model failed, and how to respond. Never contains a key.
public struct LLMError: Error, Sendable, Hashable, CustomStringConvertible, LocalizedError {
    /// The kind of error, by the caller's possible response.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// No key was given.
        case keyMissing
        /// The server does not accept the key, or not for this request.
        case authentication
        /// Out of credit, or over a spending limit: waiting does not help.
        case billing
        case rateLimited
        case overloaded
        case invalidRequest
        /// The prompt does not fit in the model's context.
        case contextTooLong
        case refused
        /// The answer ended without an end marker.
        case truncated
        /// Not installed on this machine, or not running.
        case notAvailable
        /// A server of another user on this machine: nothing was sent to it.
        case notAllowed
        case network
        /// The caller's ``TimeLimit`` expired.
        case timedOut
        case server
        /// The answer violates the protocol.
        case malformed
    }

    /// The kind of error.
    public var kind: Kind
    /// For a person: the problem, its place and reason, and the next step.
    public var message: String
    /// The name of the provider, empty if none was asked yet.
    public var provider: String
    /// The HTTP status, if there was an answer.
    public var status: Int?
    /// The server's own code: `rate_limit_error`, `insufficient_quota`.
    public var code: String?
    /// The server's own request id, for its support.
    public var requestID: String?
    /// The wait requested by the server.
    public var retryAfter: Duration?
    /// The server's `x-should-retry`; false if no trusted connection could be made.
    public var serverAllowsRetry: Bool?
    /// The part received before the failure; it is billed, and its complete items are usable.
    public var partial: LLMResponse?

    /// An error; see the properties.
    public init(
        _ kind: Kind, _ message: String, provider: String = "", status: Int? = nil, code: String? = nil,
        requestID: String? = nil, retryAfter: Duration? = nil, serverAllowsRetry: Bool? = nil,
        partial: LLMResponse? = nil
    ) {
        self.kind = kind
        self.message = message
        self.provider = provider
        self.status = status
        self.code = code
        self.requestID = requestID
        self.retryAfter = retryAfter
        self.serverAllowsRetry = serverAllowsRetry
        self.partial = partial
    }

    /// The message.
    public var description: String { message }
    /// The message.
    public var errorDescription: String? { message }

    /// Whether the same request may succeed later, regardless of cost: after the first piece of text nothing is
    /// retried.
    public var isRetryable: Bool {
        switch kind {
        case .keyMissing, .authentication, .billing, .invalidRequest, .contextTooLong, .refused, .notAvailable,
            .notAllowed, .timedOut:
            return false
        case .rateLimited, .overloaded, .truncated, .network, .server, .malformed:
            // 409 stands for a lock that was not free in time; the providers' own clients retry it as well.
            if let status, (400..<500).contains(status), status != 409, !HTTPStatus.isRetryable(status) { return false }
            return serverAllowsRetry ?? true
        }
    }

    /// Whether another provider may be asked instead: the request itself is valid, and no money was spent.
    public var allowsFallback: Bool {
        partial == nil && [.keyMissing, .notAvailable, .notAllowed, .network].contains(kind)
    }
}
