import Platform
import RonAppSdkSwift

/// Creates the senders of a configuration.
package enum PublishSenders {
    /// - Parameters:
    ///   - targets: with unique names.
    ///   - transport: carries all requests.
    ///   - metrics: receives the calls to RON nodes.
    ///   - credential: provides tokens and secrets.
    /// - Returns: one sender per target, by name.
    package static func senders(
        for targets: [PublishTarget], transport: any RonTransport, metrics: (any RonMetrics)? = nil,
        credential: @escaping CredentialSource
    ) -> [String: any EventSender] {
        var senders: [String: any EventSender] = [:]
        for target in targets {
            do {
                senders[target.name] =
                    switch target.kind {
                    case .webhook: WebhookSender(target, transport: transport, credential: credential)
                    case .ron:
                        try RonSender(target, transport: transport, metrics: metrics, credential: credential)
                    }
            } catch {
                senders[target.name] = NoSender(reason: String(describing: error))
            }
        }
        return senders
    }
}

/// Stands in for a sender that could not be created; its events stay in the outbox.
private struct NoSender: EventSender {
    let reason: String

    func send(_ event: OutgoingEvent) async -> SendOutcome { .notSent(reason: reason) }

    func unreachable() async -> String? { reason }
}
