import Platform

/// Why a vault was locked.
package enum LockReason: String, Sendable, Codable {
    case asked, idle, suspend, signal, stop
    /// Its path leads to another folder or to none, or its disk gives errors.
    case displaced

    package var text: String {
        switch self {
        case .asked: "as asked"
        case .idle: "nobody used it"
        case .suspend: "the machine was suspended"
        case .signal: "SIGUSR1"
        case .stop: "the agent stops"
        case .displaced: "its folder was moved or replaced, or its disk was unmounted or gives errors"
        }
    }
}

/// An event of a vault for the agent's log. It never includes a comic's title.
package enum VaultNotice: Sendable {
    case unlocked(UnlockReport)
    case locked(LockReason)
    /// A deposit became a comic, or already was one.
    case ingested(ObjectID)
    /// A deposit waits, with a one-word reason; ``VaultService/refusals`` has it in full.
    case notIngested(ObjectID, code: String)
    /// Deposits of this host that are gone.
    case missing(Int)
    /// An error in the background.
    case problem(String)
}
