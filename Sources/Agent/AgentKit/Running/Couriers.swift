import Foundation
import Logging
import Platform
import RonAppSdkSwift
import RuleActions
import Rules

/// Builds the courier.
enum Couriers {
    /// - Parameters:
    ///   - core: its outbox is sent to the targets of its configuration.
    ///   - log: logs each delivery and failure.
    ///   - changed: called when an event has been given up; it must not block.
    /// - Returns: a courier that has not been started.
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
    ///   - targets: the configured targets.
    ///   - directories: where credentials are stored.
    ///   - connections: the maximum per host.
    ///   - metrics: records calls to RON nodes.
    /// - Returns: a sender for each target, by name.
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
