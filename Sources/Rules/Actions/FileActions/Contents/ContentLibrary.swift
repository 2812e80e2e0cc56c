import Platform
import Sandbox

/// Looks into files and remembers, by content, what was found: each content is read at most once for each aspect, as long as
/// it is remembered.
package final class ContentLibrary: Sendable {
    private let cache: ReportCache
    private let program: BytePath?

    /// - Parameter program: the worker's executable; nil looks for it (``ContentWorker/init(program:patience:)``) until it
    ///   is found, so that one which is installed later serves.
    package init(program: BytePath? = nil, cache: ReportCache = ReportCache()) {
        (self.program, self.cache) = (program, cache)
    }

    /// What is remembered of a content; nil where that is nothing.
    package func known(_ aspect: ContentAspect, mime: String, hash: ContentHash?) -> ContentReport? {
        hash.flatMap { cache.report(ReportCache.Key(hash: $0, aspect: aspect, mime: mime)) }
    }

    /// Looks into an open file, unless this content is remembered. Blocks.
    ///
    /// - Parameters:
    ///   - mime: what the file is by its first bytes and its name.
    ///   - hash: of its content; nil: nothing is remembered.
    ///   - check: whether it may go on, asked about once a second; what it throws ends the process.
    ///   - used: is told the processor's seconds that each process has used.
    /// - Throws: `Fault` where the machine is at fault; that is not remembered.
    package func look(
        _ aspect: ContentAspect, in file: Descriptor, mime: String, hash: ContentHash?,
        check: @escaping @Sendable () throws -> Void = {}, used: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws -> ContentReport {
        if let known = known(aspect, mime: mime, hash: hash) { return known }
        var worker = try ContentWorker(program: program)
        (worker.check, worker.used) = (check, used)
        guard let hash else { return try worker.look(aspect, in: file, mime: mime) }
        let key = ReportCache.Key(hash: hash, aspect: aspect, mime: mime)
        let report: ContentReport
        if aspect == .language {
            let document = try look(.document, in: file, mime: mime, hash: hash, check: check, used: used)
            report = try worker.language(of: document, file.path)
        } else {
            report = try worker.look(aspect, in: file, mime: mime)
        }
        cache.keep(report, key)
        return report
    }
}
