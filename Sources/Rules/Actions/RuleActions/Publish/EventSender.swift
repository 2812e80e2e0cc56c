import Ledger

/// An event as it is sent.
package struct OutgoingEvent: Sendable, Equatable {
    /// Idempotency key, the same for every attempt.
    package let id: String
    /// The event's type.
    package let event: String
    /// Path at the target; empty, or starts with a slash.
    package let path: String
    /// JSON.
    package let body: String
    /// From 1.
    package let attempt: Int

    /// - Parameters:
    ///   - id: the same for every attempt.
    ///   - event: the event's type.
    ///   - path: at the target.
    ///   - body: JSON.
    ///   - attempt: from 1.
    package init(id: String, event: String, path: String, body: String, attempt: Int) {
        self.id = id
        self.event = event
        self.path = path
        self.body = body
        self.attempt = attempt
    }
}

/// The outcome of one attempt.
package enum SendOutcome: Sendable, Equatable {
    /// The receiver confirmed the event.
    case delivered(status: Int)
    /// Worth a retry; `after` is the wait in seconds that the receiver requested, if any.
    case retry(after: Double?, status: Int?, reason: String)
    /// Nothing was sent, because something is missing that a person has to provide. The attempt does not count, and the
    /// event waits.
    case notSent(reason: String)
    /// The receiver will never accept this event.
    case refused(status: Int?, reason: String)
    /// The task was cancelled; whether the event arrived is unknown.
    case cancelled
}

/// Sends events to one target.
package protocol EventSender: Sendable {
    /// Sends an event once, within the target's timeout. Does not throw; ends early if its task is cancelled.
    ///
    /// - Parameter event: the event to send.
    /// - Returns: the outcome.
    func send(_ event: OutgoingEvent) async -> SendOutcome

    /// Checks whether the target responds, without sending an event or credential.
    ///
    /// - Returns: nil if it does, otherwise why not.
    func unreachable() async -> String?
}
