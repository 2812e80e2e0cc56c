import Glibc
import Platform
import Synchronization

/// The roots, each opened once for a batch of looks. Blocks.
final class OpenRoots: Sendable {
    private let open = Mutex<[BytePath: Root]>([:])
    private let downloads = Mutex<[BytePath: [[UInt8]]]>([:])

    /// Access to one file and its siblings. Its folder is closed with it, because a batch may span more folders than
    /// the open-file limit.
    func files(below top: BytePath) -> HeldFiles {
        HeldFiles { [self] path in
            guard let relative = path.relative(to: top) else {
                throw Fault(.failed, "\(path) is not in \(top)", path: path)
            }
            if let root = open.withLock({ $0[top] }) { return (root, relative) }
            guard let folder = try FolderIdentity.open(top) else {
                throw Fault(.transient, "\(top) does not exist", path: top, errno: ENOENT)
            }
            let root = Root(folder)
            open.withLock { $0[top] = root }
            return (root, relative)
        }
    }

    /// Whether a download is still going to fill the file, or was abandoned halfway. A folder is searched for partial
    /// downloads once per batch.
    func isBeingDownloaded(_ path: BytePath, _ status: FileStatus, _ files: HeldFiles) -> Bool {
        if PartialDownload.isUnfinished(path, files) { return true }
        guard status.size == 0 else { return false }
        let folder = path.parent
        let partial: [[UInt8]]
        if let known = downloads.withLock({ $0[folder] }) {
            partial = known
        } else {
            // If the folder cannot be listed, assume no download.
            let names = ((try? files.list(folder)) ?? []).map(\.name)
            partial = names.filter(PartialDownload.isPartial)
            downloads.withLock { $0[folder] = partial }
        }
        return partial.contains { PartialDownload.fills(path.name, $0) }
    }
}
