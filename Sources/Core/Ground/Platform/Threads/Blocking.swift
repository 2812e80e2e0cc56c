import CLinux
import Synchronization

/// Never block the cooperative pool (law 10): in a debug build of the agent, a blocking call traps on one of the pool's
/// threads. Make such calls on a ``BlockingPool``.
///
/// Why not at compile time: `docs/design/blocking.md`, "Rejected".
package enum Blocking {
    /// Whether they trap in the current task: for an agent in a process whose other tasks may block.
    @TaskLocal package static var isForbiddenHere = false

    #if DEBUG
        private static let isForbidden = Atomic<Bool>(false)

        /// Makes such calls trap on threads of the pool from now on.
        package static func forbidOnPool() { isForbidden.store(true, ordering: .relaxed) }

        /// Declares that the calling function blocks.
        @inline(__always)
        package static func call(_ name: StaticString = #function) {
            if isForbidden.load(ordering: .relaxed) || isForbiddenHere { check(name) }
        }

        private static func check(_ name: StaticString) {
            // The name of the queue behind Swift's pool. The queues of blocking pools and of GRDB have other names, and
            // non-dispatch threads report those of the root queues.
            let isPool = String(cString: steward_queue_at_work()) == "Swift global concurrent queue"
            precondition(!isPool, "\(name) blocks, and was called on the cooperative pool")
        }
    #else
        @inline(__always) package static func forbidOnPool() {}
        @inline(__always) package static func call(_ name: StaticString = #function) {}
    #endif
}
