import Platform

/// What the action `publish` acts through.
package struct PublishServices: Sendable {
    let outbox: Outbox
    let targets: [String: PublishTarget]

    /// - Parameters:
    ///   - outbox: takes the events.
    ///   - targets: those that rules can name; no two share a name.
    package init(outbox: Outbox, targets: [PublishTarget]) {
        self.outbox = outbox
        self.targets = Dictionary(targets.map { ($0.name, $0) }) { first, _ in first }
    }
}
