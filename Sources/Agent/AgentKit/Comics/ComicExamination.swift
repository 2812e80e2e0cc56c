import ComicArchive
import Glibc
import Platform

/// `steward doctor`, the part about what comics need besides the unpacking program.
package struct ComicExamination: Sendable {
    package init() {}

    /// Has a thumbnail made, and looks for the programs that draw PDFs.
    package func findings() async -> [Examination.Finding] { [await thumbnails(), documents()] }

    private func thumbnails() async -> Examination.Finding {
        do {
            try await ThumbnailWorker(ArchiveWorker()).check()
            return Examination.Finding(
                subject: "thumbnails", isWell: true, message: "made by libvips, locked down", remedy: nil)
        } catch {
            return Examination.Finding(
                subject: "thumbnails", isWell: false, message: explain(error),
                remedy: "apt install libvips42; all else works without it")
        }
    }

    private func documents() -> Examination.Finding {
        let missing = ["pdfinfo", "pdftoppm"].filter { program in
            !["/usr/bin", "/usr/local/bin"].contains { access("\($0)/\(program)", X_OK) == 0 }
        }
        guard !missing.isEmpty else {
            return Examination.Finding(
                subject: "PDF", isWell: true, message: "poppler's tools are installed", remedy: nil)
        }
        return Examination.Finding(
            subject: "PDF", isWell: false, message: "\(missing.joined(separator: " and ")) cannot be found",
            remedy: "apt install poppler-utils; PDF comics are refused without it, all others are read")
    }
}
