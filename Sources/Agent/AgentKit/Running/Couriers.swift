import Foundation
import Logging
import Platform
import RonAppSdkSwift
import RuleActions
import Rules

/// Puts the courier together.
enum Couriers {
    /// - Parameters:
    ///   - core: whose outbox is sent, to the targets of its configuration.
    ///   - log: told of what is delivered and what is not.
    ///   - changed: called when an event has been given up; it must not block.
    /// - Returns: one that has not begun.
    static func make(_ core: AgentCore, _ log: Logger, changed: @escaping @Sendable () -> Void) -> Courier {
        let configuration = core.configuration
        let limit = configuration.limits[.network] ?? 8
        return Courier(
            outbox: core.outbox, targets: configuration.publish,
            senders: senders(
                configuration.publish, core.directories, connections: limit,
                metrics: SwiftMetricsRecorder(factory: core.metrics)), limit: limit, changed: changed, log: log)
    }

    /// - Parameters:
    ///   - targets: those of the configuration.
    ///   - directories: say where credentials lie.
    ///   - connections: how many a host gets.
    ///   - metrics: told of calls to nodes of RON.
    /// - Returns: what sends to each target, by its name.
    static func senders(
        _ targets: [PublishTarget], _ directories: Directories, connections: Int,
        metrics: (any RonMetrics)? = nil
    ) -> [String: any EventSender] {
        if targets.isEmpty { return [:] }
        let credentials = PublishCredentials(directories, environment: ProcessInfo.processInfo.environment)
        let reader = CredentialReader { try credentials.secret($0) }
        return PublishSenders.senders(
            for: targets, transport: AsyncHTTPTransport(connectionsPerHost: connections), metrics: metrics
        ) { name in
            try await reader.secret(name)
        }
    }
}
