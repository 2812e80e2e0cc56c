import Sandbox

/// A comic that is not taken: what is wrong with it, without its name.
struct ComicRefusal: Error {
    let reason: RefusalReason
    let message: String

    init(_ reason: RefusalReason, _ message: String) { (self.reason, self.message) = (reason, message) }

    /// What a run that did not end well says of it.
    init(_ outcome: WorkerProcess.Outcome, _ structure: ArchiveStructure) {
        (reason, message) = ArchiveJudge.reason(of: outcome, structure)
    }
}
