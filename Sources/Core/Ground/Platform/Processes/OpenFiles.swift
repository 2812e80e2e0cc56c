import Glibc
import Synchronization

/// How many files this process may have open.
package enum OpenFiles {
    /// As many as are ever needed at once, and no more, so that a leak is noticed.
    private static let most: rlim_t = 16_384
    private static let before = Mutex<UInt64?>(nil)

    /// The soft limit before it was raised, for programs that are started; nil where it was not.
    static var usual: UInt64? { before.withLock { $0 } }

    /// Raises the soft limit, which is 1,024 nearly everywhere, as far as the hard one allows.
    package static func raiseLimit() {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < min(limit.rlim_max, most) else { return }
        let usual = UInt64(limit.rlim_cur)
        limit.rlim_cur = min(limit.rlim_max, most)
        // Where it fails the limit of before stands, and what finds no descriptor is tried again.
        if setrlimit(resource, &limit) == 0 { before.withLock { $0 = usual } }
    }
}
