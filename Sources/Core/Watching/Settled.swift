import Platform

/// A file whose state is certain.
package enum Settled: Sendable {
    /// A regular file that has stopped changing and has no writers, with its status at that moment. `isBacklog`: it was
    /// found by a scan of the whole place and has had no event since; files with events come first.
    case whole(root: String, path: BytePath, status: FileStatus, isBacklog: Bool)
    /// There is no regular file of this name, and not just for the moment of a save.
    case gone(root: String, path: BytePath)
}

/// A file that has not settled.
package struct Unsettled: Sendable, Equatable {
    package enum Reason: String, Sendable {
        /// It changed less than its settle time ago.
        case quiet = "standing still"
        /// A process has it open for writing.
        case writer = "its writer to close it"
        /// It is missing; an editor may be about to bring it back.
        case absent = "its return"
        case readable = "access to it"
        /// A file next to it shows that a download will fill it.
        case download = "its download to end"
        /// Jobs on files in the folder are pending.
        case jobs = "the jobs of its contents"
    }

    package var root: String
    package var path: BytePath
    package var waitingFor: Reason
}
