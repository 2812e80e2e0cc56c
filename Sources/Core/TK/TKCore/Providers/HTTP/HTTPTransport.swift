import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Platform
import Synchronization

/// HTTP for all providers: connections are pooled, certificates are checked, TLS is 1.2 at least, redirects are not
/// followed, silence is limited between bytes, not in total, and a server on this machine is asked only where
/// ``LoopbackGuard`` lets it. One for a program; it may be dropped while calls are running.
public final class HTTPTransport: Sendable {
    package struct Request: Sendable {
        package var method = "GET"
        package var url: URL
        package var headers: [(String, String)] = []
        package var body: [UInt8]?
        /// The longest silence while the server is waited for.
        package var idleTimeout: Duration
    }

    package struct Response: Sendable {
        package let status: Int
        fileprivate let headers: HTTPHeaders
        package let body: HTTPClientResponse.Body

        /// The first header of that name, in any case.
        package func header(_ name: String) -> String? { headers.first(name: name) }
    }

    /// A body is longer than its limit.
    package struct BodyTooLong: Error {
        package let limit: Int
    }

    private struct Setting: Hashable {
        var idle: Duration
        var proxy: ProxySettings.Proxy?
        var pin: Pin?
    }

    /// The address that a host's name stands for, found out before.
    private struct Pin: Hashable {
        var host: String
        var address: String
    }

    private let proxies: ProxySettings
    private let authorities: Authorities
    private let connectTimeout: Duration
    private let clients = Mutex<[Setting: HTTPClient]>([:])
    private let gate: LoopbackGuard
    private let lanes = BlockingLanes("hosts", count: 4)

    /// `environment` names the proxies. `allowsAnyLocalServer` is for servers on this machine that another user runs:
    /// they may be asked.
    public init(
        environment: [String: String] = ProcessInfo.processInfo.environment, connectTimeout: Duration = .seconds(5),
        allowsAnyLocalServer: Bool = false
    ) {
        proxies = ProxySettings(environment: environment)
        authorities = Authorities(environment: environment)
        self.connectTimeout = connectTimeout
        gate = LoopbackGuard(allowsAnyUser: allowsAnyLocalServer)
    }

    deinit {
        // The future holds each client until its last connection is closed.
        for client in clients.withLock({ $0 }).values { _ = client.shutdown() as EventLoopFuture<Void> }
    }

    /// Sends, and returns when the head of the answer is there. Errors are AsyncHTTPClient's and NIO's, and
    /// ``LoopbackGuard/Refusal``, before anything is sent.
    package func send(_ request: Request) async throws -> Response {
        var message = HTTPClientRequest(url: request.url.absoluteString)
        message.method = HTTPMethod(rawValue: request.method)
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if let body = request.body { message.body = .bytes(body) }
        var setting = Setting(idle: request.idleTimeout, proxy: proxies.proxy(for: request.url))
        if setting.proxy == nil, let address = try await passage(to: request.url) {
            let host = (request.url.host ?? "").trimmingCharacters(in: ["[", "]"])
            if host != address.description { setting.pin = Pin(host: host, address: address.description) }
        }
        let response = try await client(setting).execute(message, deadline: .distantFuture)
        return Response(status: Int(response.status.code), headers: response.headers, body: response.body)
    }

    /// The body's bytes; throws ``BodyTooLong`` behind `limit`, unless `cuts`, when the beginning is returned.
    package static func gather(_ body: HTTPClientResponse.Body, limit: Int, cuts: Bool = false) async throws -> [UInt8]
    {
        var bytes: [UInt8] = []
        for try await part in body {
            bytes.append(contentsOf: part.readableBytesView)
            if bytes.count > limit {
                guard cuts else { throw BodyTooLong(limit: limit) }
                return Array(bytes.prefix(limit))
            }
        }
        return bytes
    }

    /// What the gate says. Names are looked up for as long as it takes; whoever is cancelled does not wait for that.
    private func passage(to url: URL) async throws -> HostAddress? {
        let (gate, lanes) = (gate, lanes)
        if HostAddress.isNumber(url.host ?? "") { return try await lanes.run { try gate.address(for: url) } }
        let answers = AsyncThrowingStream<HostAddress?, any Error> { continuation in
            Task {
                do {
                    continuation.yield(try await lanes.run { try gate.address(for: url) })
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
        }
        for try await address in answers { return address }
        throw CancellationError()
    }

    private func client(_ setting: Setting) -> HTTPClient {
        clients.withLock { clients in
            if let client = clients[setting] { return client }
            let client = makeClient(setting)
            clients[setting] = client
            return client
        }
    }

    private func makeClient(_ setting: Setting) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(connectTimeout), read: TimeAmount(setting.idle)))
        // The retry policy decides; and a local server that does not run is known at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 16
        var encryption = TLSConfiguration.makeClientConfiguration()
        // Left to itself the library takes 1.0.
        encryption.minimumTLSVersion = .tlsv12
        authorities.apply(to: &encryption)
        configuration.tlsConfiguration = encryption
        if let pin = setting.pin { configuration.dnsOverride = [pin.host: pin.address] }
        if let proxy = setting.proxy {
            configuration.proxy = .server(
                host: proxy.host, port: proxy.port,
                authorization: proxy.user.map { .basic(username: $0, password: proxy.password ?? "") })
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// What a failed connection is, in the providers' terms; nil for an error that is not the transport's.
    package static func explain(_ error: any Error) -> (isRefused: Bool, reason: String)? {
        switch error {
        case let error as HTTPClientError:
            switch error {
            case .readTimeout: return (false, "the server fell silent")
            case .connectTimeout, .httpProxyHandshakeTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
                return (true, "no connection came about in time")
            case .remoteConnectionClosed: return (false, "the server closed the connection")
            case .proxyAuthenticationRequired: return (false, "the proxy asks for a name and a password")
            default: return (false, error.shortDescription)
            }
        case is HTTPParserError: return (false, "the server does not speak HTTP")
        case let error as LoopbackGuard.Refusal: return (true, error.message)
        case let error as IOError:
            return (error.errnoCode == ECONNREFUSED, String(cString: strerror(error.errnoCode)))
        case is ChannelError: return (true, "the connection failed (\(error))")
        case let error as BodyTooLong: return (false, "the answer is longer than \(error.limit) bytes")
        case let error as NIOConnectionError:
            let isUnknownName = error.dnsAError != nil || error.dnsAAAAError != nil
            return (true, isUnknownName ? "the name of the server cannot be resolved" : "nothing answers there")
        case _ where isUntrusted(error): return (false, explainTLS(String(describing: error)))
        default: return nil
        }
    }

    /// Whether no trusted connection came about, which no repetition changes: an unknown or expired certificate, a
    /// server without TLS.
    package static func isUntrusted(_ error: any Error) -> Bool {
        error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError
            || error is NIOSSLCloseTimedOutError || error is NIOTLSUnwrappingError
    }

    private static func explainTLS(_ text: String) -> String {
        // BoringSSL's own word, without the place in its source: CERTIFICATE_VERIFY_FAILED.
        let word = text.firstMatch(of: /:OPENSSL_internal:([A-Z0-9_]+)/)?.output.1
        if let word, ["TLSV1_ALERT_PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL"].contains(word) {
            return "the server offers no TLS 1.2, and older versions are not secure, so nothing was sent to it"
        }
        let reason = word.map { $0.lowercased().replacing("_", with: " ") } ?? String(text.prefix(200))
        return "no trusted connection came about: \(reason)"
    }
}

extension TimeAmount {
    fileprivate init(_ duration: Duration) {
        let parts = duration.components
        self = .nanoseconds(min(parts.seconds, 1 << 30) * 1_000_000_000 + parts.attoseconds / 1_000_000_000)
    }
}
