import CLinux

/// What the kernel, and any sandbox around this process, supports for locking a process down.
package enum KernelOffers {
    /// The kernel's Landlock version; nil if it has none.
    ///
    /// - Throws: `Fault` if this process may not even ask.
    package static func landlock() throws -> Int? {
        let version = steward_landlock_version()
        guard version >= 0 else { throw Fault.system("use Landlock") }
        return version == 0 ? nil : version
    }

    /// - Throws: `Fault` if no killing system call filter (seccomp) can be installed.
    package static func checkFilters() throws {
        guard steward_filters_available() == 0 else { throw Fault.system("set a filter of system calls") }
    }
}
