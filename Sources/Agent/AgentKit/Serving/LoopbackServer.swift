import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Platform
import Synchronization

/// A small HTTP server on the loopback interface: one request without a body per connection, with limits on connections
/// and time.
package final class LoopbackServer: Sendable {
    package struct Answer: Sendable {
        var status = HTTPResponseStatus.ok
        var type = "text/plain; charset=utf-8"
        let text: String
    }

    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    private let address: MetricsAddress
    private let content: String
    private let path: String
    private let timeout: TimeAmount
    private let most: Int
    private let log: Logger
    private let handler: @Sendable (HTTPRequestHead) async -> Answer
    private let open = Atomic<Int>(0)

    /// - Parameters:
    ///   - address: where to listen.
    ///   - content: what is served, in the plural, for the log.
    ///   - path: the path served, for the log.
    ///   - timeout: seconds for a request and its answer; then the connection is closed.
    ///   - most: maximum simultaneous connections; more are closed at once.
    ///   - handler: answers a request whose `Host` header names this machine.
    package init(
        _ address: MetricsAddress, _ content: String, at path: String, timeout: Int, most: Int, log: Logger,
        handler: @escaping @Sendable (HTTPRequestHead) async -> Answer
    ) {
        (self.address, self.content, self.path) = (address, content, path)
        self.timeout = .seconds(Int64(timeout))
        (self.most, self.log, self.handler) = (most, log, handler)
    }

    /// Listens until its task is cancelled. If the port is taken, it retries. If the system provides no port at all, it
    /// logs that and stops trying, because that is no reason for the agent to end.
    package func run() async {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var backoff = Backoff(first: .seconds(1), longest: .seconds(60))
        while !Task.isCancelled {
            do {
                try await listen(group)
            } catch is CancellationError {
                break
            } catch let error as IOError where [EACCES, EPERM, EAFNOSUPPORT, EADDRNOTAVAIL].contains(error.errnoCode) {
                log.error(
                    """
                    \(content) are not served at \(address): \(explain(error)). Below systemd the unit allows no network \
                    until a drop-in does (docs/operations.md)
                    """)
                // Returning would end the agent.
                while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
            } catch {
                let pause = backoff.next()
                let seconds = pause.components.seconds
                log.error("\(content) are not served at \(address), trying again in \(seconds) s: \(explain(error))")
                try? await Task.sleep(for: pause)
            }
        }
        try? await group.shutdownGracefully()
    }

    private func listen(_ group: MultiThreadedEventLoopGroup) async throws {
        let timeout = timeout
        let server = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 16)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(to: try SocketAddress(ipAddress: address.host, port: address.port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    let end = channel.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
                    channel.closeFuture.whenComplete { _ in end.cancel() }
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
        log.info("serving \(content) at http://\(address)\(path)")
        try await server.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                for try await connection in connections {
                    group.addTask { await self.serve(connection) }
                }
            }
        }
    }

    private func serve(_ connection: Connection) async {
        defer { open.subtract(1, ordering: .relaxed) }
        let isFree = open.add(1, ordering: .relaxed).newValue <= most
        do {
            try await connection.executeThenClose { inbound, outbound in
                guard isFree else { return }
                guard let (head, answer) = try await self.answer(inbound) else { return }
                let body = ByteBuffer(string: answer.text)
                let headers: HTTPHeaders = [
                    "Content-Type": answer.type, "Content-Length": "\(body.readableBytes)", "Connection": "close",
                    "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
                ]
                try await outbound.write(
                    .head(HTTPResponseHead(version: head.version, status: answer.status, headers: headers)))
                if head.method != .HEAD { try await outbound.write(.body(.byteBuffer(body))) }
                try await outbound.write(.end(nil))
            }
        } catch {
            log.debug("a client of \(content) went away: \(explain(error))")
        }
    }

    private func answer(
        _ inbound: NIOAsyncChannelInboundStream<HTTPServerRequestPart>
    ) async throws -> (HTTPRequestHead, Answer)? {
        var head: HTTPRequestHead?
        for try await part in inbound {
            switch part {
            case .head(let found): head = found
            case .body:
                return head.map { ($0, Answer(status: .payloadTooLarge, text: "requests must not have a body\n")) }
            case .end:
                guard let head else { return nil }
                let hosts = head.headers["Host"]
                guard hosts.count == 1, MetricsAddress.isHere(hosts[0]) else {
                    let text = "only requests to a loopback address are answered\n"
                    return (head, Answer(status: .misdirectedRequest, text: text))
                }
                return (head, await handler(head))
            }
        }
        return nil
    }
}
