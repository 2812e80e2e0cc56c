import ComicArchive
import Platform

/// `steward doctor`, the part about comics: the unpacking program and its tools.
package struct ComicExamination: Sendable {
    package init() {}

    /// Checks that the cage holds by having the worker break one of its rules, makes a thumbnail, starts the program
    /// that reads PDFs, and looks for the one that unpacks solid RAR archives.
    package func findings() async -> [Examination.Finding] {
        [await archives(), await thumbnails(), await documents(), solidArchives()]
    }

    private func archives() async -> Examination.Finding {
        do {
            let worker = try ArchiveWorker()
            let end = try await worker.probe("open")
            guard end.hasPrefix("killed") else {
                return Examination.Finding(
                    "comics", "\(worker.program) is not locked down here: a forbidden call ended as `\(end)`",
                    remedy:
                        "no comic is imported like this; the kernel must support seccomp filters (CONFIG_SECCOMP_FILTER), and "
                        + "nothing must deny them to the agent")
            }
            return Examination.Finding("comics", "unpacked by \(worker.program), locked down")
        } catch {
            return Examination.Finding(
                "comics", explain(error),
                remedy: "comics wait until it is installed; it comes with steward, in libexec/steward")
        }
    }

    private func thumbnails() async -> Examination.Finding {
        do {
            try await ThumbnailWorker(ArchiveWorker()).check()
            return Examination.Finding("thumbnails", "made by libvips, locked down")
        } catch {
            return Examination.Finding(
                "thumbnails", explain(error),
                remedy: "apt install libvips42; everything else works without it")
        }
    }

    private func documents() async -> Examination.Finding {
        do {
            try await ArchiveWorker().checkPdf()
            return Examination.Finding("PDF", "drawn by poppler's tools, locked down")
        } catch {
            return Examination.Finding(
                "PDF", explain(error), remedy: "fix that; PDF comics are refused until then, all others are read")
        }
    }

    private func solidArchives() -> Examination.Finding {
        let isThere = ArchiveWorker.unpacksSolidRar
        return Examination.Finding(
            "solid RAR", isThere ? "those of RAR 4 are unpacked by unar, locked down" : "unar cannot be found",
            remedy: isThere ? nil : "apt install unar; without it solid RAR 4 comics are refused, all others are read")
    }
}
