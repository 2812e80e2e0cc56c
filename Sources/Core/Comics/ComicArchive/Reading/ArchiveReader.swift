import Foundation
import OwnFiles
import Platform

/// Reads the pages of one comic in any format (docs/design/comic-archives.md, "Readers").
package protocol ArchiveReader: Sendable {
    var archive: BytePath { get }

    /// The pages in reading order. Fast: nothing is inflated, and sizes are the headers' claims.
    ///
    /// - Throws: `ComicError.archive` if there are none; `Fault` if this machine cannot read the format.
    func listEntries() async throws -> [ArchiveEntry]

    /// Writes one page's bytes to a new file in `folder` and returns it: always a copy, never the comic's own file.
    func extractEntry(_ entry: ArchiveEntry, into folder: BytePath) async throws -> URL

    /// One page, as from `extractEntry`, without listing first.
    ///
    /// - Parameter index: from 0.
    /// - Returns: the number of pages; the page is nil if the index is out of range.
    func page(_ index: Int, into folder: BytePath) async throws -> (count: Int, page: (ArchiveEntry, URL)?)
}

extension ArchiveReader {
    package func page(_ index: Int, into folder: BytePath) async throws -> (count: Int, page: (ArchiveEntry, URL)?) {
        let entries = try await listEntries()
        guard entries.indices.contains(index) else { return (entries.count, nil) }
        return (entries.count, (entries[index], try await extractEntry(entries[index], into: folder)))
    }

    /// A unique name in the folder: an entry may be extracted twice concurrently.
    func newFile(for entry: ArchiveEntry, in folder: BytePath) -> BytePath {
        folder.appending("\(entry.id)-\(randomHex(4))")
    }
}

/// Chooses a reader by a file's content, then by its name.
package struct ArchiveReaderFactory: Sendable {
    private let worker: ArchiveWorker
    private let pool = BlockingPool("comics")

    package init(worker: ArchiveWorker) { self.worker = worker }

    /// - Throws: `ComicError`: `.archive(.unsupportedFormat)` names the format in upper case.
    package func reader(for path: BytePath) async throws -> any ArchiveReader {
        let type = try await pool.run {
            guard let status = try FileStatus.of(path) else {
                throw ComicError.fileSystem(.fileNotFound(path))
            }
            if status.kind == .directory { return ComicFileType.folder }
            let head = try Descriptor(path).read(at: 0, count: ComicFileType.headLength)
            let type = ComicFileType.detect(head: head, name: path.name, isDirectory: false)
            return type == .unknown && Compression.detect(head) != nil ? ComicFileType(.tar, asComic: false) : type
        }
        switch type.family {
        case .archive(.pdf): return PdfReader(archive: path, worker: worker)
        case .archive: return WorkerArchiveReader(archive: path, worker: worker)
        case .folder: return FolderReader(archive: path, pool: pool)
        case .image: return SingleImageReader(archive: path, pool: pool)
        case .ace, .unknown:
            throw ComicError.archive(.unsupportedFormat(type.rawValue.uppercased()))
        }
    }
}
