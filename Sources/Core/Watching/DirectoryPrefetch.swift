import Dispatch
import Platform
import Synchronization

/// Reads folders that a walk has yet to come to with two threads: of a tree of many folders that is most of what a look
/// through it costs, and from a cold disk each waits by itself. Nothing is open any more when it is done.
enum DirectoryPrefetch {
    /// A folder whose turn comes later.
    struct Next: Sendable {
        let path: BytePath
        /// Nil where it has more names than are kept ahead, or was not read: that shows when its turn comes.
        var names: FolderListing?
    }

    /// So many are read at once, and so many bytes of each: little memory, whatever is in them.
    static let most = 128
    private static let mostBytes = 16_384
    /// Fewer are not worth a change of threads.
    private static let few = 8

    /// Blocks until both threads are done.
    ///
    /// - Parameter open: a folder, to be read.
    /// - Returns: all of them, with their names or without: after a fault none is tried any more.
    static func read(_ paths: [BytePath], _ open: @escaping @Sendable (BytePath) throws -> Descriptor) -> [Next] {
        guard paths.count >= few else { return paths.map { Next(path: $0) } }
        let work = Work(paths, open)
        let done = DispatchSemaphore(value: 0)
        // A serial queue has a thread of its own, and keeps none of the pool's should a call not return.
        DispatchQueue(label: "steward.folders").async {
            guard work.helperBegins() else { return }
            work.go()
            done.signal()
        }
        work.go()
        // One that has not begun by now, for want of threads, finds nothing to do.
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

        /// What opens folders holds their root open: it is let go of here, whoever may still have this work.
        ///
        /// - Returns: whether the helper is to be waited for.
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
                    // It may be told of every one of them, each after a minute: when its turn comes, and not here.
                    turn.store(paths.count, ordering: .relaxed)
                }
            }
            state.withLock { $0.names.merge(mine) { $1 } }
        }
    }
}
