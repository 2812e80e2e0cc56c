import Ledger
import Synchronization

/// What is to be published and has not been, in the ledger, and whoever sends it.
package final class Outbox: Sendable {
    /// Is told where something may have to be sent, and whether a person wants it sent now.
    package typealias Listener = @Sendable (_ lane: DeliveryLane, _ isAskedFor: Bool) -> Void

    package let ledger: Ledger
    private let waker = Mutex<Listener?>(nil)

    /// - Parameter ledger: holds the events.
    package init(ledger: Ledger) { self.ledger = ledger }

    /// - Parameter wake: called whenever something may have to be sent in a lane, after it has been committed; nil for nobody.
    package func listen(_ wake: Listener?) { waker.withLock { $0 = wake } }

    /// Says that something may have to be sent.
    ///
    /// - Parameters:
    ///   - lane: where.
    ///   - isAskedFor: whether a person wants it sent now.
    package func wake(_ lane: DeliveryLane, isAskedFor: Bool = false) { waker.withLock { $0 }?(lane, isAskedFor) }
}
