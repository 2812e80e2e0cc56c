import Foundation
import HTTPKit
import Logging
import Synchronization

/// Calls the app plane of a RON node, `/app/*`, through its gateway (docs/design/ron.md).
///
/// One client serves a whole process, from any task. Calls never throw: each answers with an ``AppResponse``, whose
/// problem says what went wrong. Nothing is sent twice, and redirects are not followed.
public final class RonClient: Sendable {
    /// The longest body of a request, in bytes: what the app plane takes.
    public static let maxRequestBytes = 1_048_576

    /// What the client was made of.
    package let config: RonConfig
    let settings: ResolvedSettings
    let transport: any RonTransport
    /// The same, where it watches over a whole call itself.
    let wholeAnswers: (any WholeAnswerTransport)?
    let hooks: HookRunner
    let logger: Logger?
    /// Watches over the time of calls of which nobody else does.
    let deadlines = DeadlineTimer()
    private let ownsTransport: Bool
    private let isClosed: Mutex<Bool>

    /// Makes a client; nothing is sent yet.
    ///
    /// - Parameter config: Where the gateway is, and how it is called.
    /// - Throws: ``SdkConfigError``, which names the setting that is wrong.
    public init(config: RonConfig) throws(SdkConfigError) {
        settings = try ResolvedSettings(config)
        // Last, as the optimizer of Swift 6.3 fails where an initializer may throw once it holds a mutex.
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

    /// The URL of a call: below `/app`, with everything percent-encoded, and the query sorted by its names.
    ///
    /// - Parameters:
    ///   - path: The path, as plain text; `/app` is put before it once.
    ///   - query: The query, as plain text.
    /// - Returns: The URL.
    /// - Throws: ``LocalNetworkError`` of the code `local_invalid_path`, for a path that would lead elsewhere.
    public func buildUrl(_ path: String, query: [String: String] = [:]) throws(LocalNetworkError) -> URL {
        try settings.gateway.url(path: path, query: query)
    }

    /// Reads.
    ///
    /// - Parameters:
    ///   - path: The path below `/app`.
    ///   - query: The query.
    /// - Returns: What came of it.
    public func get<T: Decodable & Sendable>(_ path: String, query: [String: String]? = nil) async -> AppResponse<T> {
        await request(AppRequest(.get, path, query: query ?? [:]))
    }

    /// Creates, or starts something.
    ///
    /// - Parameters:
    ///   - path: The path below `/app`.
    ///   - body: What is sent as JSON.
    ///   - query: The query.
    /// - Returns: What came of it.
    public func post<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.post, path, query: query ?? [:], body: body))
    }

    /// Replaces.
    ///
    /// - Parameters:
    ///   - path: The path below `/app`.
    ///   - body: What is sent as JSON.
    ///   - query: The query.
    /// - Returns: What came of it.
    public func put<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.put, path, query: query ?? [:], body: body))
    }

    /// Changes in part.
    ///
    /// - Parameters:
    ///   - path: The path below `/app`.
    ///   - body: What is sent as JSON.
    ///   - query: The query.
    /// - Returns: What came of it.
    public func patch<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.patch, path, query: query ?? [:], body: body))
    }

    /// Removes.
    ///
    /// - Parameters:
    ///   - path: The path below `/app`.
    ///   - body: What is sent as JSON.
    ///   - query: The query.
    /// - Returns: What came of it.
    public func delete<T: Decodable & Sendable>(
        _ path: String, body: (any Encodable & Sendable)? = nil, query: [String: String]? = nil
    ) async -> AppResponse<T> {
        await request(AppRequest(.delete, path, query: query ?? [:], body: body))
    }

    /// Closes the connections, if they are the client's own; a transport of ``RonConfig/transport`` stays open.
    ///
    /// Hooks that are to run yet are waited for, for a second at most. Calls afterwards answer with a problem of the code
    /// `local_closed`. Closing once more does nothing.
    ///
    /// - Throws: What kept connections from being closed.
    public func close() async throws {
        isClosed.withLock { $0 = true }
        await hooks.finish(within: .seconds(1))
        if ownsTransport { try await transport.close() }
    }

    /// - Throws: ``LocalNetworkError``, once the client is closed.
    func checkOpen() throws(LocalNetworkError) {
        if isClosed.withLock({ $0 }) {
            throw LocalNetworkError(code: "local_closed", message: "the client is closed; make another one")
        }
    }
}
