import Platform

/// Judges comic archives in the worker (docs/design/comic-archives.md, "Verdicts").
package struct ComicValidator: Sendable {
    let worker: ArchiveWorker

    package init(worker: ArchiveWorker) { self.worker = worker }

    /// A verdict on the archive at `path`; whatever it holds, the agent comes back with one.
    ///
    /// - Parameters:
    ///   - hashes: whether the SHA-256 of each page is wanted, which costs as much again as reading.
    ///   - progress: told after each page; it is called on the thread that reads the worker's answers.
    /// - Throws: `Fault` only for what is not the archive's fault: it cannot be opened, it changed meanwhile
    ///   (`.superseded`), there is no worker.
    package func validate(
        _ path: BytePath, mode: ValidationMode = .strict, hashes: Bool = true,
        progress: (@Sendable (ValidationProgress) -> Void)? = nil
    ) async throws -> Verdict {
        try await worker.validate(path, mode: mode, hashes: hashes, progress: progress)
    }

    /// The same for a file that is open already.
    ///
    /// - Parameter aside: called at most once, when the archive has become one of the slow ones, which wait for each other.
    package func validate(
        _ file: Descriptor, mode: ValidationMode = .strict, hashes: Bool = true, names: EntryNames = .told,
        aside: @escaping @Sendable () -> Void = {}
    ) async throws -> Verdict {
        try await worker.validate(file, mode: mode, hashes: hashes, names: names, aside: aside)
    }
}
