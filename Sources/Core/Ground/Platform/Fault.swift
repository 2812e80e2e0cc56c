import Glibc

/// The error of every module: what happened, to which file, and what its kind asks the caller to do.
package struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
    /// What the caller must do about it, not where it arose.
    package enum Kind: String, Sendable, Codable {
        /// The world may change by itself (disk full, file busy): try again later.
        case transient
        /// The input is at fault and will stay so: refuse it, keep it intact.
        case refused
        /// Somebody has to look: park the work, keep everything.
        case failed
        /// The file is gone or another version stands there, which is judged anew: nothing is to be done here.
        case superseded
        /// The configuration or the command line is at fault.
        case usage
        /// The agent cannot go on, and trying again mends nothing.
        case fatal
    }

    package let kind: Kind
    /// Says what is wrong, where, and what to do, in one line for a person.
    package let message: String
    package let path: BytePath?
    /// The errno of the system call that failed, if one did.
    package let errno: Int32?
    /// Which of several reasons it is, in one word for programs: `encrypted`. Stands beside a refused file.
    package let code: String?

    /// The ``code`` of what waits for an editor: it has often ended before the next try is due.
    package static let inEditor = "in-editor"

    /// The ``code`` of what waits for another agent to end, which looks after the place.
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

    /// A system call's failure; the kind follows from `code`: what passes by itself is transient.
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
