import Foundation
import HTTPKit
import NIOSSL
import Platform

/// HTTP for all providers, through the environment's proxies and with its certificate authorities. A server on this
/// machine is asked only if ``LoopbackGuard`` allows it. One per program; it may be released while calls are in flight.
public final class HTTPTransport: Sendable {
    private let proxies: ProxySettings
    private let connectTimeout: Duration
    private let client: PooledClient
    private let loopback: LoopbackGuard
    private let pool = BlockingPool("hosts", threads: 4)

    /// `environment` names the proxies. `allowsAnyLocalServer` permits servers on this machine that another user runs.
    public init(
        environment: [String: String] = ProcessInfo.processInfo.environment, connectTimeout: Duration = .seconds(5),
        allowsAnyLocalServer: Bool = false
    ) {
        proxies = ProxySettings(environment: environment)
        var encryption = TLSConfiguration.makeClientConfiguration()
        Authorities(environment: environment).apply(to: &encryption)
        client = PooledClient(encryption: encryption, connectionsPerHost: 16)
        self.connectTimeout = connectTimeout
        loopback = LoopbackGuard(allowsAnyUser: allowsAnyLocalServer)
    }

    /// Sends the request, and returns when the response's head has arrived.
    ///
    /// - Throws: `HTTPFailure`, and ``LoopbackGuard/Refusal`` before anything is sent.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        request.route.connectTimeout = connectTimeout
        request.route.proxy = proxies.proxy(for: request.url)
        if request.route.proxy == nil, let address = try await address(for: request.url) {
            let host = (request.url.host ?? "").trimmingCharacters(in: ["[", "]"])
            if host != address.description { request.route.addresses = [host: address.description] }
        }
        return try await client.send(request)
    }

    /// The guard's answer. A name lookup can take long; a cancelled caller does not wait for it.
    private func address(for url: URL) async throws -> HostAddress? {
        let (loopback, pool) = (loopback, pool)
        if HostAddress.isNumber(url.host ?? "") { return try await pool.run { try loopback.address(for: url) } }
        return try await withTimeout(nil) { try await pool.run { try loopback.address(for: url) } } ?? nil
    }
}
