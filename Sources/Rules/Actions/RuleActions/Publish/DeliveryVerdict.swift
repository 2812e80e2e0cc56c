import Ledger
import Platform

/// The effect of one attempt on an event.
struct DeliveryVerdict {
    /// The updated event.
    var delivery: DeliveryRecord
    /// Entry for the job's history; nil if there is nothing new.
    var line: (kind: String, message: String)?
    /// Seconds to hold the lane; nil for none.
    var wait: Double?

    /// - Parameters:
    ///   - sent: the event as it was begun.
    ///   - outcome: of the attempt.
    ///   - target: the destination; nil if it is no longer configured.
    ///   - tried: seconds to add to the event's retry time.
    ///   - failures: consecutive failures of the target.
    ///   - backoff: between the attempts.
    init(
        _ sent: DeliveryRecord, _ outcome: SendOutcome, _ target: PublishTarget?, tried: Double, failures: Int,
        backoff: Backoff
    ) {
        var backoff = backoff
        delivery = sent
        let tries = sent.attempts == 1 ? "one try" : "\(sent.attempts) tries"
        switch outcome {
        case .delivered(let status):
            delivery.state = .delivered
            delivery.status = status
            delivery.problem = nil
            line = ("delivered", "\(sent.event) to \(sent.target), in \(tries)")
        case .refused(let status, let reason): giveUp(status, reason, "which refused it")
        case .cancelled:
            delivery.state = .waiting
            delivery.nextAttempt = nil
            // Only a stop cancels; back off in case anything else does.
            wait = backoff.seconds(failures: sent.attempts)
        case .notSent(let reason):
            delivery.attempts -= 1
            if delivery.attempts == 0 { delivery.firstAttempt = nil }
            putOff(nil, reason, by: backoff.seconds(failures: failures))
            if reason != sent.problem { line = ("delivery", "it waits for \(sent.target): \(reason)") }
        case .retry(let after, let status, let reason):
            delivery.triedFor += tried
            let asked = after.map { min($0, Courier.longestWait) }
            let seconds = backoff.seconds(failures: sent.attempts, asked: asked)
            if let most = target?.attempts, sent.attempts >= most {
                giveUp(status, reason, "in \(tries), as many as `attempts` allows")
                wait = seconds
            } else if let longest = target?.giveUpAfter, delivery.triedFor >= longest {
                giveUp(status, reason, "in \(tries), and `give-up-after` has passed")
                wait = seconds
            } else {
                putOff(status, reason, by: seconds)
                // Report a receiver that is down for days only once.
                if reason != sent.problem {
                    line = ("delivery", "try \(sent.attempts) to send it to \(sent.target) failed: \(reason)")
                }
            }
        }
    }

    private mutating func giveUp(_ status: Int?, _ reason: String, _ why: String) {
        delivery.state = .dead
        delivery.status = status
        delivery.problem = reason
        line = (
            "dead",
            "\(delivery.event) was not delivered to \(delivery.target), \(why): \(reason) (`steward outbox retry "
                + "\(delivery.shortID)` retries it)"
        )
    }

    private mutating func putOff(_ status: Int?, _ reason: String, by seconds: Double) {
        delivery.state = .waiting
        delivery.status = status
        delivery.problem = reason
        delivery.nextAttempt = Timestamp.now().adding(seconds: seconds)
        wait = seconds
    }
}

extension SendOutcome {
    /// Statuses that mean that the target, rather than the event, is the problem.
    private static let ofTarget: Set<Int> = [401, 407, 429, 503]

    /// Whether any other event would have failed too; `asked` is the wait in seconds that the target requested.
    var targetFailure: (isOne: Bool, asked: Double?) {
        switch self {
        case .notSent: (true, nil)
        case .retry(let after, let status, _):
            (
                after != nil || status.map { Self.ofTarget.contains($0) } ?? true,
                after.map { min($0, Courier.longestWait) }
            )
        case .delivered, .refused, .cancelled: (false, nil)
        }
    }
}
