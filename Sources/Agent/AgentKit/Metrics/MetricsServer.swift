import Foundation
import Logging
import NIOHTTP1
import Platform

/// Answers `GET /metrics` and `GET /health` on this machine.
package struct MetricsServer: Sendable {
    /// The content of the pages.
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

    private typealias Answer = LoopbackServer.Answer

    private let address: MetricsAddress
    private let pages: Pages
    private let timeout: Int
    /// Seconds after which a health check is reported as unknown.
    private let longest: Double
    private let most: Int
    private let log: Logger

    /// - Parameters:
    ///   - address: where to listen.
    ///   - timeout: seconds for a request and its answer; then the connection is closed.
    ///   - longest: seconds for building a page; nil for two thirds of `timeout`.
    ///   - most: maximum simultaneous connections; more are closed at once.
    package init(
        _ address: MetricsAddress, timeout: Int = 15, longest: Double? = nil, most: Int = 16, log: Logger, pages: Pages
    ) {
        self.address = address
        self.timeout = timeout
        self.longest = longest ?? Double(timeout) * 2 / 3
        (self.most, self.log, self.pages) = (most, log, pages)
    }

    /// Serves until its task is cancelled.
    package func run() async {
        let server = LoopbackServer(
            address, "metrics", at: "/metrics", timeout: timeout, most: most, log: log
        ) { await answer(to: $0) }
        await server.run()
    }

    private func answer(to head: HTTPRequestHead) async -> Answer {
        guard [.GET, .HEAD].contains(head.method) else {
            return Answer(status: .methodNotAllowed, text: "only GET and HEAD are supported\n")
        }
        switch head.uri.split(separator: "?", omittingEmptySubsequences: false).first {
        case "/metrics": return Answer(type: MetricText.contentType, text: await pages.metrics())
        case "/health":
            do {
                // A health check that hangs would keep the agent from stopping.
                guard let health = try await outcome(within: longest, pages.health) else {
                    return Answer(status: .internalServerError, text: "unknown\n")
                }
                let text = health.counts.joined(separator: "\n") + "\n"
                return Answer(status: health.isHealthy ? .ok : .serviceUnavailable, text: text)
            } catch {
                log.debug("the agent's health cannot be determined: \(explain(error))")
                return Answer(status: .internalServerError, text: "unknown\n")
            }
        default: return Answer(status: .notFound, text: "only /metrics and /health exist\n")
        }
    }
}
