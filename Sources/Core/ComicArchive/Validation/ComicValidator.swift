import Platform

/// Judges comic archives in the worker (seed 004, section 15).
package struct ComicValidator: Sendable {
    private let worker: ArchiveWorker

    package init(worker: ArchiveWorker) { self.worker = worker }

    /// A verdict on the archive at `path`; whatever it holds, the agent comes back with one.
    ///
    /// - Parameter hashes: whether the SHA-256 of each page is wanted, which costs as much again as reading.
    /// - Throws: `Fault` only for what is not the archive's fault: it cannot be opened, it changed meanwhile
    ///   (`.superseded`), there is no worker.
    package func validate(_ path: BytePath, mode: ValidationMode = .strict, hashes: Bool = true) async throws -> Verdict
    {
        try await worker.validate(path, mode: mode, hashes: hashes)
    }
}
