import Foundation
import Platform
import Synchronization

/// A PDF: each page is rendered to a JPEG on demand.
package final class PdfReader: ArchiveReader {
    package let archive: BytePath
    private let worker: ArchiveWorker
    /// The result of the last listing.
    private let known = Mutex<[PdfPage]?>(nil)

    package init(archive: BytePath, worker: ArchiveWorker) {
        self.archive = archive
        self.worker = worker
    }

    package func listEntries() async throws -> [ArchiveEntry] {
        try await pages().indices.map { ArchiveEntry(page: $0) }
    }

    /// - Throws: `Fault` if PDFs cannot be drawn on this machine, else `ComicError`.
    package func extractEntry(_ entry: ArchiveEntry, into folder: BytePath) async throws -> URL {
        let pages = if let known = known.withLock({ $0 }) { known } else { try await pages() }
        guard pages.indices.contains(entry.position) else {
            throw ComicError.reader(.pageLoadFailed(index: entry.index))
        }
        let target = newFile(for: entry, in: folder)
        do {
            try await worker.drawPdf(archive, entry.position, pages[entry.position], to: target)
        } catch let refusal as ComicRefusal {
            let fault = Fault(.refused, "\(entry.path) of \(archive): \(refusal.message)", path: archive)
            throw ComicError.archive(.extractionFailed(underlying: fault))
        }
        return URL(fileURLWithPath: target.text)
    }

    private func pages() async throws -> [PdfPage] {
        do {
            let found = try await worker.pdfPages(archive)
            known.withLock { $0 = found }
            return found
        } catch let refusal as ComicRefusal {
            let error: ArchiveError =
                switch refusal.reason {
                case .encrypted: .passwordProtected
                case .noPages: .emptyArchive
                case .damagedArchive: .corruptedArchive
                default: .extractionFailed(underlying: Fault(.refused, refusal.message, path: archive))
                }
            throw ComicError.archive(error)
        }
    }
}
