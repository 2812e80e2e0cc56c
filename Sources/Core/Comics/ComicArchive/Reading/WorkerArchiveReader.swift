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
        let target = newFile(for: entry, in: folder)
        do {
            _ = try await worker.extract(archive, [entry.position: target])
        } catch {
            throw ComicError.archive(.extractionFailed(underlying: error))
        }
        return URL(fileURLWithPath: target.text)
    }
}
