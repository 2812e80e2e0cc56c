import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Platform
import Synchronization

/// Answers `GET /metrics` and `GET /health` on this machine: one request a connection, few connections, little time.
package final class MetricsServer: Sendable {
    /// What there is to be read.
    package struct Pages: Sendable {
        package let metrics: @Sendable () async -> String
        package let health: @Sendable () async throws -> HealthReport

        package init(
            metrics: @escaping @Sendable () async -> String, health: @escaping @Sendable () async throws -> HealthReport
        ) {
            self.metrics = metrics
            self.health = health
        }
    }

    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    private struct Answer {
        var status = HTTPResponseStatus.ok
        var type = "text/plain; charset=utf-8"
        let text: String
    }

    private let address: MetricsAddress
    private let pages: Pages
    private let patience: TimeAmount
    /// Seconds for what is not found out by then to be said to be unknown.
    private let longest: Double
    private let most: Int
    private let open = Atomic<Int>(0)
    private let log: Logger

    /// - Parameters:
    ///   - address: where it listens.
    ///   - patience: seconds for a request and its answer; then the connection is closed.
    ///   - longest: seconds for what there is to be read to be found out; nil for two thirds of the patience.
    ///   - most: connections at the same time; more are closed at once.
    package init(
        _ address: MetricsAddress, patience: Int = 15, longest: Double? = nil, most: Int = 16, log: Logger, pages: Pages
    ) {
        self.address = address
        self.patience = .seconds(Int64(patience))
        self.longest = longest ?? Double(patience) * 2 / 3
        self.most = most
        self.log = log
        self.pages = pages
    }

    /// Listens until its task is cancelled. Where somebody else has the port, it tries again; where the machine grants
    /// none at all, it says so and gives up: metrics are no reason to end.
    package func run() async {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var wait = 1
        while !Task.isCancelled {
            do {
                try await listen(group)
            } catch is CancellationError {
                break
            } catch let error as IOError where [EACCES, EPERM, EAFNOSUPPORT, EADDRNOTAVAIL].contains(error.errnoCode) {
                log.error(
                    """
                    metrics are not served at \(address): \(explain(error)). Below systemd the unit allows no network \
                    until a drop-in does (docs/operations.md)
                    """)
                // Whoever waits for it to end takes that for the agent's end.
                while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
            } catch {
                log.error("metrics are not served at \(address), trying again in \(wait) s: \(explain(error))")
                try? await Task.sleep(for: .seconds(wait))
                wait = min(60, wait * 2)
            }
        }
        try? await group.shutdownGracefully()
    }

    private func listen(_ group: MultiThreadedEventLoopGroup) async throws {
        let patience = patience
        let server = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 16)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(to: try SocketAddress(ipAddress: address.host, port: address.port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    let end = channel.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
                    channel.closeFuture.whenComplete { _ in end.cancel() }
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
        log.info("serving metrics at http://\(address)/metrics")
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
            log.debug("a scraper went away: \(explain(error))")
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
                return head.map { ($0, Answer(status: .payloadTooLarge, text: "a request here has no body\n")) }
            case .end:
                guard let head else { return nil }
                return (head, await answer(to: head))
            }
        }
        return nil
    }

    private func answer(to head: HTTPRequestHead) async -> Answer {
        let hosts = head.headers["Host"]
        guard hosts.count == 1, MetricsAddress.isHere(hosts[0]) else {
            return Answer(
                status: .misdirectedRequest, text: "only requests to this machine's own address are answered\n")
        }
        guard [.GET, .HEAD].contains(head.method) else {
            return Answer(status: .methodNotAllowed, text: "only GET and HEAD are answered\n")
        }
        switch head.uri.split(separator: "?", omittingEmptySubsequences: false).first {
        case "/metrics": return Answer(type: MetricText.contentType, text: await pages.metrics())
        case "/health":
            do {
                // Whoever waited for what does not answer would keep the agent from ending.
                guard let health = try await outcome(within: longest, pages.health) else {
                    return Answer(status: .internalServerError, text: "unknown\n")
                }
                let text = health.counts.joined(separator: "\n") + "\n"
                return Answer(status: health.isHealthy ? .ok : .serviceUnavailable, text: text)
            } catch {
                log.debug("it cannot be said whether all is well: \(explain(error))")
                return Answer(status: .internalServerError, text: "unknown\n")
            }
        default: return Answer(status: .notFound, text: "there is /metrics, and /health\n")
        }
    }
}
