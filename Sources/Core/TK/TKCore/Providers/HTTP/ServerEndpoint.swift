import Foundation
import Platform

/// A provider's server, and the key for it.
public struct ServerEndpoint: Sendable {
    /// Returns the key when it is needed, trimmed or not; nil or empty if there is none.
    public typealias KeySource = @Sendable () throws -> Secret?

    /// Without user, password, query and fragment, and without a trailing slash.
    public let baseURL: URL
    /// Nil if the server needs none.
    public var key: KeySource?
    /// The maximum time between two bytes of an answer, and before the first.
    public var idleTimeout: Duration
    /// A key is sent over plain HTTP to this machine only, unless this is set.
    public var allowsKeyOverPlainHTTP: Bool

    /// Throws ``LLMError`` with kind `invalidRequest` unless it is an http or https URL with a host.
    public init(
        _ text: String, key: KeySource? = nil, idleTimeout: Duration = .seconds(120),
        allowsKeyOverPlainHTTP: Bool = false
    ) throws {
        var parts = URLComponents(string: text.trimmingCharacters(in: .whitespacesAndNewlines))
        parts?.user = nil
        parts?.password = nil
        parts?.query = nil
        parts?.fragment = nil
        if var path = parts?.path {
            while path.hasSuffix("/") { path.removeLast() }
            parts?.path = path
        }
        guard let parts, let url = parts.url, ["http", "https"].contains(parts.scheme?.lowercased() ?? ""),
            let host = parts.host, !host.isEmpty
        else {
            throw LLMError(
                .invalidRequest,
                "the provider's base URL must be like https://host/v1 or http://127.0.0.1:8080/v1; set it again")
        }
        baseURL = url
        self.key = key
        self.idleTimeout = idleTimeout
        self.allowsKeyOverPlainHTTP = allowsKeyOverPlainHTTP
    }

    /// A URL below the base, e.g. `/v1/messages`.
    package func url(_ path: String) -> URL { URL(string: baseURL.absoluteString + path) ?? baseURL }

    package var isLoopback: Bool { ProxySettings.isLoopback(baseURL.host ?? "") }

    /// Threads for reading keys from files.
    static let pool = BlockingPool("keys", threads: 2)

    /// The validated key; nil if the endpoint takes none. Throws ``LLMError`` (`keyMissing`, `authentication`).
    package func currentKey(for provider: String) async throws -> Secret? {
        guard let key else { return nil }
        return try await Self.pool.run { try read(key, for: provider) }
    }

    private func read(_ key: KeySource, for provider: String) throws -> Secret? {
        let text: String
        do {
            text = try key()?.reveal().trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        } catch let error as LLMError {
            throw error
        } catch {
            throw LLMError(
                .keyMissing, "\(provider): the API key cannot be read (\(explain(error)))", provider: provider)
        }
        guard !text.isEmpty else { throw Self.missingKey(provider) }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw LLMError(
                .authentication,
                "\(provider): the API key holds a blank, a line break or another character that no key "
                    + "has. Copy it again: `tk config set api_key --stdin`.", provider: provider)
        }
        guard baseURL.scheme?.lowercased() == "https" || isLoopback || allowsKeyOverPlainHTTP else {
            throw LLMError(
                .invalidRequest,
                "\(provider): the key is not sent to \(baseURL.absoluteString), because the connection "
                    + "is not encrypted. Use https, or remove the key if the server needs none.", provider: provider)
        }
        return Secret(text)
    }

    package static func missingKey(_ provider: String) -> LLMError {
        LLMError(
            .keyMissing,
            "\(provider): no API key. Set it with `tk config set api_key --stdin`, in the environment "
                + "variable TK_API_KEY, or choose a local model with `--provider ollama`.", provider: provider)
    }
}
