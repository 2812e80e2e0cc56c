import Foundation

/// Why a call to a model failed, and what to do about it. Never holds a key.
public struct LLMError: Error, Sendable, Hashable, CustomStringConvertible, LocalizedError {
    /// What the caller may do about it.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// No key was given.
        case keyMissing
        /// The server does not accept the key, or not for this.
        case authentication
        /// Out of credit, or a spending limit is reached: waiting does not help.
        case billing
        case rateLimited
        case overloaded
        case invalidRequest
        /// The prompt does not fit into the model's context.
        case contextTooLong
        case refused
        /// The answer ended without saying that it was done.
        case truncated
        /// Not on this machine, or not running.
        case notAvailable
        /// On this machine, and another user's: nothing was sent to it.
        case notAllowed
        case network
        /// The caller's ``TimeLimit`` was over.
        case timedOut
        case server
        /// The answer is not what the protocol says.
        case malformed
    }

    /// Which of the kinds it is.
    public var kind: Kind
    /// What, where, why, and what to do next, for a person.
    public var message: String
    /// The name of the provider, empty where none was asked yet.
    public var provider: String
    /// The HTTP status, if there was an answer.
    public var status: Int?
    /// The server's own word for it: `rate_limit_error`, `insufficient_quota`.
    public var code: String?
    /// The server's own id of the call, for its support.
    public var requestID: String?
    /// How long the server asks to wait.
    public var retryAfter: Duration?
    /// The server's `x-should-retry`; false where no trusted connection to it came about.
    public var serverAllowsRetry: Bool?
    /// What had arrived before the failure; it is paid for, and its complete items can be used.
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

    /// Whether the same request may succeed later. Says nothing about what it costs: behind the first piece of text
    /// nothing is retried.
    public var isRetryable: Bool {
        switch kind {
        case .keyMissing, .authentication, .billing, .invalidRequest, .contextTooLong, .refused, .notAvailable,
            .notAllowed, .timedOut:
            return false
        case .rateLimited, .overloaded, .truncated, .network, .server, .malformed:
            if let status, (400..<500).contains(status), ![408, 409, 429].contains(status) { return false }
            return serverAllowsRetry ?? true
        }
    }

    /// Whether another provider may be asked instead: the request itself is not at fault, and no money was spent.
    public var allowsFallback: Bool {
        partial == nil && [.keyMissing, .notAvailable, .notAllowed, .network].contains(kind)
    }
}
