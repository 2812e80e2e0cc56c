import Foundation
import HTTPKit
import NIOSSL

/// The transport of a client that is given none: AsyncHTTPClient, with pooled connections and certificates checked.
///
/// TLS is 1.2 at least, redirects are not followed, and a connection that does not come about is not tried again. It
/// may be dropped without being closed.
public final class AsyncHTTPTransport: RonTransport {
    private let client: PooledClient

    /// Makes a transport; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - tlsConfiguration: Which certificates are trusted, and which are shown; what checks them stays on unless it is
    ///     turned off there. Versions below TLS 1.2 are never spoken.
    ///   - connectionsPerHost: How many connections one host gets; calls beyond it wait for one, no longer than their
    ///     connect timeout.
    ///   - pinnedKeys: The keys of which a node has to have one, besides a certificate that is trusted; any without them.
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

    /// Sends a request, and returns when the head of the answer is there.
    ///
    /// - Parameter request: What is sent.
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

    /// Closes all connections; calls that are running fail, and so do those that come. Closing once more does nothing.
    ///
    /// - Throws: What kept connections from being closed, the first of several; the others are closed then.
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
