import Glibc
import Platform

/// All files of a folder that the agent made, recursively. All calls block.
package enum FolderTree {
    package struct File: Equatable {
        /// Below the folder.
        package let path: BytePath
        package let fingerprint: Fingerprint
        package let hash: ContentHash

        package init(path: BytePath, fingerprint: Fingerprint, hash: ContentHash) {
            self.path = path
            self.fingerprint = fingerprint
            self.hash = hash
        }
    }

    /// All files, hashed, sorted by path.
    ///
    /// - Throws: `Fault(.failed)` if there is anything but files and folders.
    package static func files(_ folder: Folder) throws -> [File] {
        var found: [File] = []
        try visit(folder, BytePath("")) { found.append($0) }
        return found.sorted { $0.path < $1.path }
    }

    private static func visit(_ folder: Folder, _ path: BytePath, _ take: (File) -> Void) throws {
        for entry in try folder.entries() {
            let child = folder[entry.name]
            let below = path.appending(name: entry.name)
            if let inner = try child.openFolder() {
                try visit(inner, below, take)
                continue
            }
            guard try child.status()?.kind == .file else {
                throw Fault(.failed, "\(child.path) is neither a file nor a folder", path: child.path)
            }
            let file = try child.openFile()
            take(File(path: below, fingerprint: try file.status().fingerprint, hash: try ContentHash.of(file)))
        }
    }

    /// Removes one of the agent's own folders recursively. A missing one is fine.
    package static func remove(_ child: DirectoryEntry) throws {
        guard let folder = try child.openFolder() else { return }
        for entry in try folder.entries() {
            let inner = folder[entry.name]
            if try inner.status()?.kind == .directory { try remove(inner) } else { try Durable.remove(inner) }
        }
        guard try Durable.removeFolder(child) || child.status() == nil else {
            throw Fault(.transient, "\(child.path) cannot be removed: somebody writes into it", path: child.path)
        }
        FaultPoint.reach("folder removed")
    }
}
