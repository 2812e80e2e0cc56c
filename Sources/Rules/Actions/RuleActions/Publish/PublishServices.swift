import Platform

/// Dependencies of the action `publish`.
package struct PublishServices: Sendable {
    let outbox: Outbox
    let targets: [String: PublishTarget]

    /// - Parameters:
    ///   - outbox: receives the events.
    ///   - targets: available to rules, with unique names.
    package init(outbox: Outbox, targets: [PublishTarget]) {
        self.outbox = outbox
        self.targets = Dictionary(targets.map { ($0.name, $0) }) { first, _ in first }
    }
}
