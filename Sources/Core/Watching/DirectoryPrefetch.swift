import Dispatch
import Platform
import Synchronization

/// Reads the folders that a walk will reach next, on two threads: in a deep tree this is most of the cost of a walk,
/// and on a cold disk each read waits for the disk. Leaves no folder open.
enum DirectoryPrefetch {
    /// A folder that the walk has yet to reach.
    struct Next: Sendable {
        let path: BytePath
        /// nil if it has too many names to keep, or could not be read; the walk will find out when it gets there.
        var names: FolderListing?
    }

    /// Folders read at once, and bytes of names kept for each: memory stays small whatever the folders contain.
    static let most = 128
    private static let mostBytes = 16_384
    /// Below this, a second thread does not pay off.
    private static let few = 8

    /// Blocks until both threads are done.
    ///
    /// - Parameter open: opens a folder for reading.
    /// - Returns: every folder, with or without its names. After a failure no further folder is tried.
    static func read(_ paths: [BytePath], _ open: @escaping @Sendable (BytePath) throws -> Descriptor) -> [Next] {
        guard paths.count >= few else { return paths.map { Next(path: $0) } }
        let work = Work(paths, open)
        let done = DispatchSemaphore(value: 0)
        // A serial queue brings its own thread and ties up none of the pool's if a call never returns.
        DispatchQueue(label: "steward.folders").async {
            guard work.helperBegins() else { return }
            work.go()
            done.signal()
        }
        work.go()
        // If no thread was free and the helper has not started yet, it will find nothing to do.
        if work.ends() { done.wait() }
        return work.found()
    }

    private final class Work: Sendable {
        private struct State {
            var names: [Int: FolderListing] = [:]
            var open: (@Sendable (BytePath) throws -> Descriptor)?
            var hasHelper = false
        }

        private let paths: [BytePath]
        private let turn = Atomic<Int>(0)
        private let state: Mutex<State>

        init(_ paths: [BytePath], _ open: @escaping @Sendable (BytePath) throws -> Descriptor) {
            self.paths = paths
            state = Mutex(State(open: open))
        }

        func helperBegins() -> Bool {
            state.withLock { state in
                state.hasHelper = state.open != nil
                return state.hasHelper
            }
        }

        /// Releases the closure that opens folders, which keeps the root open, even if someone still holds this work.
        ///
        /// - Returns: whether to wait for the helper.
        func ends() -> Bool {
            state.withLock { state in
                state.open = nil
                return state.hasHelper
            }
        }

        func found() -> [Next] {
            let names = state.withLock { $0.names }
            return paths.indices.map { Next(path: paths[$0], names: names[$0]) }
        }

        func go() {
            guard let open = state.withLock({ $0.open }) else { return }
            var mine: [Int: FolderListing] = [:]
            while true {
                let at = turn.wrappingAdd(1, ordering: .relaxed).oldValue
                guard at < paths.count, !Task.isCancelled else { break }
                do {
                    mine[at] = try FolderListing(open(paths[at]), most: mostBytes)
                } catch {
                    // Each of the others could fail the same way, a minute apiece: leave that to the walk.
                    turn.store(paths.count, ordering: .relaxed)
                }
            }
            state.withLock { $0.names.merge(mine) { $1 } }
        }
    }
}
