import ComicArchive
import Platform
import Rules

/// What actions on archives act through.
package struct ArchiveServices: Sendable {
    let placing: FileServices
    /// Archives take long, and nothing else is to wait for them.
    let lanes = BlockingPool("archives", threads: 2)
    private let program: BytePath?

    var journal: EffectJournal { placing.journal }
    var trash: TrashCan { placing.trash }

    /// - Parameter program: the caged worker; nil looks for it beside this program when the first archive comes.
    package init(placing: FileServices, program: BytePath? = nil) {
        self.placing = placing
        self.program = program
    }

    /// The worker that an archive is unpacked or packed in.
    ///
    /// - Parameter size: bytes of what it reads.
    /// - Throws: `Fault(.transient)` where there is none now.
    func worker(for size: Int64) throws -> ArchiveWorker {
        do {
            return try ArchiveWorker(program: program, limits: ArchiveWorker.patience(for: size))
        } catch let fault as Fault {
            throw Fault(.transient, "no archive can be unpacked or packed: \(fault.message)", path: fault.path)
        }
    }
}
