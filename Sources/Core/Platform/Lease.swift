import CLinux
import Glibc

/// The kernel's word on who has a file open (fcntl(2), F_SETLEASE).
package enum Lease {
    package enum Answer: Sendable, Equatable {
        /// Nobody else: the lease was taken.
        case granted
        /// Somebody has the file open in a way that conflicts.
        case busy
        /// This file or file system knows no leases for us.
        case unsupported
    }

    /// A writer that opens a leased file has the kernel send SIGIO, whose default action ends the process.
    package static func ignoreBreakSignal() {
        signal(SIGIO, SIG_IGN)
    }

    /// Whether any process has `file` open for writing or mapped writable: takes a read lease and gives it back.
    package static func probeWriters(_ file: Descriptor) -> Answer {
        let answer = take(file, STEWARD_LEASE_READ)
        if answer == .granted { release(file) }
        return answer
    }

    /// Takes a write lease: granted only when nobody else has the file open; until ``release(_:)`` every other open
    /// waits in the kernel (for at most /proc/sys/fs/lease-break-time seconds).
    package static func takeExclusive(_ file: Descriptor) -> Answer {
        take(file, STEWARD_LEASE_WRITE)
    }

    package static func release(_ file: Descriptor) {
        _ = steward_set_lease(file.raw, STEWARD_LEASE_NONE)
    }

    private static func take(_ file: Descriptor, _ type: Int32) -> Answer {
        if steward_set_lease(file.raw, type) == 0 { return .granted }
        return errno == EAGAIN || errno == EBUSY ? .busy : .unsupported
    }
}
