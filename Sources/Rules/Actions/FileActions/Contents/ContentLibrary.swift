import Platform
import Rules
import Sandbox

/// Examines files and caches the results by content. Each aspect of a content is read at most once while it is cached.
package final class ContentLibrary: Sendable {
    private let cache: ReportCache
    private let program: BytePath?

    /// - Parameter program: the worker's executable; nil looks for it (``ContentWorker/init(program:timeout:)``) until
    ///   it is found, so that a later installation takes effect.
    package init(program: BytePath? = nil, cache: ReportCache = ReportCache()) {
        (self.program, self.cache) = (program, cache)
    }

    /// The cached report on a content, if any.
    package func known(_ aspect: ContentAspect, mime: String, hash: ContentHash?) -> ContentReport? {
        hash.flatMap { cache.report(ReportCache.Key(hash: $0, aspect: aspect, mime: mime)) }
    }

    /// Examines an open file unless its content is cached. Blocks.
    ///
    /// - Parameters:
    ///   - mime: the file's type by its first bytes and its name.
    ///   - hash: of its content; nil disables the cache.
    ///   - check: called about once a second; an error that it throws ends the process.
    ///   - used: called with the CPU seconds of each process.
    /// - Throws: `Fault` if the machine is at fault; such a failure is not cached.
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
