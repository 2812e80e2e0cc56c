import Ledger
import Synchronization

/// The ledger's undelivered events, and the link to their sender.
package final class Outbox: Sendable {
    /// Called when a lane may have something to send, and whether a person wants it sent now.
    package typealias Listener = @Sendable (_ lane: DeliveryLane, _ isAskedFor: Bool) -> Void

    package let ledger: Ledger
    private let waker = Mutex<Listener?>(nil)

    /// - Parameter ledger: stores the events.
    package init(ledger: Ledger) { self.ledger = ledger }

    /// - Parameter wake: called after each commit that may make an event ready; nil for none.
    package func listen(_ wake: Listener?) { waker.withLock { $0 = wake } }

    /// Signals that an event may be ready.
    ///
    /// - Parameters:
    ///   - lane: of the event.
    ///   - isAskedFor: whether a person wants it sent now.
    package func wake(_ lane: DeliveryLane, isAskedFor: Bool = false) { waker.withLock { $0 }?(lane, isAskedFor) }
}
