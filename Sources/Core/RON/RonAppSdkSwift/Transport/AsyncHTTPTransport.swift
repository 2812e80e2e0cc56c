import Foundation
import HTTPKit
import NIOSSL

/// The default transport: AsyncHTTPClient, with pooled connections and certificate verification.
///
/// TLS is 1.2 at least, redirects are not followed, and a failed connection is not retried. It may be released without
/// being closed.
public final class AsyncHTTPTransport: RonTransport {
    private let client: PooledClient

    /// Creates a transport; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - tlsConfiguration: The trusted certificates, and the client's own; verification stays on unless it is turned
    ///     off there. Versions below TLS 1.2 are never used.
    ///   - connectionsPerHost: The maximum connections per host; further calls wait for one, up to their connect
    ///     timeout.
    ///   - pinnedKeys: Requires a node to have one of these keys, in addition to a trusted certificate; nil for any.
    ///     With them nothing is sent over `http://`.
    public init(
        tlsConfiguration: TLSConfiguration = .makeClientConfiguration(), connectionsPerHost: Int = 64,
        pinnedKeys: PinnedKeys? = nil
    ) {
        var check: PooledClient.ConnectionCheck?
        if let pinnedKeys { check = { pinnedKeys.check($0) } }
        client = PooledClient(
            encryption: tlsConfiguration, connectionsPerHost: max(1, connectionsPerHost), check: check)
    }

    /// Sends a request, and returns when the answer's head has arrived.
    ///
    /// - Parameter request: The request.
    /// - Returns: The answer.
    /// - Throws: ``TransportError``.
    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        do {
            let answer = try await client.send(HTTPRequest(request))
            return TransportResponse(status: answer.status, headers: answer.headers, body: TransportBody(answer.body))
        } catch {
            throw TransportError(explaining: error)
        }
    }

    /// Closes all connections; calls in flight and later calls fail. Idempotent.
    ///
    /// - Throws: The first error that prevented a connection from being closed; the others are closed nonetheless.
    public func close() async throws { try await client.close() }
}

extension AsyncHTTPTransport: WholeAnswerTransport {
    func answer(to request: TransportRequest, limit: Int) async throws(CallFailure) -> WholeAnswer {
        do {
            let answer = try await client.answer(to: HTTPRequest(request), limit: limit)
            return WholeAnswer(
                status: answer.status, headers: TransportResponse.fields(answer.headers), body: answer.body)
        } catch let error as HTTPAnswer.TooLong {
            throw .tooLong(status: error.status, headers: TransportResponse.fields(error.headers), limit: limit)
        } catch {
            throw CallFailure(explaining: error)
        }
    }
}

extension HTTPRequest {
    fileprivate init(_ request: TransportRequest) {
        func limit(_ ms: Int) -> Duration? { ms > 0 ? .milliseconds(ms) : nil }
        let timeouts = request.timeouts
        self.init(
            method: request.method, url: request.url, headers: request.headers, body: request.body,
            timeout: limit(timeouts.overallMs),
            route: HTTPRoute(
                connectTimeout: limit(timeouts.connectMs), readTimeout: limit(timeouts.readMs),
                writeTimeout: limit(timeouts.writeMs)))
    }
}
