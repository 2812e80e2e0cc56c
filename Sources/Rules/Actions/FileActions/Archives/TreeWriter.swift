import ComicArchive
import Glibc
import Platform

/// Writes an archive's content below one of the agent's own folders. All calls block.
struct TreeWriter {
    private let archive: BytePath
    private let root: Root
    private let modes: Modes
    /// Folders that hold something, below the root.
    private var folders: Set<BytePath> = [BytePath("")]
    /// The file being written; nil between entries and for a skipped entry.
    private var file: Descriptor?
    private var size: Int64 = 0
    private(set) var count = 0

    /// Permissions of created files and folders: no wider than the archive's.
    struct Modes {
        let file: mode_t
        let folder: mode_t

        /// - Parameter archive: mode of the archive itself.
        init(of archive: mode_t) {
            let readers = archive & 0o044
            file = 0o600 | readers
            folder = 0o700 | readers | readers >> 2
        }
    }

    /// - Parameter folder: empty and open for reading.
    init(_ folder: Descriptor, of archive: BytePath, _ modes: Modes) {
        root = Root(folder)
        self.archive = archive
        self.modes = modes
    }

    /// - Throws: `Fault(.refused)` if the archive is at fault.
    mutating func take(_ part: UnpackedPart) throws {
        switch part {
        case .entry(let header):
            file = nil
            guard let path = try EntryPath.of(header, in: archive) else { return }
            if header.kind == .folder {
                _ = try folder(path)
            } else {
                file = try newFile(path)
                size = 0
                count += 1
            }
        case .bytes(let bytes):
            try file?.write(bytes, at: size)
            size += Int64(bytes.count)
        case .end:
            try file?.sync()
            file = nil
        }
    }

    /// Syncs the folders, so that the names are durable too.
    func finish() throws { for path in folders { try root.folder(path).sync() } }

    private mutating func newFile(_ path: BytePath) throws -> Descriptor {
        let child = try folder(path.parent)[path.name]
        do {
            return try child.open(O_WRONLY | O_CREAT | O_EXCL, mode: modes.file)
        } catch let fault as Fault where fault.errno == EEXIST {
            throw twice(path)
        }
    }

    private mutating func folder(_ path: BytePath) throws -> Folder {
        var way = path
        while folders.insert(way).inserted { way = way.parent }
        do {
            return try root.makeFolder(path, mode: modes.folder)
        } catch let fault as Fault where fault.errno == ENOTDIR {
            throw twice(path)
        }
    }

    private func twice(_ path: BytePath) -> Fault {
        Fault(
            .refused,
            "\(archive): two of its entries are called \(path), and one would overwrite the other; nothing was unpacked",
            path: archive, code: RefusalReason.badName.rawValue)
    }
}
