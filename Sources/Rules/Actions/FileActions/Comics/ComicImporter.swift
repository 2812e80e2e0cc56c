import ComicArchive
import Platform
import Rules

/// Shared state of comic imports: the worker, looked up until it is found so that an agent without it still starts, and
/// the order of writes to each library.
package actor ComicImporter {
    private let program: BytePath?
    private var worker: ArchiveWorker?
    /// One import per library at a time looks for copies and places its file, so that of two equal comics one finds the
    /// other.
    private nonisolated let shelf = BlockingPool("library", threads: 1, perBulkhead: true)
    nonisolated let placed = PlacedComics()
    nonisolated let read = ReadComics()

    /// - Parameter program: the worker's executable; nil looks for it as `ArchiveWorker` does.
    package init(program: BytePath? = nil) { self.program = program }

    /// Runs `work` when it is the library's turn.
    nonisolated func shelving<R: Sendable>(in library: BytePath, _ work: @Sendable () throws -> R) async throws -> R {
        try await Bulkhead.$current.withValue(Bulkhead("the library \(library)")) { try await shelf.run(work) }
    }

    /// Judges the archive in the worker. A slow one releases its step's permit and continues among the slow archives.
    ///
    /// - Throws: `Fault(.transient)` if there is no worker for now; otherwise as `ComicValidator`.
    func verdict(
        on file: Descriptor, mode: ValidationMode, pages: PageExamination = .headers, names: EntryNames = .told
    ) async throws -> Verdict {
        let validator = ComicValidator(worker: try started())
        let permit = StepPermit.current
        let aside: @Sendable () -> Void = { permit?.release() }
        let verdict = try await validator.validate(
            file, mode: mode, hashes: false, names: names, aside: aside)
        return pages == .decode
            ? try await validator.decodingPages(of: file, verdict, mode: mode, aside: aside) : verdict
    }

    /// - Throws: `Fault(.transient)` if there is no worker for now.
    func started() throws -> ArchiveWorker {
        if let worker { return worker }
        do {
            let found = try ArchiveWorker(program: program)
            worker = found
            return found
        } catch let fault as Fault {
            throw Fault(.transient, "no comic can be examined: \(fault.message)", path: fault.path)
        }
    }
}
