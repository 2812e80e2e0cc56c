import Dispatch
import Platform
import Synchronization

/// Reads folders that a walk has yet to come to with two threads: of a tree of many folders that is most of what a look
/// through it costs, and from a cold disk each waits by itself.
enum FoldersAhead {
    /// A folder whose turn comes later.
    struct Next: Sendable {
        let path: BytePath
        /// Nil where it has more names than are kept ahead, or could not be read: that shows when its turn comes.
        var names: FolderListing?
        var folder: Descriptor?
    }

    /// So many are read at once, and so many bytes of each: little memory, whatever is in them.
    static let most = 128
    private static let mostBytes = 65_536
    /// Fewer are not worth a change of threads.
    private static let few = 8

    /// Blocks until both threads are done.
    ///
    /// - Parameter open: a folder, to be read.
    static func read(_ paths: [BytePath], _ open: @escaping @Sendable (BytePath) throws -> Descriptor) -> [Next] {
        guard paths.count >= few else { return paths.map { Next(path: $0) } }
        let work = Work(paths)
        let done = DispatchSemaphore(value: 0)
        // A serial queue has a thread of its own, and keeps none of the pool's should a call not return.
        DispatchQueue(label: "steward.folders").async {
            work.go(on: open)
            done.signal()
        }
        work.go(on: open)
        done.wait()
        return work.found
    }

    private final class Work: Sendable {
        private let paths: [BytePath]
        private let turn = Atomic<Int>(0)
        private let all = Mutex<[Next]>([])

        init(_ paths: [BytePath]) { self.paths = paths }

        var found: [Next] { all.withLock { $0 } }

        func go(on open: (BytePath) throws -> Descriptor) {
            var mine: [Next] = []
            while true {
                let at = turn.wrappingAdd(1, ordering: .relaxed).oldValue
                guard at < paths.count else { break }
                mine.append(Self.look(paths[at], open))
            }
            all.withLock { $0 += mine }
        }

        private static func look(_ path: BytePath, _ open: (BytePath) throws -> Descriptor) -> Next {
            guard let folder = try? open(path), let names = try? FolderListing(folder, most: mostBytes) else {
                return Next(path: path)
            }
            return Next(path: path, names: names, folder: folder)
        }
    }
}
