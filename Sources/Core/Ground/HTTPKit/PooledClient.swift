import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// The HTTP client: AsyncHTTPClient with pooled connections, verified certificates and TLS 1.2 or later.
///
/// It does not follow redirects and sends nothing twice. It may be dropped without being closed, even while requests
/// are in flight.
package final class PooledClient: Sendable {
    /// Checks a new connection after the handshake, before a request is sent. If it fails, nothing is sent.
    package typealias ConnectionCheck = @Sendable (any Channel) -> EventLoopFuture<Void>

    /// A client of the library and its single event loop: with timer, connection and response on one thread, none has
    /// to wake another. A loop handles many thousand requests per second.
    struct Line: Sendable {
        let client: HTTPClient
        let loop: any EventLoop
    }

    private struct State {
        var lines: [HTTPRoute: Line] = [:]
        var isClosed = false
    }

    private let encryption: TLSConfiguration
    private let connectionsPerHost: Int
    private let check: ConnectionCheck?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - encryption: Which certificates are trusted and which are presented. Versions below TLS 1.2 are never used.
    ///   - connectionsPerHost: Further requests wait for a connection, for at most their connect timeout.
    ///   - check: Checks each new connection.
    package init(encryption: TLSConfiguration, connectionsPerHost: Int, check: ConnectionCheck? = nil) {
        var encryption = encryption
        // The library's default is 1.0.
        if ![.tlsv12, .tlsv13].contains(encryption.minimumTLSVersion) { encryption.minimumTLSVersion = .tlsv12 }
        self.encryption = encryption
        self.connectionsPerHost = connectionsPerHost
        self.check = check
    }

    deinit {
        // The future retains each client until its last connection is closed.
        for line in state.withLock({ $0.lines }).values { _ = line.client.shutdown() as EventLoopFuture<Void> }
    }

    /// Sends a request, and returns once the head of the response has arrived.
    package func send(_ request: HTTPRequest) async throws(HTTPFailure) -> HTTPResponse {
        do {
            var message = HTTPClientRequest(url: request.url.absoluteString)
            message.method = HTTPMethod(rawValue: request.method)
            message.headers = HTTPHeaders(request.headers)
            if let body = request.body { message.body = .bytes(body) }
            let deadline: NIODeadline = request.timeout.map { .now() + TimeAmount($0) } ?? .distantFuture
            let answer = try await line(for: request.route).client.execute(message, deadline: deadline)
            return HTTPResponse(
                status: Int(answer.status.code), headers: answer.headers.map { ($0.name, $0.value) },
                body: HTTPBody(base: answer.body))
        } catch {
            throw HTTPFailure(error)
        }
    }

    /// Closes all connections. Requests in flight fail, and so do later ones. Closing again is a no-op.
    ///
    /// - Throws: The first error of closing a connection; all others are closed by then.
    package func close() async throws {
        let lines = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.lines.values
        }
        var failure: (any Error)?
        for line in lines {
            do {
                try await line.client.shutdown()
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    func line(for route: HTTPRoute) throws(HTTPFailure) -> Line {
        let line: Line? = state.withLock { state in
            if state.isClosed { return nil }
            if let line = state.lines[route] { return line }
            let line = makeLine(route)
            state.lines[route] = line
            return line
        }
        guard let line else { throw HTTPFailure(.other, "the transport is closed") }
        return line
    }

    private func makeLine(_ route: HTTPRoute) -> Line {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            // Without a connect timeout, the library uses ten seconds.
            timeout: .init(
                connect: route.connectTimeout.map { TimeAmount($0) } ?? .hours(24),
                read: route.readTimeout.map { TimeAmount($0) }))
        configuration.timeout.write = route.writeTimeout.map { TimeAmount($0) }
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        configuration.tlsConfiguration = encryption
        configuration.dnsOverride = route.addresses
        if let proxy = route.proxy {
            configuration.proxy = .server(
                host: proxy.host, port: proxy.port,
                authorization: proxy.user.map { .basic(username: $0, password: proxy.password ?? "") })
        }
        configuration.http1_1ConnectionDebugInitializer = check
        configuration.http2ConnectionDebugInitializer = check
        let loop = HTTPClient.defaultEventLoopGroup.next()
        return Line(
            client: HTTPClient(eventLoopGroupProvider: .shared(loop), configuration: configuration), loop: loop)
    }
}
