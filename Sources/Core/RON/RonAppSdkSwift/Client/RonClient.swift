import Foundation
import HTTPKit
import Logging
import Synchronization

/// Calls the app plane of a RON node, `/app/*`, through its gateway (docs/design/ron.md).
///
/// One client serves a whole process, from any task. Calls never throw: each returns an ``AppResponse``, with a problem
/// on failure. Nothing is sent twice, and redirects are not followed.
public final class RonClient: Sendable {
    /// The maximum body of a request, in bytes: the app plane's limit.
    public static let maxRequestBytes = 1_048_576

    /// The configuration.
    package let config: RonConfig
    let settings: ResolvedSettings
    let transport: any RonTransport
    /// The same transport, if it enforces the timeout of a whole call itself.
    let wholeAnswers: (any WholeAnswerTransport)?
    let hooks: HookRunner
    let logger: Logger?
    /// Enforces deadlines where the transport does not.
    let deadlines = DeadlineTimer()
    private let ownsTransport: Bool
    private let isClosed: Mutex<Bool>

    /// Creates a client; nothing is sent yet.
    ///
    /// - Parameter config: The gateway and the settings of calls.
    /// - Throws: ``SdkConfigError``, which names the invalid setting.
    public init(config: RonConfig) throws(SdkConfigError) {
        settings = try ResolvedSettings(config)
        // Last, because the optimizer of Swift 6.3 fails if an initializer may throw once it holds a mutex.
        isClosed = Mutex(false)
        self.config = config
        let transport = config.transport ?? AsyncHTTPTransport()
        self.transport = transport
        wholeAnswers = transport as? any WholeAnswerTransport
        ownsTransport = config.transport == nil
        var logger = config.logger
        if logger == nil, config.debug {
            logger = Logger(label: "RonAppSdkSwift")
            logger?.logLevel = .debug
        }
        self.logger = logger
        hooks = HookRunner(logger: logger)
    }

    /// The URL of a call: below `/app`, with everything percent-encoded, and the query sorted by name.
    ///
    /// - Parameters:
    ///   - path: The path, as plain text; `/app` is prepended if missing.
    ///   - query: The query, as plain text.
    /// - Returns: The URL.
    /// - Throws: ``LocalNetworkError`` with the code `local_invalid_path` for a path that would lead out of `/app`.
    public func buildUrl(_ path: String, query: [String: String] = [:]) throws(LocalNetworkError) -> URL {
        try settings.gateway.url(path: path, query: query)
    }

    /// Makes a GET call.
    ///
    /// - Parameters:
    ///   - path: The path below `/app`.
    ///   - query: The query.
    /// - Returns: The result.
    public func get<T: Decodable & Sendable>(_ path: String, query: [String: String]? = nil) async -> AppResponse<T> {
        await request(AppRequest(.get, path, query: query ?? [:]))
    }

    /// Makes a POST call, which creates, or starts an operation.
    ///
    /// - Parameters:
    ///   - path: The path below `/app`.
    ///   - body: The body, sent as JSON.
    ///   - query: The query.
    /// - Returns: The result.
    public func post<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.post, path, query: query ?? [:], body: body))
    }

    /// Makes a PUT call, which replaces.
    ///
    /// - Parameters:
    ///   - path: The path below `/app`.
    ///   - body: The body, sent as JSON.
    ///   - query: The query.
    /// - Returns: The result.
    public func put<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.put, path, query: query ?? [:], body: body))
    }

    /// Makes a PATCH call, which updates in part.
    ///
    /// - Parameters:
    ///   - path: The path below `/app`.
    ///   - body: The body, sent as JSON.
    ///   - query: The query.
    /// - Returns: The result.
    public func patch<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.patch, path, query: query ?? [:], body: body))
    }

    /// Makes a DELETE call.
    ///
    /// - Parameters:
    ///   - path: The path below `/app`.
    ///   - body: The body, sent as JSON.
    ///   - query: The query.
    /// - Returns: The result.
    public func delete<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.delete, path, query: query ?? [:], body: body))
    }

    /// Closes the connections, if they are the client's own; a transport from ``RonConfig/transport`` stays open.
    ///
    /// Waits for pending hooks for at most a second. Later calls return a problem with the code `local_closed`.
    /// Idempotent.
    ///
    /// - Throws: An error that prevented connections from being closed.
    public func close() async throws {
        isClosed.withLock { $0 = true }
        await hooks.finish(within: .seconds(1))
        if ownsTransport { try await transport.close() }
    }

    /// - Throws: ``LocalNetworkError`` once the client is closed.
    func checkOpen() throws(LocalNetworkError) {
        if isClosed.withLock({ $0 }) {
            throw LocalNetworkError(code: "local_closed", message: "the client is closed; make another one")
        }
    }
}
