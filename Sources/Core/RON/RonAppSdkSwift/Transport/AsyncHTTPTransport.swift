import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// The transport of a client that is given none: AsyncHTTPClient, with pooled connections and certificates checked.
///
/// TLS is 1.2 at least, redirects are not followed, and a connection that does not come about is not tried again. It
/// may be dropped without being closed.
public final class AsyncHTTPTransport: RonTransport {
    /// What the library below wants to know before it makes a connection, in milliseconds; 0 for no limit.
    private struct Stages: Hashable {
        var connectMs: Int
        var readMs: Int
        var writeMs: Int
    }

    /// A client of the library below, and the one loop on which all is done that it does: where a call's timer, its
    /// connection and its answer are on one thread, none of them has to wake another. A loop takes many thousand calls a
    /// second.
    struct Line: Sendable {
        let client: HTTPClient
        let loop: any EventLoop
    }

    private struct State {
        var lines: [Stages: Line] = [:]
        var isClosed = false
    }

    private let encryption: TLSConfiguration
    private let connectionsPerHost: Int
    private let pinnedKeys: PinnedKeys?
    private let state = Mutex(State())

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
        var encryption = tlsConfiguration
        // Left to itself the library takes 1.0.
        if ![.tlsv12, .tlsv13].contains(encryption.minimumTLSVersion) { encryption.minimumTLSVersion = .tlsv12 }
        self.encryption = encryption
        self.connectionsPerHost = max(1, connectionsPerHost)
        self.pinnedKeys = pinnedKeys
    }

    deinit {
        // The future holds each client until its last connection is closed.
        for line in state.withLock({ $0.lines }).values { _ = line.client.shutdown() as EventLoopFuture<Void> }
    }

    /// Sends a request, and returns when the head of the answer is there.
    ///
    /// - Parameter request: What is sent.
    /// - Returns: The answer.
    /// - Throws: ``TransportError``.
    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        var message = HTTPClientRequest(url: request.url.absoluteString)
        message.method = HTTPMethod(rawValue: request.method)
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if let body = request.body { message.body = .bytes(body) }
        let timeouts = request.timeouts
        let client = try line(for: timeouts).client
        let deadline: NIODeadline =
            timeouts.overallMs > 0 ? .now() + .milliseconds(Int64(timeouts.overallMs)) : .distantFuture
        do {
            let answer = try await client.execute(message, deadline: deadline)
            return TransportResponse(
                status: Int(answer.status.code), headers: answer.headers.map { ($0.name, $0.value) },
                body: TransportBody(Pieces(base: answer.body)))
        } catch {
            throw TransportError(explaining: error)
        }
    }

    /// Closes all connections; calls that are running fail, and so do those that come. Closing once more does nothing.
    ///
    /// - Throws: What kept connections from being closed, the first of several; the others are closed then.
    public func close() async throws {
        let lines = state.withLock { state in
            defer { state = State(lines: [:], isClosed: true) }
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

    func line(for timeouts: Timeouts) throws(TransportError) -> Line {
        let stages = Stages(connectMs: timeouts.connectMs, readMs: timeouts.readMs, writeMs: timeouts.writeMs)
        let line: Line? = state.withLock { state in
            if state.isClosed { return nil }
            if let line = state.lines[stages] { return line }
            let line = makeLine(stages)
            state.lines[stages] = line
            return line
        }
        guard let line else { throw TransportError(.other, "the transport is closed") }
        return line
    }

    private func makeLine(_ stages: Stages) -> Line {
        func amount(_ ms: Int) -> TimeAmount? { ms > 0 ? TimeAmount.milliseconds(Int64(ms)) : nil }
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            // Without a timeout for connecting the library takes ten seconds.
            timeout: .init(connect: amount(stages.connectMs) ?? .hours(24), read: amount(stages.readMs)))
        configuration.timeout.write = amount(stages.writeMs)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        configuration.tlsConfiguration = encryption
        if let pinnedKeys {
            // Called when keys have been agreed on, and before the first request.
            configuration.http1_1ConnectionDebugInitializer = { pinnedKeys.check($0) }
            configuration.http2ConnectionDebugInitializer = { pinnedKeys.check($0) }
        }
        let loop = HTTPClient.defaultEventLoopGroup.next()
        return Line(
            client: HTTPClient(eventLoopGroupProvider: .shared(loop), configuration: configuration), loop: loop)
    }
}

/// The body of an answer as bytes, with errors in our terms.
private struct Pieces: AsyncSequence, Sendable {
    let base: HTTPClientResponse.Body

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        var base: HTTPClientResponse.Body.AsyncIterator

        mutating func next() async throws -> [UInt8]? {
            do {
                return try await base.next(isolation: #isolation).map { Array($0.readableBytesView) }
            } catch {
                throw TransportError(explaining: error)
            }
        }
    }
}
