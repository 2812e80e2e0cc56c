import Platform
import Synchronization

/// The paths with an effect in flight, from before its first system call until its receipt is committed. Changes seen
/// there in the meantime are judged afterwards.
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

    /// Whether `path` is in work itself or inside a path in work, since a whole folder may be moving.
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

    /// Whether a path in work is the folder itself, in it or above it.
    ///
    /// - Parameter own: paths that the caller itself has begun, once each.
    package func touches(_ folder: BytePath, besides own: [BytePath] = []) -> Bool {
        counts.withLock { counts in
            counts.contains { path, count in
                (path.isWithin(folder) || folder.isWithin(path)) && count > own.count { $0 == path }
            }
        }
    }
}
