import CLinux
import Synchronization

/// The cooperative pool is never blocked (law 10): in a debug build of the agent, a call that blocks traps on one of the
/// pool's threads. Such calls belong on a ``BlockingPool``.
///
/// Why not at compile time: `docs/design/blocking.md`, "Rejected".
package enum Blocking {
    #if DEBUG
        private static let isForbidden = Atomic<Bool>(false)

        /// From now on such calls trap on threads of the pool.
        package static func forbidOnPool() { isForbidden.store(true, ordering: .relaxed) }

        /// Says that the calling function blocks.
        @inline(__always)
        package static func call(_ name: StaticString = #function) {
            if isForbidden.load(ordering: .relaxed) { check(name) }
        }

        private static func check(_ name: StaticString) {
            // The name of the queue behind Swift's pool. Blocking pools' and GRDB's queues have other names, and threads that
            // are not dispatch's count as those of its root queues.
            let isPool = String(cString: steward_queue_at_work()) == "Swift global concurrent queue"
            precondition(!isPool, "\(name) blocks, and was called on the cooperative pool")
        }
    #else
        @inline(__always) package static func forbidOnPool() {}
        @inline(__always) package static func call(_ name: StaticString = #function) {}
    #endif
}
