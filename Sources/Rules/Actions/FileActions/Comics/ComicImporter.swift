import ComicArchive
import Platform
import Rules

/// What importing comics needs: the validator, whose worker is looked for until it is found, so that an agent without that
/// program starts all the same; and the order in which libraries are written.
package actor ComicImporter {
    private let program: BytePath?
    private var worker: ArchiveWorker?
    /// One import at a time looks for copies and puts its file down, so that of two equal comics one finds the other.
    private nonisolated let shelf = BlockingPool("library", threads: 1, perBulkhead: true)
    nonisolated let placed = PlacedComics()
    nonisolated let read = ReadComics()

    /// - Parameter program: the worker's executable; nil looks for it as `ArchiveWorker` does.
    package init(program: BytePath? = nil) { self.program = program }

    /// Runs `work` in a library's turn.
    nonisolated func shelving<R: Sendable>(in library: BytePath, _ work: @Sendable () throws -> R) async throws -> R {
        try await Bulkhead.$current.withValue(Bulkhead("the library \(library)")) { try await shelf.run(work) }
    }

    /// Judges the archive in the worker. One that takes long gives up its step's permit, and goes on among the
    /// slow ones.
    ///
    /// - Throws: `Fault(.transient)` where there is no worker now; else as `ComicValidator`.
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

    /// - Throws: `Fault(.transient)` where there is none now.
    func started() throws -> ArchiveWorker {
        if let worker { return worker }
        do {
            let found = try ArchiveWorker(program: program)
            worker = found
            return found
        } catch let fault as Fault {
            throw Fault(.transient, "no comic can be looked into: \(fault.message)", path: fault.path)
        }
    }
}
