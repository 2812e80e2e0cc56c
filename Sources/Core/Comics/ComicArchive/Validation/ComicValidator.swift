import Platform

/// Judges comic archives in the worker (docs/design/comic-archives.md, "Verdicts").
package struct ComicValidator: Sendable {
    let worker: ArchiveWorker

    package init(worker: ArchiveWorker) { self.worker = worker }

    /// A verdict on the archive at `path`; the agent survives any content.
    ///
    /// - Parameters:
    ///   - hashes: whether to compute the SHA-256 of each page, which costs as much again as reading.
    ///   - progress: called after each page, on the thread that reads the worker's answers.
    /// - Throws: `Fault` only for problems other than the archive's: it cannot be opened, it changed in the meantime
    ///   (`.superseded`), there is no worker.
    package func validate(
        _ path: BytePath, mode: ValidationMode = .strict, hashes: Bool = true,
        progress: (@Sendable (ValidationProgress) -> Void)? = nil
    ) async throws -> Verdict {
        try await worker.validate(path, mode: mode, hashes: hashes, progress: progress)
    }

    /// The same for an open file.
    ///
    /// - Parameter aside: called at most once, when the archive has become one of the slow ones, which run one at a
    ///   time.
    package func validate(
        _ file: Descriptor, mode: ValidationMode = .strict, hashes: Bool = true, names: EntryNames = .told,
        aside: @escaping @Sendable () -> Void = {}
    ) async throws -> Verdict {
        try await worker.validate(file, mode: mode, hashes: hashes, names: names, aside: aside)
    }
}
