import Glibc

/// The error type of every module: what happened, to which file, and what the caller must do, by its kind.
package struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
    /// What the caller must do, not where it arose.
    package enum Kind: String, Sendable, Codable {
        /// Conditions may change (disk full, file busy): retry later.
        case transient
        /// The input is bad and will stay bad: refuse it, keep it intact.
        case refused
        /// A person must look: park the work, keep everything.
        case failed
        /// The file is gone or was replaced by another version, which is judged separately: nothing to do here.
        case superseded
        /// An error in the configuration or on the command line.
        case usage
        /// The agent cannot continue, and retrying does not help.
        case fatal
    }

    package let kind: Kind
    /// The problem, its location and its remedy, in one line for a person.
    package let message: String
    package let path: BytePath?
    /// The errno of the failed system call, if any.
    package let errno: Int32?
    /// The specific reason, in one word for programs: `encrypted`. Recorded with a refused file.
    package let code: String?

    /// The ``code`` of work that waits for an editor, which has often finished before the next retry is due.
    package static let inEditor = "in-editor"

    /// The ``code`` of work that waits for an editor, and is woken when that has finished.
    package static let watched = "watched"

    /// The ``code`` of work that waits for another agent, which manages the place, to end.
    package static let inUse = "in-use"

    package init(
        _ kind: Kind, _ message: String, path: BytePath? = nil, errno: Int32? = nil, code: String? = nil
    ) {
        self.kind = kind
        self.message = message
        self.path = path
        self.errno = errno
        self.code = code
    }

    /// The failure of a system call. Its kind follows from `code`: transient if the condition may pass.
    package static func system(_ doing: String, _ path: BytePath? = nil, errno code: Int32 = Glibc.errno) -> Fault {
        let transient: Set<Int32> = [
            ENOSPC, EDQUOT, EAGAIN, EBUSY, EMFILE, ENFILE, EINTR, ETXTBSY, ENOMEM, ESTALE, EIO, ETIMEDOUT, ENOLCK,
            EROFS,
        ]
        let reason = String(cString: strerror(code))
        let place = path.map { " \($0)" } ?? ""
        return Fault(
            transient.contains(code) ? .transient : .failed, "cannot \(doing)\(place): \(reason)\(hint(code))",
            path: path,
            errno: code)
    }

    private static func hint(_ code: Int32) -> String {
        switch code {
        case ENOSPC, EDQUOT: " (free some space)"
        case EACCES, EPERM: " (grant the agent's user access, then run `steward retry`)"
        case EROFS: " (the file system is mounted read-only)"
        default: ""
        }
    }

    package var description: String { message }
}

/// The message of any error, for logs and people.
package func explain(_ error: any Error) -> String {
    (error as? Fault)?.message ?? String(describing: error)
}
