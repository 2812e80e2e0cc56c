import Foundation
import Platform

/// ZIP, RAR 4 and 5, 7z and TAR, read in the worker.
package struct WorkerArchiveReader: ArchiveReader {
    package let archive: BytePath
    private let worker: ArchiveWorker

    package init(archive: BytePath, worker: ArchiveWorker) {
        self.archive = archive
        self.worker = worker
    }

    package func listEntries() async throws -> [ArchiveEntry] {
        var seen: Set<[UInt8]> = []
        let pages = try await worker.list(archive).filter { header in
            switch EntryRole(of: header) {
            case .refused: throw InkyPanelsError.archive(.corruptedArchive)
            case .page where header.isEncrypted: throw InkyPanelsError.archive(.passwordProtected)
            case .page:
                return header.declaredSize <= ArchiveLimits.maxUncompressedEntrySize
                    && seen.insert(header.path).inserted
            case .metadata, .skipped: return false
            }
        }
        guard !pages.isEmpty else { throw InkyPanelsError.archive(.emptyArchive) }
        return PageOrder.sorted(pages) { $0.path }.enumerated().map {
            ArchiveEntry(header: $1, size: $1.declaredSize, index: $0)
        }
    }

    package func extractEntry(_ entry: ArchiveEntry, into folder: BytePath) async throws -> URL {
        guard let url = try await extractEntries([entry], into: folder)[entry.id] else {
            throw InkyPanelsError.reader(.pageLoadFailed(index: entry.index))
        }
        return url
    }

    package func extractEntries(_ entries: [ArchiveEntry], into folder: BytePath) async throws -> [String: URL] {
        let targets = entries.map { ($0, newFile(for: $0, in: folder)) }
        let files = Dictionary(targets.map { ($0.position, $1) }, uniquingKeysWith: { first, _ in first })
        do {
            _ = try await worker.extract(archive, files)
        } catch {
            throw InkyPanelsError.archive(.extractionFailed(underlying: error))
        }
        return Dictionary(
            targets.map { ($0.id, URL(fileURLWithPath: $1.text)) }, uniquingKeysWith: { first, _ in first })
    }
}
