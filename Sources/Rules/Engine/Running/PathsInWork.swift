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

    /// Whether it is one of them, or lies in one: a folder may be on its way as a whole.
    package func contains(_ path: BytePath) -> Bool {
        counts.withLock { counts in
            guard !counts.isEmpty else { return false }
            var path = path
            while path.bytes.count > 1 {
                if counts[path] != nil { return true }
                path = path.parent
            }
            return false
        }
    }

    /// Whether there is one in the folder, or above it, or the folder is one itself.
    ///
    /// - Parameter own: paths that were begun once by who asks.
    package func touches(_ folder: BytePath, besides own: [BytePath] = []) -> Bool {
        counts.withLock { counts in
            counts.contains { path, count in
                (path.isWithin(folder) || folder.isWithin(path)) && count > own.count { $0 == path }
            }
        }
    }
}
