import ComicArchive
import Platform
import Rules

/// Dependencies of the media actions.
package struct MediaServices: Sendable {
    let placing: FileServices
    /// Reading and writing whole films takes long, so they have their own pool.
    let pool = BlockingPool("media", threads: 2)
    private let program: BytePath?
    private let unpacker: BytePath?

    var journal: EffectJournal { placing.journal }
    var trash: TrashCan { placing.trash }

    /// - Parameters:
    ///   - program: `steward-worker`; nil looks for it when it is needed.
    ///   - unpacker: likewise.
    package init(placing: FileServices, program: BytePath? = nil, unpacker: BytePath? = nil) {
        self.placing = placing
        self.program = program
        self.unpacker = unpacker
    }

    /// The worker that converts pictures.
    ///
    /// - Throws: `Fault(.transient)` if the worker is missing for now.
    func painter() throws -> ThumbnailWorker {
        do {
            return ThumbnailWorker(try ArchiveWorker(program: unpacker))
        } catch let fault as Fault {
            throw Fault(.transient, "no picture can be made: \(fault.message)", path: fault.path)
        }
    }

    /// The worker that reads and sets tags.
    func worker() throws -> ContentWorker { try ContentWorker(program: program) }
}
