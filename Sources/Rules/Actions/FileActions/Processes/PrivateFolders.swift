import Platform
import Synchronization

/// The empty folders that programs are started in: nobody else can put anything there that a program would take for its own
/// (a module of Python's, a settings file), and each is gone when its program has ended.
package final class PrivateFolders: Sendable {
    private let openParent: @Sendable () throws -> Folder
    private let parent = Mutex<Folder?>(nil)

    /// - Parameter open: the folder that they lie in, which only the agent's user may enter; asked for once, when the first
    ///   program is started. What it holds then is what an agent that was killed has left.
    package init(_ open: @escaping @Sendable () throws -> Folder) { openParent = open }

    /// Makes one. Blocks.
    func make(for step: String) throws -> DirectoryEntry {
        let folder = try parent.withLock { parent in
            if let parent { return parent }
            let opened = try openParent()
            for entry in try opened.entries() { remove(opened[entry.name]) }
            parent = opened
            return opened
        }
        let spot = folder[Array("\(ContentHash(of: Array(step.utf8)))".utf8)]
        try FolderTree.remove(spot)
        guard try spot.makeDirectory(mode: 0o700) else {
            throw Fault(.transient, "\(spot.path) is in the way", path: spot.path)
        }
        return spot
    }

    /// Removes one with what the program has left in it. What cannot be removed goes when the agent starts anew, or stays: the
    /// step is not undone by it. Blocks.
    func remove(_ spot: DirectoryEntry) { try? FolderTree.remove(spot) }
}
