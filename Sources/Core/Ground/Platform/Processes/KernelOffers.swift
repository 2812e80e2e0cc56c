import CLinux

/// What the kernel, and whatever is wrapped around this process, offers for locking a process down.
package enum KernelOffers {
    /// The kernel's version of Landlock; nil where it has none.
    ///
    /// - Throws: `Fault` where this process may not even ask.
    package static func landlock() throws -> Int? {
        let version = steward_landlock_version()
        guard version >= 0 else { throw Fault.system("use Landlock") }
        return version == 0 ? nil : version
    }

    /// - Throws: `Fault` where no system call filter (seccomp) can be set that kills.
    package static func checkFilters() throws {
        guard steward_filters_available() == 0 else { throw Fault.system("set a filter of system calls") }
    }
}
