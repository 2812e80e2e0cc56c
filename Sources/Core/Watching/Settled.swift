import Platform

/// A file of which a statement can be made.
package enum Settled: Sendable {
    /// A regular file that stands still and that nobody writes to; its status at that moment. Whether a look through the
    /// whole place has found it, and nothing has happened to it since: what happens now comes first.
    case whole(root: String, path: BytePath, status: FileStatus, isBacklog: Bool)
    /// No regular file has this name, and not just for the moment of a save.
    case gone(root: String, path: BytePath)
}

/// A file that is not settled yet.
package struct Unsettled: Sendable, Equatable {
    package enum Reason: String, Sendable {
        /// It changed less than its settle time ago.
        case quiet = "standing still"
        /// A process has it open for writing.
        case writer = "its writer to close it"
        /// It is not there; an editor may be about to bring it back.
        case absent = "its return"
        case readable = "access to it"
        /// What lies beside it shows that it is yet to be filled.
        case download = "its download to end"
        /// Something is yet to be done with what lies in it.
        case jobs = "the jobs of what lies in it"
    }

    package var root: String
    package var path: BytePath
    package var waitingFor: Reason
}
