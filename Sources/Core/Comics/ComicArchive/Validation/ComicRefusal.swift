import Sandbox

/// A refused comic: the problem, without the file's name.
struct ComicRefusal: Error {
    let reason: RefusalReason
    let message: String

    init(_ reason: RefusalReason, _ message: String) { (self.reason, self.message) = (reason, message) }

    /// The refusal after a failed run.
    init(_ outcome: WorkerProcess.Outcome, _ structure: ArchiveStructure) {
        (reason, message) = ArchiveJudge.reason(of: outcome, structure)
    }
}
