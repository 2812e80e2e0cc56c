import Platform
import RonAppSdkSwift

/// What sends to the targets of a configuration.
package enum PublishSenders {
    /// - Parameters:
    ///   - targets: no two share a name.
    ///   - transport: carries all requests.
    ///   - metrics: told of the calls to nodes of RON.
    ///   - credential: where tokens and secrets come from.
    /// - Returns: one sender for each target, by its name.
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

/// In the place of one that could not be made: what is in the outbox waits.
private struct NoSender: EventSender {
    let reason: String

    func send(_ event: OutgoingEvent) async -> SendOutcome { .notSent(reason: reason) }

    func unreachable() async -> String? { reason }
}
