import OwnFiles
import Platform

/// How thoroughly pages are examined.
package enum PageExamination: String, Sendable, Codable, CaseIterable {
    /// Their bytes match their checksums and begin like a picture.
    case headers
    /// All their pixels are decoded as well.
    case decode
}

extension ComicValidator {
    /// Decodes the pages of an accepted comic, in the cage used for thumbnails. A page that shows nothing is damaged; a
    /// page that shows in part is accepted and named. The pages of a PDF are drawn in any case.
    ///
    /// - Parameters:
    ///   - file: the one of the verdict.
    ///   - aside: called at most once, when the archive has become one of the slow ones, which run one at a time.
    /// - Throws: `Fault` if the file has changed, or libvips, which decodes, is not installed: the message says what to
    ///   install.
    package func decodingPages(
        of file: Descriptor, _ verdict: Verdict, mode: ValidationMode, aside: @escaping @Sendable () -> Void = {}
    ) async throws -> Verdict {
        guard case .accepted(let report) = verdict, report.format != .pdf else { return verdict }
        let wanted = report.pages.filter { $0.damage == nil }.map(\.entry.position)
        let share = worker.limits.quickShare(decoding: wanted.count)
        return try await worker.places.run(share: share, aside: aside) { pass in
            let seen = try ThumbnailWorker(worker.within(pass)).look(opened: file, positions: wanted)
            guard try file.status().fingerprint == report.fingerprint else {
                throw Fault(
                    .superseded, "\(file.path) was changed while it was read; it is judged again", path: file.path)
            }
            return report.judged(by: seen, mode: mode, file.path)
        }
    }

    /// The same for a file that is not open yet.
    package func decodingPages(of path: BytePath, _ verdict: Verdict, mode: ValidationMode) async throws -> Verdict {
        let file = try await worker.pool.run { try Descriptor(path) }
        return try await decodingPages(of: file, verdict, mode: mode)
    }
}

extension ComicReport {
    /// The verdict, updated with the results of decoding its pages.
    ///
    /// - Parameter seen: by the entries' positions.
    func judged(by seen: [Int: PageSight], mode: ValidationMode, _ path: BytePath) -> Verdict {
        var report = self
        for index in report.pages.indices {
            let name = report.pages[index].entry.path
            switch seen[report.pages[index].entry.position] {
            case .whole?, nil: break
            case .part(let why)?: report.damage.append("the page \(name) shows only in part: \(why)")
            case .nothing(let why)?:
                let text = "the page \(name) is damaged and shows nothing: \(why)"
                if mode == .strict {
                    let advice = "fetch the file again, or import it leniently"
                    return .refused(reason: .damagedPage, message: "\(path): \(text); \(advice)")
                }
                report.damage.append(text)
                report.pages[index].damage = why
            }
        }
        guard report.pages.contains(where: { $0.damage == nil }) else {
            return .refused(reason: .noPages, message: "\(path): none of its pages can be decoded")
        }
        return .accepted(report)
    }
}
