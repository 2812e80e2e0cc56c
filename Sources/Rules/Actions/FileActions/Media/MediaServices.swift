import ComicArchive
import Platform
import Rules

/// What actions on sound and pictures act through.
package struct MediaServices: Sendable {
    let placing: FileServices
    /// Reading and writing a film's worth of bytes takes long, and nothing else is to wait for it.
    let lanes = BlockingPool("media", threads: 2)
    private let program: BytePath?
    private let unpacker: BytePath?

    var journal: EffectJournal { placing.journal }
    var trash: TrashCan { placing.trash }

    /// - Parameters:
    ///   - program: `steward-worker`; nil finds it when it is needed.
    ///   - unpacker: `steward-worker`, the same.
    package init(placing: FileServices, program: BytePath? = nil, unpacker: BytePath? = nil) {
        self.placing = placing
        self.program = program
        self.unpacker = unpacker
    }

    /// What pictures are made by.
    ///
    /// - Throws: `Fault(.transient)` where there is none now.
    func painter() throws -> ThumbnailWorker {
        do {
            return ThumbnailWorker(try ArchiveWorker(program: unpacker))
        } catch let fault as Fault {
            throw Fault(.transient, "no picture can be made: \(fault.message)", path: fault.path)
        }
    }

    /// What reads and sets tags.
    func worker() throws -> ContentWorker { try ContentWorker(program: program) }
}
