import Foundation
import Platform

/// Archives of every format but PDF, including compressed TARs, read in the worker.
package struct WorkerArchiveReader: ArchiveReader {
    package let archive: BytePath
    private let worker: ArchiveWorker

    package init(archive: BytePath, worker: ArchiveWorker) {
        self.archive = archive
        self.worker = worker
    }

    package func listEntries() async throws -> [ArchiveEntry] {
        let pages = try pageHeaders(await worker.list(archive))
        return pages.enumerated().map { ArchiveEntry(header: $1, size: $1.declaredSize, index: $0) }
    }

    package func page(_ index: Int, into folder: BytePath) async throws -> (count: Int, page: (ArchiveEntry, URL)?) {
        let target = folder.appending("page\(index)-\(randomHex(4))")
        let pages = try await worker.page(archive, index, to: target)
        guard pages.indices.contains(index) else { return (pages.count, nil) }
        let entry = ArchiveEntry(header: pages[index], size: pages[index].declaredSize, index: index)
        return (pages.count, (entry, URL(fileURLWithPath: target.text)))
    }

    package func extractEntry(_ entry: ArchiveEntry, into folder: BytePath) async throws -> URL {
        guard let url = try await extractEntries([entry], into: folder)[entry.id] else {
            throw ComicError.reader(.pageLoadFailed(index: entry.index))
        }
        return url
    }

    package func extractEntries(_ entries: [ArchiveEntry], into folder: BytePath) async throws -> [String: URL] {
        let targets = entries.map { ($0, newFile(for: $0, in: folder)) }
        let files = Dictionary(targets.map { ($0.position, $1) }, uniquingKeysWith: { first, _ in first })
        do {
            _ = try await worker.extract(archive, files)
        } catch {
            throw ComicError.archive(.extractionFailed(underlying: error))
        }
        return Dictionary(
            targets.map { ($0.id, URL(fileURLWithPath: $1.text)) }, uniquingKeysWith: { first, _ in first })
    }
}
