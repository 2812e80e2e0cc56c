import Platform
import Synchronization

/// The paths that an effect is being made at, from before its first system call until its receipt is committed: what
/// is seen there meanwhile is judged afterwards.
package final class PathsInWork: Sendable {
    private let counts = Mutex<[BytePath: Int]>([:])

    package init() {}

    package func begin(_ paths: [BytePath]) {
        counts.withLock { counts in for path in paths { counts[path, default: 0] += 1 } }
    }

    package func end(_ paths: [BytePath]) {
        counts.withLock { counts in
            for path in paths {
                guard let count = counts[path] else { continue }
                counts[path] = count > 1 ? count - 1 : nil
            }
        }
    }

    package func contains(_ path: BytePath) -> Bool { counts.withLock { $0[path] != nil } }
}
