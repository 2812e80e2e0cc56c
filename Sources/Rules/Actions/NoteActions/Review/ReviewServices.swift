import FileActions
import Platform
import Rules

/// Dependencies of the review action.
package struct ReviewServices: Sendable {
    let reviews: ReviewTools
    let files: BlockingPool
    let journal: EffectJournal
    /// This machine's name.
    let device: String
    /// For times that people read.
    let timeZone: Zone
    /// For reviews by a program.
    let processes: ProcessServices

    package init(
        reviews: ReviewTools, files: BlockingPool, journal: EffectJournal, device: String, timeZone: Zone,
        processes: ProcessServices
    ) {
        (self.timeZone, self.processes) = (timeZone, processes)
        self.reviews = reviews
        self.files = files
        self.journal = journal
        self.device = device
    }
}
