import Platform
import Synchronization

/// Empty folders to start programs in. No one else can plant files there that a program would load, such as Python
/// modules or settings. Each folder is removed when its program ends.
package final class PrivateFolders: Sendable {
    private let openParent: @Sendable () throws -> Folder
    private let parent = Mutex<Folder?>(nil)

    /// - Parameter open: opens the parent folder, which only the agent's user may enter; called once, when the first
    ///   program starts. Its content at that time is left over from an agent that was killed.
    package init(_ open: @escaping @Sendable () throws -> Folder) { openParent = open }

    /// Creates a folder. Blocks.
    func make(for step: String) throws -> DirectoryEntry {
        let folder = try parent.withLock { parent in
            if let parent { return parent }
            let opened = try openParent()
            for entry in try opened.entries() { remove(opened[entry.name]) }
            parent = opened
            return opened
        }
        let child = folder[Array("\(ContentHash(of: Array(step.utf8)))".utf8)]
        try FolderTree.remove(child)
        guard try child.makeDirectory(mode: 0o700) else {
            throw Fault(.transient, "\(child.path) is in the way", path: child.path)
        }
        return child
    }

    /// Removes a folder and its content. A failure is ignored, because it must not fail the step; the next start of the
    /// agent tries again. Blocks.
    func remove(_ child: DirectoryEntry) { try? FolderTree.remove(child) }
}
