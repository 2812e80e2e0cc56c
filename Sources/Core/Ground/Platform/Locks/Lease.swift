import CLinux
import Glibc

/// Asks the kernel who has a file open (fcntl(2), F_SETLEASE).
package enum Lease {
    package enum Answer: Sendable, Equatable {
        /// No other process has it open: the lease was acquired.
        case granted
        /// Another process has the file open in a conflicting mode.
        case busy
        /// This file or file system does not support leases for us.
        case unsupported
    }

    /// When a leased file is opened for writing, the kernel sends SIGIO, which by default kills the process.
    package static func ignoreBreakSignal() {
        signal(SIGIO, SIG_IGN)
    }

    /// Whether any process has `file` open for writing or mapped writable: acquires a read lease and releases it.
    package static func probeWriters(_ file: Descriptor) -> Answer {
        let answer = acquireShared(file)
        if answer == .granted { release(file) }
        return answer
    }

    /// Acquires a write lease: granted only if no other process has the file open. Until ``release(_:)``, every other
    /// open waits in the kernel (for at most /proc/sys/fs/lease-break-time seconds).
    package static func acquireExclusive(_ file: Descriptor) -> Answer {
        acquire(file, STEWARD_LEASE_WRITE)
    }

    /// Acquires a read lease on a file opened only for reading: granted if no process has it open for writing. Until
    /// ``release(_:)``, opening it for writing waits.
    package static func acquireShared(_ file: Descriptor) -> Answer {
        acquire(file, STEWARD_LEASE_READ)
    }

    package static func release(_ file: Descriptor) {
        _ = steward_set_lease(file.raw, STEWARD_LEASE_NONE)
    }

    /// Whether a write lease is held and no process waits for its release.
    package static func isWhole(_ file: Descriptor) -> Bool {
        steward_get_lease(file.raw) == STEWARD_LEASE_WRITE
    }

    /// How long the kernel lets others wait for the release of a lease before revoking it.
    package static func breakTime() -> Duration {
        // If the setting is unreadable, do not rely on the kernel's default either.
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
