import Ledger

/// An event as it goes out.
package struct OutgoingEvent: Sendable, Equatable {
    /// The same for every try: the receiver's key.
    package let id: String
    /// What kind of event it is, by name.
    package let event: String
    /// Where at the target; empty, or beginning with a slash.
    package let path: String
    /// JSON.
    package let body: String
    /// From 1.
    package let attempt: Int

    /// - Parameters:
    ///   - id: the same for every try.
    ///   - event: what kind of event it is, by name.
    ///   - path: where at the target.
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

/// What became of one try.
package enum SendOutcome: Sendable, Equatable {
    /// The receiver has said that it has the event.
    case delivered(status: Int)
    /// It may go another time; `after` is how many seconds the receiver wants to be left alone, where it says so.
    case retry(after: Double?, status: Int?, reason: String)
    /// Nothing went out, as something is missing that a person mends: the try does not count, and the event waits.
    case notSent(reason: String)
    /// It will never take this event.
    case refused(status: Int?, reason: String)
    /// The task was cancelled; whether the event has arrived is not known.
    case cancelled
}

/// Sends events to one target.
package protocol EventSender: Sendable {
    /// Sends an event once, in the target's time; does not throw, and ends early where its task is cancelled.
    ///
    /// - Parameter event: what is sent.
    /// - Returns: what became of it.
    func send(_ event: OutgoingEvent) async -> SendOutcome

    /// Whether anybody answers there; sends neither an event nor a credential.
    ///
    /// - Returns: nil where somebody does, else why not.
    func unreachable() async -> String?
}
