import Glibc
import OwnFiles
import Platform

/// A folder of the library as the target of a move, created if missing and held open meanwhile. The kernel resolves
/// each part of its path below the library, so that no symlink leads out of it. Blocks.
struct LibraryFolder {
    private let folder: Descriptor
    private let root: BytePath

    /// - Parameter relative: below `root`, which exists.
    /// - Throws: `Fault`; errno EXDEV if a part of the path leads out of the library, with nothing created there.
    init(_ relative: BytePath, root: BytePath) throws {
        let directory = try Descriptor(root, O_RDONLY | O_DIRECTORY, follow: true)
        var part: BytePath = ""
        var folder = try SafePath.open(part, beneath: directory, O_RDONLY | O_DIRECTORY)
        for component in relative.components {
            part = part.appending(name: component)
            do {
                folder = try SafePath.open(part, beneath: directory, O_RDONLY | O_DIRECTORY)
            } catch let fault as Fault where fault.errno == ENOENT {
                let made = BytePath(bytes: component).withCString { mkdirat(folder.raw, $0, 0o755) }
                guard made == 0 || errno == EEXIST else { throw Fault.system("make the folder", fault.path) }
                try folder.sync()
                folder = try SafePath.open(part, beneath: directory, O_RDONLY | O_DIRECTORY)
            }
        }
        self.folder = folder
        self.root = root
    }

    /// Moves the file back if it ended up elsewhere because a folder of the path was replaced by a link at that moment.
    ///
    /// - Throws: `Fault` if it did; it names the file's location if the file could not be moved back.
    func check(_ placed: BytePath, from source: BytePath) throws {
        let parent = try FileStatus.of(placed.parent.appending("."))
        let held = try folder.status()
        if let parent, parent.inode == held.inode, parent.device == held.device { return }
        let isBack = try Durable.renameNew(placed, to: source)
        throw Fault(
            .failed,
            "\(placed.parent) was replaced while \(source) was moved there; "
                + (isBack ? "the file has not moved, try again" : "it is at \(placed), see where that leads"),
            path: source)
    }
}
