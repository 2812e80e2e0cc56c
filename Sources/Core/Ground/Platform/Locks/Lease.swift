import CLinux
import Glibc

/// The kernel's word on who has a file open (fcntl(2), F_SETLEASE).
package enum Lease {
    package enum Answer: Sendable, Equatable {
        /// Nobody else: the lease was acquired.
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

    /// Whether any process has `file` open for writing or mapped writable: acquires a read lease and gives it back.
    package static func probeWriters(_ file: Descriptor) -> Answer {
        let answer = acquireShared(file)
        if answer == .granted { release(file) }
        return answer
    }

    /// Acquires a write lease: granted only when nobody else has the file open; until ``release(_:)`` every other open
    /// waits in the kernel (for at most /proc/sys/fs/lease-break-time seconds).
    package static func acquireExclusive(_ file: Descriptor) -> Answer {
        acquire(file, STEWARD_LEASE_WRITE)
    }

    /// Acquires a read lease on a file that was opened for reading only: granted when nobody has it open for writing;
    /// until ``release(_:)`` whoever opens it for writing waits.
    package static func acquireShared(_ file: Descriptor) -> Answer {
        acquire(file, STEWARD_LEASE_READ)
    }

    package static func release(_ file: Descriptor) {
        _ = steward_set_lease(file.raw, STEWARD_LEASE_NONE)
    }

    /// Whether a write lease is held and nobody waits for it to be given back.
    package static func isWhole(_ file: Descriptor) -> Bool {
        steward_get_lease(file.raw) == STEWARD_LEASE_WRITE
    }

    /// How long the kernel lets others wait for a lease to be given back before it ends it.
    package static func breakTime() -> Duration {
        // Where it cannot be read, the kernel's own default is not trusted either.
        guard let text = try? DirectoryEntry(.nowhere, "/proc/sys/fs/lease-break-time").open().read(at: 0, count: 64),
            let seconds = Int(String(decoding: text, as: UTF8.self).filter(\.isNumber))
        else { return .zero }
        return .seconds(seconds)
    }

    private static func acquire(_ file: Descriptor, _ type: Int32) -> Answer {
        Blocking.call()
        if steward_set_lease(file.raw, type) == 0 { return .granted }
        return errno == EAGAIN || errno == EBUSY ? .busy : .unsupported
    }
}
