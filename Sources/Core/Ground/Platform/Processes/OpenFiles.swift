import Glibc
import Synchronization

/// The limit of open files of this process.
package enum OpenFiles {
    /// As many as are ever needed at once, but no more, so that a leak is noticed.
    private static let most: rlim_t = 16_384
    private static let before = Mutex<UInt64?>(nil)

    /// The soft limit before it was raised, for child processes; nil if it was not.
    static var usual: UInt64? { before.withLock { $0 } }

    /// Raises the soft limit, usually 1,024, as far as the hard limit allows.
    package static func raiseLimit() {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < min(limit.rlim_max, most) else { return }
        let usual = UInt64(limit.rlim_cur)
        limit.rlim_cur = min(limit.rlim_max, most)
        // On failure the old limit stays in force, and work that runs out of descriptors is retried.
        if setrlimit(resource, &limit) == 0 { before.withLock { $0 = usual } }
    }
}
