import Glibc
import Platform

/// Looks for a comic that is in a library already. The disk is asked each time: people move and rename there.
struct ComicCopies: Sendable {
    let library: BytePath
    /// Folders below it that are places of their own.
    let without: [BytePath]

    /// A file of this content, the first by its path; nil where there is none. Only files of the same size are read.
    /// Blocks.
    ///
    /// - Parameters:
    ///   - size: of the content, in bytes.
    ///   - source: does not count.
    func find(_ hash: ContentHash, size: Int64, besides source: BytePath) throws -> BytePath? {
        var candidates: [BytePath] = []
        var folders = [library]
        while let folder = folders.popLast() {
            for entry in try entries(folder) where entry.name.first != UInt8(ascii: ".") {
                let path = folder.appending(name: entry.name)
                if entry.isDirectory != true, let status = try FileStatus.of(path), status.kind == .file {
                    if status.size == size, path != source { candidates.append(path) }
                } else if try entry.isDirectory ?? (FileStatus.of(path)?.kind == .directory), !without.contains(path) {
                    folders.append(path)
                }
            }
        }
        return try candidates.sorted().first { path in
            do {
                return try ContentHash.ofFile(path) == hash
            } catch let fault as Fault where Self.mayBePassed(fault) {
                return false
            }
        }
    }

    private func entries(_ folder: BytePath) throws -> [DirectoryEntry] {
        do {
            return try listDirectory(folder)
        } catch let fault as Fault where Self.mayBePassed(fault) {
            return []
        }
    }

    /// What went away meanwhile, and what is not ours to read (`lost+found`), holds no copy that could be found.
    private static func mayBePassed(_ fault: Fault) -> Bool {
        fault.errno == ENOENT || fault.errno == ENOTDIR || fault.errno == EACCES || fault.errno == ELOOP
    }
}
