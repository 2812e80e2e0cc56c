import ComicArchive
import Platform
import Rules

/// Dependencies of the archive actions.
package struct ArchiveServices: Sendable {
    let placing: FileServices
    /// Archives take long, so they have their own pool.
    let pool = BlockingPool("archives", threads: 2)
    private let program: BytePath?

    var journal: EffectJournal { placing.journal }
    var trash: TrashCan { placing.trash }

    /// - Parameter program: the caged worker; nil looks for it beside this program when the first archive arrives.
    package init(placing: FileServices, program: BytePath? = nil) {
        self.placing = placing
        self.program = program
    }

    /// The worker that packs or unpacks an archive.
    ///
    /// - Parameter size: bytes that it reads.
    /// - Throws: `Fault(.transient)` if the worker is missing for now.
    func worker(for size: Int64) throws -> ArchiveWorker {
        do {
            return try ArchiveWorker(program: program, limits: ArchiveWorker.limits(for: size))
        } catch let fault as Fault {
            throw Fault(.transient, "no archive can be unpacked or packed: \(fault.message)", path: fault.path)
        }
    }
}
